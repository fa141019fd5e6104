"""Every setting from every place, and every mistake with a word on what to do (spec: C, E5)."""

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from abridged.budget import Settings
from abridged.config import known_keys, load, template
from abridged.errors import ArchiveError, ConfigError, SettingsError


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
        ("compresion:\n  threshold_percent: 0.3\n", "config.yaml: compresion: there is no such key"),
        ("compresion: {}\n", "did you mean compression?"),
        ("modles: {}\n", "did you mean models?"),
        ("compression:\n  treshold_percent: 0.3\n", "did you mean compression.threshold_percent?"),
        ("threshold_percent: 0.3\n", "did you mean compression.threshold_percent?"),
        ("compression: 5\n", "compression: 5 is not possible; it takes a mapping"),
        ("compression: [threshold_percent]\n", "it takes a mapping"),
        ("- a\n- b\n", "a mapping of sections is wanted"),
        ("just words\n", "a mapping of sections is wanted"),
        ("compression:\n  threshold_percent: 0.3\n bad\n", "config.yaml, line 3: no YAML: "),
        ("a: b: c\n", "config.yaml, line 1: no YAML: "),
        ("\tcompression: {}\n", "line 1: no YAML: "),
        ("compression: !!python/object/apply:os.getcwd []\n", "no YAML: "),
        ("context: {engine: &a [*a]}\n", "context.engine: "),
        ("model:\n  name: a\n  name: b\n", "config.yaml, line 3: name: it stands there a second time"),
        ("model: {}\nmodel: {}\n", "config.yaml, line 2: model: it stands there a second time"),
        ("models: 3\n", "a mapping of model names to settings is wanted"),
        ("models:\n  m:\n    colour: red\n", "config.yaml, models.m: colour: there is no such key"),
        ("models:\n  m:\n    model: {contxt_length: 1}\n", "did you mean model.context_length?"),
        (
            "models:\n  m:\n    compression: {threshold_percent: 9}\n",
            "models.m: compression.threshold_percent: 9 is not",
        ),
        ("model: {name: 4}\n", "model.name: 4 is not possible; it takes a text (put it in quotes) or null"),
        ("model: {name: no}\n", "model.name: False is not possible; it takes a text (put it in quotes)"),
        ("model: {context_length: 0o17x}\n", "'0o17x' is not possible; it takes a whole number"),
        ("compression: {threshold_percent: .nan}\n", "nan is not possible; it takes a number"),
        ("compression: {threshold_percent: .inf}\n", "inf is not possible; it takes a number"),
        ("model: {context_length: 1000, max_output_tokens: 1000}\n", "model.max_output_tokens: 1000 is not possible"),
        ("compression: {content_head: 6000}\n", "content_head + content_tail at most content_max"),
        ("compression: {content_max: 100}\n", "compression.content_max: 100 is not possible; it takes content_head + "),
        (
            "compression: {arguments_max: 100}\n",
            "compression.arguments_max: 100 is not possible; it takes argum",
        ),
        ("chat: {yes: true}\n", "chat.True: there is no such key"),
        ("? [a, b]\n: c\n", "line 1: a key has to be a word"),
        ("? {a: 1}\n: c\n", "line 1: a key has to be a word"),
        ("model: !!map [a]\n", "line 1: no YAML: "),
        ("model: {context_length: !!float x}\n", "no YAML: "),
        ("model: {context_length: 1:30}\n", "'1:30' is not possible; it takes a whole number"),
        ("model: {context_length: 2026-12-01}\n", "'2026-12-01' is not possible; it takes a whole number"),
        (f"model: {{context_length: {'1' * 400}}}\n", "it takes a whole number up to 1,000,000,000,000"),
        (f"model: {{context_length: {'1' * 5000}}}\n", "1111' is not possible; it takes a whole number"),
        (f"model: {{context_length: 0x{'f' * 9000}}}\n", "is not possible; it takes a whole number up to"),
        (f"compression: {{threshold_percent: {'1' * 400}}}\n", "it takes a number up to 1,000,000,000,000"),
        (f"compression: {{threshold_percent: -{'1' * 400}}}\n", "it takes a number up to 1,000,000,000,000"),
        (f"model: {'[' * 3000}\n", "no YAML: too deep"),
        ("model: {name: " + "x" * 9 + ", name: y}\n", "line 1: name: it stands there a second time"),
        ("models: {m: {model: {context_length: 1, context_length: 2}}}\n", "line 1: context_length: it stands there a"),
        ("models: {m: 3}\n", "models.m: 3 is not possible; it takes a mapping"),
        ("models: {m: {model: {name: x}}}\n", "models.m: model.name: it is the same for all models; put it outside"),
        ("models: {m: {archive: {path: x}}}\n", "models.m: archive.path: it is the same for all models"),
        ("models: {'': {model: {context_length: 5}}}\n", "models: a model without a name"),
        ('"a\\nb\\e[2J": 1\n', "config.yaml: a b�[2J: there is no such key"),
        ("--- {}\n--- {}\n", "line 2: no YAML: "),
        ("model: &a {name: [*a]}\n", "model.name: "),
    ],
)
def test_a_mistake_says_what_and_where(text: str, said: str, tmp_path: Path):
    file = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(file, environment={})
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(file)) + 250


WRONG: dict[type, list[str]] = {
    str: ["[a]", "{a: 1}", "4", "4.5", "true"],
    int: ["[1]", "text", "true", "2.5", "{a: 1}", "2026-12-01"],
    float: ["[1]", "text", "true", "{a: 1}", ".nan"],
    bool: ["[true]", "text", "4", "null"],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param(name, value, id=f"{name}={value}")
        for name, key in known_keys().items()
        for value in WRONG[float if float in key.types else key.types[0]]
    ],
)
def test_every_key_refuses_what_is_of_another_type(name: str, value: str, tmp_path: Path):
    section, _, key = name.partition(".")
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, f"{section}: {{{key}: {value}}}\n"), environment={})
    assert f"config.yaml: {name}: " in str(caught.value)
    assert "is not possible; it takes " in str(caught.value)


@pytest.mark.parametrize(
    "name", [name for name, key in known_keys().items() if {int, float} & set(key.types) and bool not in key.types]
)
@pytest.mark.parametrize("value", ["-1", "-0.5", "-1000000"])
def test_every_number_refuses_what_is_out_of_range(name: str, value: str, tmp_path: Path):
    section, _, key = name.partition(".")
    if value == "-0.5" and float not in known_keys()[name].types:
        value = "-2"
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, f"{section}: {{{key}: {value}}}\n"), environment={})
    assert f"config.yaml: {name}: {value} is not possible; it takes a" in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        load(folder=tmp_path, environment={f"ABRIDGED_{section}__{key}".upper(): value})
    assert str(caught.value).startswith(f"ABRIDGED_{section}__{key}: {name}: ".upper().split(":")[0])


@pytest.mark.parametrize(
    "name", ["threshold_percent", "summary_target_ratio", "tail_ceiling_ratio", "summary_ratio",
             "summary_window_share", "ineffective_percent"],
)  # fmt: skip
def test_a_number_with_an_upper_end_refuses_what_is_above(name: str, tmp_path: Path):
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, f"compression: {{{name}: 500.5}}\n"), environment={})
    assert f"config.yaml: compression.{name}: 500.5 is not possible; it takes a number from " in str(caught.value)
    assert " to " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("compression: {summary_timeout: 1e2}\n", "compression.summary_timeout", 100.0),
        ("model: {context_length: 32_000}\n", "model.context_length", 32_000),
        ("model: {context_length: '32000'}\n", "model.context_length", 32_000),
        ("model: {context_length: 032000}\n", "model.context_length", 32_000),
        ("model: {context_length: 0x1000}\n", "model.context_length", 4_096),
        ("model: {name: 2026-12-01}\n", "model.name", "2026-12-01"),
        ("model: {name: 2026-13-45}\n", "model.name", "2026-13-45"),
        ("compression: {threshold_percent: 1}\n", "compression.threshold_percent", 1),
        ("compression: {enabled: off}\n", "compression.enabled", False),
        ("model: {name: '4'}\n", "model.name", "4"),
        ("model: {name: null}\n", "model.name", None),
        ("model: {name: ~}\n", "model.name", None),
        ("compression:\n", "compression.enabled", True),
        ("", "compression.enabled", True),
        ("\ufeffcompression: {enabled: no}\n", "compression.enabled", False),
        ("archive: {path: 'ü 中.db'}\n", "archive.path", "ü 中.db"),
        ("models: {x: }\n", "compression.enabled", True),
    ],
)
def test_what_yaml_makes_of_it(text: str, key: str, value: Any, tmp_path: Path):
    assert load(written(tmp_path, text), environment={}).get(key) == value


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"ABRIDGED_COMPRESSION__PROTECT_LAST_N": "many"}, "'many' is not possible; it takes a whole number"),
        ({"ABRIDGED_COMPRESSION__NOTHING": "1"}, "there is no such key"),
        ({"ABRIDGED_MODEL__NMAE": "x"}, "did you mean model.name?"),
        ({"ABRIDGED_COMPRESION__ENABLED": "false"}, "did you mean compression.enabled?"),
        ({"ABRIDGED_COMPRESSION_ENABLED": "false"}, "did you mean ABRIDGED_COMPRESSION__ENABLED?"),
        ({"ABRIDGED_COMPRESSION__ENABLED": "perhaps"}, "it takes true or false"),
        ({"ABRIDGED_MODEL__CONTEXT_LENGTH": "1e999"}, "it takes a whole number"),
        ({"ABRIDGED_MODEL__CONTEXT_LENGTH": "a\nb"}, "'a\\nb' is not possible; it takes a whole number"),
        ({"ABRIDGED_COMPRESSION__THRESHOLD_PERCENT": "9"}, "it takes a number from 0.01 to 1.0"),
    ],
)
def test_the_environment_is_checked_as_well(environment: dict[str, str], said: str, tmp_path: Path):
    with pytest.raises(ConfigError) as caught:
        load(folder=tmp_path, environment=environment)
    assert str(caught.value).startswith(next(iter(environment)))
    assert said in str(caught.value)


def test_every_key_by_the_environment(tmp_path: Path):
    for name, key in known_keys().items():
        variable = "ABRIDGED_" + name.upper().replace(".", "__")
        value = "null" if key.default is None else str(key.default)
        config = load(folder=tmp_path, environment={variable: value})
        assert config.values[name].origin == variable


def test_an_option_is_before_all_and_is_called_by_its_own_name(tmp_path: Path):
    text = "model: {context_length: 9000}\nmodels: {tiny: {model: {context_length: 8000}}}\n"
    file = written(tmp_path, text)
    assert load(file, environment={}, options={"model.context_length": None}).get("model.context_length") == 9_000
    config = load(file, environment={"ABRIDGED_MODEL__CONTEXT_LENGTH": "5000"}, options={"model.context_length": 4_000})
    assert config.get("model.context_length") == config.get("model.context_length", "tiny") == 4_000
    with pytest.raises(ConfigError) as caught:
        load(file, environment={}, options={"compression.threshold_percent": 7.0})
    assert not isinstance(caught.value, SettingsError)
    assert caught.value.parameter == "compression.threshold_percent"


def test_a_variable_is_before_all_of_a_file(tmp_path: Path):
    file = written(tmp_path, "models: {tiny: {model: {context_length: 8000}, compression: {protect_last_n: 3}}}\n")
    config = load(file, environment={"ABRIDGED_MODEL__CONTEXT_LENGTH": "5000"})
    assert config.get("model.context_length", "tiny") == 5_000
    assert config.get("compression.protect_last_n", "tiny") == 3


def test_what_a_server_told_of_one_model_is_not_said_of_another(tmp_path: Path):
    file = written(tmp_path, "models: {tiny: {model: {context_length: 8000}}}\n")
    config = load(file, environment={}).told("model.context_length", 32_000, "http://localhost:1")
    assert (config.get("model.context_length"), config.get("model.context_length", "tiny")) == (32_000, 8_000)
    assert config.told("model.context_length", 1, "elsewhere", "tiny") is config


def test_what_is_said_of_a_model_that_is_not_meant_disturbs_nobody(tmp_path: Path):
    file = written(tmp_path, "models: {big: {model: {context_length: 200000, max_output_tokens: 9000}}}\n")
    config = load(file, environment={}, options={"model.context_length": 4_000})
    assert config.budget().context_length == 4_000
    with pytest.raises(ConfigError, match=r"models\.big: model\.max_output_tokens: 9000 is not possible"):
        config.budget("big")
    with pytest.raises(ConfigError, match=r"models\.big: model\.max_output_tokens: 9000 is not possible"):
        load(file, environment={}, options={"model.context_length": 4_000, "model.name": "big"})


@pytest.mark.parametrize(
    ("name", "said"), [("nowhere.yaml", "there is no such file"), ("folder", "Is a directory"),
                       ("latin.yaml", "not UTF-8"), ("utf16.yaml", "not UTF-8")],
)  # fmt: skip
def test_a_file_that_cannot_be_read(name: str, said: str, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.yaml").write_bytes("model: {name: é}\n".encode("latin-1"))
    (tmp_path / "utf16.yaml").write_bytes("model: {name: e}\n".encode("utf-16"))
    with pytest.raises(SettingsError) as caught:
        load(tmp_path / name, environment={})
    assert said in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path):
    file = written(tmp_path, "")
    file.chmod(0)
    with pytest.raises(SettingsError, match="Permission denied"):
        load(file, environment={})


def test_what_lies_in_the_place_of_the_file_is_never_passed_over(tmp_path: Path, own_folder: Path):
    written(own_folder, "compression: {protect_last_n: 9}\n")
    place = tmp_path / ".abridged" / "config.yaml"
    place.mkdir(parents=True)
    with pytest.raises(SettingsError, match="Is a directory"):
        load(folder=tmp_path, environment={})
    place.rmdir()
    place.symlink_to(tmp_path / "gone")
    with pytest.raises(SettingsError, match="No such file"):
        load(folder=tmp_path, environment={})


@pytest.mark.skipif(os.name != "posix", reason="there is no such file elsewhere")
def test_a_file_may_be_no_regular_one(tmp_path: Path):
    assert load(os.devnull, environment={}).settings() == Settings()


def test_plugins_may_lie_in_the_project_whatever_file_is_read(tmp_path: Path, own_folder: Path):
    file = written(tmp_path / "other", "")
    assert load(file, tmp_path, {}).folders == (file.parent, tmp_path / ".abridged", own_folder)
    assert load(None, tmp_path, {}).folders == (tmp_path / ".abridged", own_folder)


def test_a_home_that_nobody_knows_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    config = load(written(tmp_path, "archive: {path: ~nobody-of-that-name/a.db}\n"), environment={})
    with pytest.raises(ArchiveError, match="there is no such home folder"):
        assert config.archive_path
    monkeypatch.setenv("XDG_CONFIG_HOME", "~nobody-of-that-name")
    assert load(folder=tmp_path, environment={}).file is None


def test_a_relative_archive_lies_in_the_projects_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = written(tmp_path / ".abridged", "archive: {path: history.db}\n")
    assert load(file, environment={}).archive_path == tmp_path / "history.db"
    plain = written(tmp_path, "archive: {path: history.db}\n")
    assert load(plain, environment={}).archive_path == tmp_path / "history.db"
    variable = {"ABRIDGED_ARCHIVE__PATH": "here.db"}
    assert load(file, environment=variable).archive_path == Path("here.db")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load(folder=tmp_path / "none", environment={}).archive_path == tmp_path / ".local/share/abridged/archive.db"


def test_the_template_is_a_file_of_defaults(tmp_path: Path):
    text = template()
    assert load(written(tmp_path, text), environment={}).settings() == Settings()
    lively = "\n".join(line.replace("  # ", "  ", 1) if line.startswith("  # ") else line for line in text.split("\n"))
    config = load(written(tmp_path, lively), environment={})
    assert config.settings() == Settings()
    assert all(value.origin != "default" for value in config.values.values())
