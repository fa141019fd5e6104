"""A host that is killed at any moment goes on where it was: nothing lost, nothing twice, nothing half (spec: F3)."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.properties.validator import check_pairs
from tests.session.worker import FIRST, SESSION, turn

from abridged.archive import Archive

KILLS = int(os.environ.get("ABRIDGED_KILLS", "25"))
TURNS = 12 * KILLS
ROOT = Path(__file__).resolve().parents[2]


def run_worker(path: Path, turns: int, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.session.worker", str(path), str(turns), *more],
        cwd=ROOT, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_killed_inside_the_transaction_of_a_compaction(tmp_path: Path):
    path, turns = tmp_path / "archive.db", 60
    expected = [*FIRST, *(message for number in range(turns) for message in turn(number))]
    died = 0
    for statement in range(0, 60, 3):
        done = run_worker(path, turns, str(statement))
        died += done.returncode == -signal.SIGKILL
        with Archive(path) as archive:
            live, number = archive.live(SESSION)
            check_pairs(live)
            assert archive.transcript(SESSION) == expected[: len(archive.transcript(SESSION))]
            assert [entry.number for entry in archive.compactions(SESSION)] == list(range(1, number + 1))
            if number:
                assert archive.restore(SESSION, number)
    assert died >= 8
    assert run_worker(path, turns).stdout.endswith("done\n")
    with Archive(path) as archive:
        assert archive.transcript(SESSION) == expected


def test_killed_at_random_moments(tmp_path: Path):
    path, dice = tmp_path / "archive.db", random.Random(7)
    kills = compactions = 0
    expected = [*FIRST, *(message for number in range(TURNS) for message in turn(number))]
    deadline = time.monotonic() + 60 + 2 * KILLS
    while time.monotonic() < deadline:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.session.worker", str(path), str(TURNS)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert worker.stdout is not None
        worker.stdout.readline()
        if kills < KILLS:
            time.sleep(dice.random() * 0.04)
            worker.send_signal(signal.SIGKILL)
            kills += worker.wait(20) == -signal.SIGKILL
            said, errors = worker.communicate(timeout=20)
        else:
            said, errors = worker.communicate(timeout=120)
        assert "Error" not in errors, errors
        with Archive(path) as archive:
            transcript = archive.transcript(SESSION)
            assert transcript == expected[: len(transcript)]
            assert len(transcript) % 2 == 0
            live, number = archive.live(SESSION)
            check_pairs(live)
            numbers = [compaction.number for compaction in archive.compactions(SESSION)]
            assert numbers == list(range(1, number + 1))
            compactions = number
        if said.endswith("done\n"):
            break
    assert transcript == expected
    assert kills == KILLS
    assert compactions > 10
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    raw.close()
