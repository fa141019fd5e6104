"""What the README shows runs, and its table is the settings'."""

import re
from dataclasses import fields
from pathlib import Path

from abridged.budget import MEANINGS, Settings, SettingsArguments
from abridged.digests import DIGESTS

README = (Path(__file__).resolve().parent.parent / "README.md").read_text()


def test_the_examples_run():
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert DIGESTS.digest("deploy", {"service": "web"}, "x\n" * 3) == "[deploy] deployed web -> 3 lines"


def test_the_table_of_parameters():
    # spec: C
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (.+) \|$", README, re.MULTILINE)
    listed = {name: default for name, default, _ in rows}
    assert {name: says for name, _, says in rows} == MEANINGS
    defaults = {entry.name: entry.default for entry in fields(Settings)}
    assert listed.keys() == defaults.keys() == SettingsArguments.__annotations__.keys()
    for name, value in defaults.items():
        assert listed[name] == ("None" if value is None else listed[name])
        assert value is None or float(listed[name]) == value
