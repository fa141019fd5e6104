"""`abridged config` and `abridged engines`, as processes of their own."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.cli_sessions import COMMAND


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
