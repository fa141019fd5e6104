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
    tiny = run(tmp_path, "config", "show", "--config", "c.yaml", "--model", "tiny")
    rows = {row.split()[0]: row for row in tiny.stdout.splitlines() if row.strip()}
    assert "8,192" in rows["window"]
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


@pytest.mark.parametrize("does", ["raise ZeroDivisionError('at work')", "return None", "raise SystemExit(0)"])
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
    [("compression:\n  treshold_percent: 0.3\n", "did you mean compression.threshold_percent"), (": :\n- x", "YAML")],
)
def test_a_typo_is_one_clear_line(text: str, said: str, tmp_path: Path):
    (tmp_path / "c.yaml").write_text(text)
    done = run(tmp_path, "config", "show", "--config", "c.yaml")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_engines_and_their_health(tmp_path: Path):
    place = tmp_path / ".config" / "abridged" / "plugins" / "context_engine" / "broken"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("raise RuntimeError('no luck')\n")
    rows = {row["name"]: row for row in json.loads(run(tmp_path, "engines", "--json").stdout)["engines"]}
    assert rows["compressor"]["fault"] == ""
    assert rows["compressor"]["chosen"]
    assert "RuntimeError: no luck" in rows["broken"]["fault"]
    assert "loads" in run(tmp_path, "engines").stdout
