"""The command as a process: exit codes, the two streams, pipes and interruptions."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.cli_sessions import COMMAND, SESSION, long_session, run, user


def test_version_and_help() -> None:
    shown = run("--version")
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert shown.stdout.startswith(b"abridged ")
    for command in ((), ("compress",), ("inspect",)):
        shown = run(*command, "--help")
        assert shown.returncode == 0
        assert b"Example: abridged" in shown.stdout


def test_an_unknown_option_leaves_with_two() -> None:
    shown = run("compress", SESSION, "--nope")
    assert (shown.returncode, shown.stdout) == (2, b"")
    assert b"--nope" in shown.stderr


def test_standard_input_to_standard_output() -> None:
    given = json.dumps(long_session()).encode()
    shown = run("compress", "-", "--context-length", "4000", stdin=given)
    assert shown.returncode == 0
    assert len(json.loads(shown.stdout)) < len(long_session())
    assert b"standard input: " in shown.stderr
    assert b"\x1b" not in shown.stderr  # no colour and no spinner where nobody looks


def test_every_process_writes_the_same() -> None:
    # spec: T8
    one, other = (run("compress", SESSION, "-q", PYTHONHASHSEED=seed).stdout for seed in ("0", "1"))
    assert one == other


def test_bad_input_is_no_traceback() -> None:
    shown = run("inspect", "-", stdin=b"{oops")
    assert (shown.returncode, shown.stdout) == (2, b"")
    assert shown.stderr.startswith(b"abridged: standard input: not JSON: ")
    assert b"Traceback" not in shown.stderr


def test_without_the_extra_it_says_what_to_install() -> None:
    for missing in ("typer", "rich"):
        code = f"import sys; sys.modules[{missing!r}] = None; from abridged.cli import main; sys.exit(main())"
        shown = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, check=False)
        assert shown.returncode == 2
        assert shown.stderr == b'abridged: the command line needs an extra: pip install "abridged[cli]"\n'


def test_a_terminal_that_knows_ascii_alone_is_no_crash(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(json.dumps([user("你好 \ud800")]))
    for command in ("inspect", "compress"):
        shown = run(command, file, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
        assert shown.returncode == 0, shown.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
@pytest.mark.parametrize("command", ["compress", "inspect"])
def test_a_reader_that_leaves_is_no_complaint(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    shown = subprocess.run([*COMMAND, command, str(SESSION)], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (shown.returncode, shown.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
def test_an_interruption_is_quiet_and_leaves_the_output_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("old")
    with subprocess.Popen(
        [*COMMAND, "compress", "-", "-o", str(out)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b" " * 4_000_000)  # more than a pipe holds: when this returns, the command is reading
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):  # a signal between two system calls waits for the next one
            process.wait(timeout=10)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
        process.stdin.close()
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
def test_a_full_disk_leaves_the_output_as_it_was(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    out = tmp_path / "out.json"
    out.write_text("old")

    def no_large_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    shown = subprocess.run(
        [*COMMAND, "compress", str(SESSION), "-o", str(out)],
        capture_output=True, check=False, preexec_fn=no_large_files,
    )  # fmt: skip
    assert shown.returncode == 2
    assert shown.stderr.decode().startswith(f"abridged: {out}: cannot be written: ")
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]
