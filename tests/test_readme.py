"""What the README shows runs, and its table is the settings'."""

import json
import re
from dataclasses import fields
from pathlib import Path

from abridged import ContextSession
from abridged.budget import MEANINGS, Settings, SettingsArguments
from abridged.digests import DIGESTS
from abridged.plugins import engine_named
from abridged.testing import assistant, user

README = (Path(__file__).resolve().parent.parent / "README.md").read_text()


BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_examples_run():
    assert len(BLOCKS) == 6
    for block in BLOCKS:
        if "(Window)" not in block:  # which goes on with the one before
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


def test_the_engine_that_it_explains_loads_compresses_and_serves_a_tool(tmp_path: Path):
    # spec: E5, E6
    engine, more = [block for block in BLOCKS if "Window" in block]
    folder = tmp_path / "plugins" / "context_engine" / "window"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(f"{engine}\n{more}")
    made = engine_named("window", [tmp_path], context_length=1_000, turns=2)
    session = ContextSession.start("s", engine=made, archive=":memory:")
    messages = [{"role": "system", "content": "Be brief."}]
    for n in range(9):
        messages += [user(f"ask {n}"), assistant(f"answer {n}")]
    session.after_response({"prompt_tokens": 900})
    assert len(session.after_turn(messages)) == 6
    (schema,) = made.get_tool_schemas()
    assert json.loads(made.handle_tool_call(schema["name"], {})) == {"compressions": 1}
    assert "error" in json.loads(made.handle_tool_call("another", {}))
