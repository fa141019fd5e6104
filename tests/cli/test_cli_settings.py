"""`abridged config` and `abridged engines`, as processes of their own."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.cli_sessions import COMMAND, long_session


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "COLUMNS": "100", **variables}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60, env=environment
    )


def test_a_file_to_begin_with(tmp_path: Path):
    assert run(tmp_path, "config", "init").stdout == "wrote .abridged/config.yaml\n"
    again = run(tmp_path, "config", "init")
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    shown = json.loads(run(tmp_path, "config", "show", "--json").stdout)
    assert shown["file"].endswith(".abridged/config.yaml")
    assert shown["settings"]["compression.threshold_percent"] == {"value": 0.5, "origin": "default"}


def test_where_a_value_came_from(tmp_path: Path):
    (tmp_path / ".abridged").mkdir()
    (tmp_path / ".abridged" / "config.yaml").write_text("compression:\n  protect_last_n: 7\n")
    shown = run(tmp_path, "config", "show", ABRIDGED_CONTEXT__ENGINE="short").stdout
    rows = {row.split()[0]: row for row in shown.splitlines() if row.strip()}
    assert "7" in rows["compression.protect_last_n"]
    assert "config.yaml" in rows["compression.protect_last_n"]
    assert "ABRIDGED_CONTEXT__ENGINE" in rows["context.engine"]


def test_every_size_and_why_it_differs_from_what_was_asked(tmp_path: Path):
    """hermes-agent#118984, #117915"""
    (tmp_path / "c.yaml").write_text(
        "model: {context_length: 200000}\ncompression: {threshold_percent: 0.95, threshold_ceiling: 150000}\n"
        "models: {tiny: {model: {context_length: 8192}}}\n"
    )
    shown = json.loads(run(tmp_path, "config", "show", "--config", "c.yaml", "--json").stdout)
    assert (shown["in_force"]["window"], shown["in_force"]["threshold"]) == (200_000, 150_000)
    assert any("threshold_ceiling" in note for note in shown["in_force"]["notes"])
    assert shown["asked"] == {"threshold": 190_000, "summary_least": 2_000, "summary_most": 12_000}
    assert shown["in_force"]["summary_most"] == 10_000
    tiny = run(tmp_path, "config", "show", "--config", "c.yaml", "--model", "tiny")
    rows = {row.split()[0]: row for row in tiny.stdout.splitlines() if row.strip()}
    assert "8,192" in rows["window"]
    assert rows["threshold"].split()[1:3] == ["7,782", "7,782"]
    assert rows["summary_least"].split()[1:3] == ["2,000", "1,945"]
    assert "models.tiny" in rows["model.context_length"]
    assert "note: " in tiny.stdout


def conversation(folder: Path, turns: int = 60) -> str:
    (folder / "talk.json").write_text(json.dumps(long_session(turns)))
    return "talk.json"


def test_compress_and_inspect_follow_the_settings_and_options_go_before_them(tmp_path: Path):
    file = conversation(tmp_path)
    (tmp_path / "c.yaml").write_text("model: {context_length: 9000}\ncompression: {protect_last_n: 4}\n")
    for more, window in ((), 9_000), (("--context-length", "12000"), 12_000):
        arguments = ("--config", "c.yaml", *more)
        done = run(tmp_path, "compress", file, "-o", "out.json", "--json", *arguments)
        report = json.loads(done.stdout)
        assert (report["context_length"], report["compressed"]) == (window, True)
        assert json.loads(run(tmp_path, "inspect", file, "--json", *arguments).stdout)["context_length"] == window


def test_compress_uses_the_engine_that_the_settings_name_or_none(tmp_path: Path):
    file = conversation(tmp_path)
    place = tmp_path / ".abridged" / "plugins" / "context_engine"
    place.mkdir(parents=True)
    example = Path(__file__).resolve().parents[2] / "examples/plugins/context_engine/window"
    (place / "window").symlink_to(example)
    (tmp_path / ".abridged" / "config.yaml").write_text("context: {engine: window}\nmodel: {context_length: 9000}\n")
    report = json.loads(run(tmp_path, "compress", file, "-o", "out.json", "--json").stdout)
    assert (report["engine"], report["compressed"], report["summary_writer"]) == ("window", True, "nobody")
    assert len(json.loads((tmp_path / "out.json").read_text())) < len(long_session(60))
    for code, cause in (("raise OSError('no disk')", "OSError: no disk"), ("x = 1", "registers no engine")):
        broken = place / "broken"
        broken.mkdir(exist_ok=True)
        (broken / "__init__.py").write_text(code)
        done = run(tmp_path, "compress", file, ABRIDGED_CONTEXT__ENGINE="broken")
        assert (done.returncode, done.stdout) == (2, "")
        assert "'broken'" in done.stderr
        assert cause in done.stderr


def test_inspect_says_whose_compression_it_tells_of(tmp_path: Path):
    file = conversation(tmp_path, 3)
    assert "note: the settings" not in run(tmp_path, "inspect", file).stdout
    shown = run(tmp_path, "inspect", file, ABRIDGED_CONTEXT__ENGINE="window").stdout
    assert "note: the settings name the engine window; this is what compressor would do" in shown
    facts = json.loads(run(tmp_path, "inspect", file, "--json", ABRIDGED_CONTEXT__ENGINE="window").stdout)
    assert (facts["engine"], facts["chosen_engine"]) == ("compressor", "window")


def test_what_an_engine_prints_is_no_part_of_the_output(tmp_path: Path):
    file = conversation(tmp_path)
    place = tmp_path / ".abridged" / "plugins" / "context_engine" / "loud"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(
        "from abridged import ContextCompressor\nprint('loaded')\n\n\nclass Loud(ContextCompressor):\n"
        "    name = 'loud'\n\n    def compress(self, messages, **more):\n        print('at work')\n"
        "        return super().compress(messages, **more)\n"
    )
    small = ("--context-length", "9000", "-q")
    done = run(tmp_path, "compress", file, *small, ABRIDGED_CONTEXT__ENGINE="loud")
    assert len(json.loads(done.stdout)) < len(long_session(60))
    assert ("loaded" in done.stderr, "at work" in done.stderr) == (True, True)
    listed = run(tmp_path, "engines", "--json")
    assert "loud" in [row["name"] for row in json.loads(listed.stdout)["engines"]]


@pytest.mark.parametrize(
    "does", ["raise ZeroDivisionError('at work')", "return None", "return []", "return ['text']", "raise SystemExit(0)"]
)
def test_an_engine_that_fails_at_work_is_named_and_writes_nothing(does: str, tmp_path: Path):
    file = conversation(tmp_path)
    place = tmp_path / ".abridged" / "plugins" / "context_engine" / "broken"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(
        "from abridged import ContextCompressor\n\n\nclass Broken(ContextCompressor):\n    name = 'broken'\n\n"
        f"    def compress(self, messages, **more):\n        {does}\n"
    )
    done = run(tmp_path, "compress", file, "--force", ABRIDGED_CONTEXT__ENGINE="broken")
    assert (done.returncode, done.stdout) == (2, "")
    assert "engine broken: " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("attribute", ["estimate", "report"])
def test_what_else_an_engine_has_is_its_own(attribute: str, tmp_path: Path):
    file = conversation(tmp_path)
    place = tmp_path / ".abridged" / "plugins" / "context_engine" / "window"
    place.mkdir(parents=True)
    code = (Path(__file__).resolve().parents[2] / "examples/plugins/context_engine/window/__init__.py").read_text()
    (place / "__init__.py").write_text(f"{code}\n    {attribute} = 'something else'\n")
    done = run(tmp_path, "compress", file, "--force", "-q", ABRIDGED_CONTEXT__ENGINE="window")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)) < len(long_session(60))


def test_a_model_of_the_settings_may_be_switched_off(tmp_path: Path):
    file = conversation(tmp_path)
    (tmp_path / "c.yaml").write_text(
        "model: {name: tiny}\nmodels: {tiny: {model: {context_length: 9000}, compression: {enabled: false}}}\n"
    )
    done = run(tmp_path, "compress", file, "--config", "c.yaml")
    assert done.stdout == (tmp_path / file).read_text()
    assert "switched off" in done.stderr


def test_switched_off_is_off_unless_it_is_forced(tmp_path: Path):
    file = conversation(tmp_path)
    variables = {"ABRIDGED_COMPRESSION__ENABLED": "false", "ABRIDGED_MODEL__CONTEXT_LENGTH": "9000"}
    done = run(tmp_path, "compress", file, **variables)
    assert done.stdout == (tmp_path / file).read_text()
    assert "switched off" in done.stderr
    assert len(run(tmp_path, "compress", file, "--force", **variables).stdout) < len(done.stdout)


def test_the_summariser_of_the_settings(tmp_path: Path):
    file = conversation(tmp_path)
    (tmp_path / "c.yaml").write_text("summarizer: {model: gpt-9}\n")
    done = run(tmp_path, "compress", file, "--config", "c.yaml")
    assert done.returncode == 2
    assert "c.yaml: summarizer.model: 'gpt-9' is not possible; it takes its key in" in done.stderr
    assert "OPENAI_API_KEY" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("compression:\n  treshold_percent: 0.3\n", "did you mean compression.threshold_percent"),
        ("compresion: {}\n", "did you mean compression?"),
        (": :\n- x", "YAML"),
        ("- a\n", "a mapping of sections is wanted"),
        ("? [a]\n: b\n", "line 1: a key has to be a word"),
        ("model: {name: a, name: b}\n", "line 1: name: it stands there a second time"),
        ("compression: {content_max: 100}\n", "compression.content_max: 100 is not possible"),
        ('"a\\nb": 1\n', "a b: there is no such key"),
        (f"model: {{context_length: {'9' * 5000}}}\n", "it takes a whole number"),
        ("models: {m: {colour: red}}\n", "models.m: colour: there is no such key"),
    ],
)
@pytest.mark.parametrize("command", [("config", "show"), ("compress", "-"), ("engines",)])
def test_a_mistake_is_one_clear_line(command: tuple[str, ...], text: str, said: str, tmp_path: Path):
    (tmp_path / "c.yaml").write_text(text)
    done = run(tmp_path, *command, "--config", "c.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("abridged: c.yaml")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_or_nothing_in_the_place_of_the_file(tmp_path: Path):
    (tmp_path / ".abridged" / "config.yaml").mkdir(parents=True)
    done = run(tmp_path, "config", "show")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith(".abridged/config.yaml: Is a directory\n")
    done = run(tmp_path, "config", "show", "--config", "none.yaml")
    assert "none.yaml: there is no such file" in done.stderr
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ".abridged").write_text("no folder")
    done = run(tmp_path / "elsewhere", "config", "init")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert ".abridged: cannot be made a folder" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--model-window", "0"], "--model-window 0: not possible; it takes a whole number from 1 on"),
        (["--timeout", "0"], "--timeout 0.0: not possible; it takes a number from 0.01"),
        (["--base-url", "http://localhost:1"], "--base-url http://localhost:1: not possible; it takes a --model"),
        (["--model", "gpt-9"], "--model gpt-9: not possible; it takes its key in"),
    ],
)
def test_an_option_is_called_as_it_was_typed(options: list[str], said: str, tmp_path: Path):
    done = run(tmp_path, "compress", conversation(tmp_path, 2), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_where_a_value_of_a_file_stands_in_the_way_of_an_option_the_file_is_named(tmp_path: Path):
    (tmp_path / "c.yaml").write_text("model: {max_output_tokens: 5000}\n")
    done = run(tmp_path, "inspect", conversation(tmp_path, 2), "--config", "c.yaml", "--context-length", "4000")
    assert "abridged: c.yaml: model.max_output_tokens: 5000 is not possible; it takes from 0 to below" in done.stderr


def test_engines_and_their_health(tmp_path: Path):
    place = tmp_path / ".config" / "abridged" / "plugins" / "context_engine" / "broken"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("raise RuntimeError('no luck')\n")
    rows = {row["name"]: row for row in json.loads(run(tmp_path, "engines", "--json").stdout)["engines"]}
    assert rows["compressor"]["fault"] == ""
    assert rows["compressor"]["chosen"]
    assert "RuntimeError: no luck" in rows["broken"]["fault"]
    assert {row["fault"] for row in rows.values() if row["source"] == "built in"} == {""}
    assert "loads" in run(tmp_path, "engines").stdout


BROKEN = {
    "raises": "raise RuntimeError('no luck')\n",
    "ends": "raise SystemExit(0)\n",
    "syntax": "def broken(:\n",
    "imports": "import nowhere_to_be_found\n",
    "nothing": "x = 1\n",
    "registers": "def register(ctx):\n    raise SystemExit(0)\n",
    "rubbish": "def register(ctx):\n    ctx.register_context_engine('x')\n",
    "makes": "def register(ctx):\n    ctx.register_context_engine(lambda: exit(0))\n",
    "dumb": "class Dumb(Exception):\n    def __str__(self): raise ValueError\nraise Dumb\n",
    "misnamed": "from abridged import ContextCompressor\nclass Other(ContextCompressor): name = 'other'\n",
    "two": "from abridged import ContextCompressor\nclass A(ContextCompressor): pass\nclass B(A): pass\n",
    "compressor": "from abridged import ContextCompressor\nclass Mine(ContextCompressor): pass\n",
    "my-engine.2": "from .inner import nothing\n",
}


def test_no_broken_engine_stops_the_list_or_takes_another_ones_place(tmp_path: Path):
    place = tmp_path / ".abridged" / "plugins" / "context_engine"
    for name, code in BROKEN.items():
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").write_text(code)
        (place / name / "plugin.yaml").write_text("description: [")
    (place / "empty").mkdir()
    done = run(tmp_path, "engines", "--json")
    rows = [row for row in json.loads(done.stdout)["engines"] if row["source"].startswith(str(tmp_path))]
    assert (done.returncode, done.stderr) == (0, "")
    assert {row["name"] for row in rows} == {*BROKEN, "empty"}
    assert all(row["fault"].startswith(f"engine {row['name']!r}: ") for row in rows)
    assert run(tmp_path, "engines").stdout.count("engine '") >= len(rows)
    for row in rows:
        done = run(tmp_path, "compress", conversation(tmp_path, 2), ABRIDGED_CONTEXT__ENGINE=row["name"])
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"abridged: {row['fault']}\n")
