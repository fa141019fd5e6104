"""Every setting from every place, and every mistake with a word on what to do (spec: C, E5)."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from abridged.budget import Settings
from abridged.config import find, known_keys, load, template
from abridged.errors import ConfigError


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "abridged"


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")
    return folder / "config.yaml"


def test_without_a_file_all_is_default(tmp_path: Path):
    config = load(folder=tmp_path, environment={})
    assert config.file is None
    assert config.settings() == Settings()
    assert {value.origin for value in config.values.values()} == {"default"}
    assert set(known_keys()) >= {f"compression.{entry.name}" for entry in fields(Settings)}


def test_the_project_comes_before_the_user_and_the_environment_before_both(tmp_path: Path, own_folder: Path):
    written(own_folder, "compression:\n  threshold_percent: 0.3\n")
    assert load(folder=tmp_path, environment={}).get("compression.threshold_percent") == 0.3
    mine = written(tmp_path / ".abridged", "compression:\n  threshold_percent: 0.4\n  protect_last_n: 9\n")
    config = load(folder=tmp_path, environment={"ABRIDGED_COMPRESSION__THRESHOLD_PERCENT": "0.6", "ABRIDGED_X": "1"})
    assert config.settings().threshold_percent == 0.6
    assert config.values["compression.threshold_percent"].origin == "ABRIDGED_COMPRESSION__THRESHOLD_PERCENT"
    assert config.values["compression.protect_last_n"].origin == str(mine)
    other = written(tmp_path / "other", "context:\n  engine: lcm\n")
    assert load(other, environment={}).get("context.engine") == "lcm"


def test_a_model_may_differ(tmp_path: Path):
    file = written(
        tmp_path, "compression: {threshold_percent: 0.5}\nmodels:\n  tiny:\n    model: {context_length: 8192}\n"
        "    compression: {threshold_percent: 0.7}\n",
    )  # fmt: skip
    config = load(file, environment={})
    assert config.get("model.context_length") == 128_000
    assert config.get("model.context_length", "tiny") == 8_192
    assert config.settings("tiny").threshold_percent == 0.7
    assert config.settings("other").threshold_percent == 0.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("compresion:\n  threshold_percent: 0.3\n", "compresion"),
        ("compression:\n  treshold_percent: 0.3\n", "did you mean compression.threshold_percent"),
        ("compression:\n  threshold_percent: high\n", "a number"),
        ("compression:\n  protect_last_n: 2.5\n", "a whole number"),
        ("compression:\n  threshold_percent: 7\n", "from 0.01 to 1.0"),
        ("compression:\n  enabled: 1\n", "true or false"),
        ("context:\n  engine: [a]\n", "a text"),
        ("compression: 5\n", "a mapping"),
        ("- a\n- b\n", "a mapping of sections"),
        ("compression:\n  threshold_percent: 0.3\n bad\n", "line 3"),
        ("models: 3\n", "a mapping of model names"),
        ("models:\n  m:\n    colour: red\n", "models.m"),
        ("models:\n  m:\n    compression: {threshold_percent: 9}\n", "from 0.01 to 1.0"),
    ],
)
def test_a_mistake_says_what_and_where(text: str, said: str, tmp_path: Path):
    file = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(file, environment={})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "environment",
    [{"ABRIDGED_COMPRESSION__PROTECT_LAST_N": "many"}, {"ABRIDGED_COMPRESSION__NOTHING": "1"}],
)
def test_the_environment_is_checked_as_well(environment: dict[str, str], tmp_path: Path):
    with pytest.raises(ConfigError) as caught:
        load(folder=tmp_path, environment=environment)
    assert next(iter(environment)) in str(caught.value)


def test_every_key_by_the_environment(tmp_path: Path):
    values: dict[type, Any] = {str: "text", int: "7", float: "0.5", bool: "false", type(None): "none"}
    for key, (types, _, _) in known_keys().items():
        if key.startswith("compression.") and key != "compression.enabled":
            continue
        name = "ABRIDGED_" + key.upper().replace(".", "__")
        config = load(folder=tmp_path, environment={name: values[types[0]]})
        assert config.values[key].origin == name


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path):
    with pytest.raises(ConfigError, match="a file that is there"):
        find(tmp_path / "nowhere.yaml")


def test_the_template_is_a_file_of_defaults(tmp_path: Path):
    text = template()
    assert load(written(tmp_path, text), environment={}).settings() == Settings()
    lively = "\n".join(line.replace("  # ", "  ", 1) if line.startswith("  # ") else line for line in text.split("\n"))
    config = load(written(tmp_path, lively), environment={})
    assert config.settings() == Settings()
    assert all(value.origin != "default" for value in config.values.values())
