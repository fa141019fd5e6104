"""The host's configuration keeps all that is in it."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.cli_sessions import run

from abridged.hermes.install import InstallError, configured, plan

SHAPES = {
    "nothing": ("", "context:\n  engine: abridged\nplugins:\n  enabled:\n    - abridged\n"),
    "no end of line": ("a: 1", "a: 1\ncontext:\n  engine: abridged\nplugins:\n  enabled:\n    - abridged\n"),
    "blocks with comments": (
        "# mine\ncontext:\n  # which\n  engine: compressor  # the usual\n  more: 1\nplugins:\n  # some\n  enabled:\n"
        "    # first\n    - other  # good\nlast: 1\n",
        "# mine\ncontext:\n  # which\n  engine: abridged  # the usual\n  more: 1\nplugins:\n  # some\n  enabled:\n"
        "    # first\n    - abridged\n    - other  # good\nlast: 1\n",
    ),
    "flow": (
        "context: {engine: 'lcm', x: 1}\nplugins: {enabled: [a, b], x: 2}\n",
        "context: {engine: abridged, x: 1}\nplugins: {enabled: [abridged, a, b], x: 2}\n",
    ),
    "sections without ours": (
        "plugins:\n  disabled: []\ncontext:\n    x: 1\n",
        "plugins:\n  enabled: [abridged]\n  disabled: []\ncontext:\n    engine: abridged\n    x: 1\n",
    ),
    "empty sections": (
        "context:\nplugins: null # none\n",
        "context:\n  engine: abridged\nplugins:\n  enabled: [abridged] # none\n",
    ),
    "empty values": (
        "context:\n  engine:\nplugins:\n  enabled:\n",
        "context:\n  engine: abridged\nplugins:\n  enabled: [abridged]\n",
    ),
    "empty flow": (
        "context: {}\nplugins: {enabled: []}\n",
        "context: {engine: abridged}\nplugins: {enabled: [abridged]}\n",
    ),
    "a list that is not indented": (
        "plugins:\n  enabled:\n  - a\ncontext: {engine: x}\n",
        "plugins:\n  enabled:\n  - abridged\n  - a\ncontext: {engine: abridged}\n",
    ),
    "windows": (
        "a: 1\r\nplugins:\r\n  enabled:\r\n    - b\r\n",
        "a: 1\r\nplugins:\r\n  enabled:\r\n    - abridged\r\n    - b\r\ncontext:\r\n  engine: abridged\r\n",
    ),
}


@pytest.mark.parametrize(("given", "wanted"), SHAPES.values(), ids=SHAPES)
def test_only_what_has_to_be_is_changed(given: str, wanted: str) -> None:
    assert configured(given, "abridged") == wanted
    assert configured(wanted, "abridged") == wanted, "a second time changes nothing"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "is no YAML"),
        ("- a", "no mapping"),
        ("{context: {engine: a}}", "by hand"),
        ("context: [1]\n", "by hand"),
        ("plugins: {disabled: [abridged]}", "take it out there"),
        ("x: &a {engine: b}\ncontext: *a\n", "by hand"),
    ],
)
def test_what_cannot_be_changed_without_loss_is_left_alone(text: str, says: str) -> None:
    with pytest.raises(InstallError, match=says):
        configured(text, "abridged")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
LISTS = st.none() | st.lists(st.text(max_size=4), max_size=3)
PLUGINS = st.none() | st.fixed_dictionaries({}, optional={"enabled": LISTS, "x": VALUES})
CONTEXT = st.none() | st.dictionaries(st.text(max_size=4), VALUES, max_size=3)
CONFIGS = st.fixed_dictionaries({"model": VALUES}, optional={"context": CONTEXT, "plugins": PLUGINS, "z": VALUES})


@given(CONFIGS, st.booleans(), st.integers(2, 6))
def test_nothing_is_lost_of_any_configuration(config: dict[str, object], flow: bool, indent: int) -> None:
    text = yaml.safe_dump(config, default_flow_style=None if flow else False, indent=indent, allow_unicode=True)
    config = yaml.safe_load(text)  # not every text comes back from YAML as it went in
    try:
        changed = yaml.safe_load(configured(text, "rag"))
    except InstallError:
        return
    for name, section in config.items():
        if name not in ("context", "plugins"):
            assert changed[name] == section
        else:
            ours = "engine" if name == "context" else "enabled"
            assert {**(section or {}), ours: 0} == {**changed[name], ours: 0}  # type: ignore[dict-item]
    assert changed["context"]["engine"] == "rag"
    assert "abridged" in changed["plugins"]["enabled"]


def test_a_plan_needs_the_hosts_folder(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="--home"):
        plan(tmp_path / "none", "compressor")
    assert [change.is_needed for change in plan(tmp_path, "compressor")] == [True] * 3


def test_the_command_says_what_it_would_do_and_does_it(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("# mine\ncontext: {engine: compressor}\n")
    arguments = ("hermes", "install", "--engine", "rag", "--home", tmp_path)
    nobody = {"PATH": "/nowhere", "ABRIDGED_HERMES_PYTHON": ""}
    assert b"would change" in run(*arguments, "--dry-run", **nobody).stdout
    assert [file.name for file in tmp_path.iterdir()] == ["config.yaml"]
    done = run(*arguments, **nobody)
    assert b"was not found" in done.stdout, done.stderr
    assert config.read_text().startswith("# mine\ncontext: {engine: rag}\n")
    (backup,) = tmp_path.glob("config.yaml.*.bak")
    assert backup.read_text() == "# mine\ncontext: {engine: compressor}\n"
    assert run(*arguments, **nobody).stdout.count(b"unchanged") == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("install", "--engine", "none"), "there are: compressor"),
        (("install", "--home", "/nowhere"), "--home"),
        (("install", "--python", "/nowhere/python"), "no such interpreter"),
        (("status",), "ABRIDGED_HERMES_PYTHON"),
    ],
)
def test_errors_say_what_to_do(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    nobody = {"PATH": "/nowhere", "ABRIDGED_HERMES_PYTHON": "", "HERMES_HOME": str(tmp_path)}
    done = run("hermes", *arguments, **nobody)
    assert done.returncode == 2
    assert says in done.stderr.decode()
