"""`abridged compress`: the same shape out as in, whole or not at all, and a report."""

import json
import os
import stat
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.cli.cli_sessions import SESSION, assistant, long_session, result, user

from abridged.cli import main
from abridged.summary.template import frame

SMALL_WINDOW = ("--context-length", "4000")


def written(path: Path, messages: Any) -> Path:
    path.write_text(json.dumps(messages))
    return path


def test_a_file_that_fits_comes_out_byte_for_byte(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    # spec: T3
    content = b'\xef\xbb\xbf[ {"role":"user",\r\n "content":"\\u00e9"} ]'
    file, out = tmp_path / "in.json", tmp_path / "out.json"
    file.write_bytes(content)
    assert main(["compress", str(file)]) == 0
    shown = capsysbinary.readouterr()
    assert shown.out == content
    assert b"in.json: fits: " in shown.err
    assert b"--force" in shown.err
    assert main(["compress", str(file), "-o", str(out), "--quiet"]) == 0
    assert out.read_bytes() == content
    assert capsysbinary.readouterr() == (b"", b"")


def test_force_compresses_what_fits(capsys: pytest.CaptureFixture[str]) -> None:
    large = ("compress", str(SESSION), "--context-length", "400000", "-q")
    messages = json.loads(SESSION.read_text(encoding="utf-8"))["messages"]
    assert main(large) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == messages
    assert main([*large, "--force"]) == 0
    assert len(json.loads(capsys.readouterr().out)["messages"]) < len(messages)


@pytest.mark.parametrize("one_line", [True, False])
def test_a_list_stays_a_list(one_line: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "in.json"
    file.write_text(json.dumps(long_session(), indent=None if one_line else 2))
    assert main(["compress", str(file), *SMALL_WINDOW]) == 0
    shown = capsys.readouterr().out
    messages = json.loads(shown)
    assert len(messages) < len(long_session())
    assert shown.count("\n") == (1 if one_line else len(messages) + 2)


def test_an_object_keeps_its_other_keys_in_order(tmp_path: Path) -> None:
    document = {"model": "m", "messages": long_session(), "meta": {"é": [1, None]}, "n": 1}
    file = written(tmp_path / "in.json", document)
    assert main(["compress", str(file), "-o", str(file), *SMALL_WINDOW, "-q"]) == 0
    after = json.loads(file.read_text(encoding="utf-8"))
    assert list(after) == list(document)
    assert {**after, "messages": 0} == {**document, "messages": 0}
    assert len(after["messages"]) < len(document["messages"])
    assert "é" in file.read_text(encoding="utf-8")


def test_lines_stay_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(f"{json.dumps(message)}\n" for message in long_session()))
    assert main(["compress", str(file), *SMALL_WINDOW]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert 1 < len(rows) < len(long_session())
    assert all(isinstance(json.loads(row), dict) for row in rows)


def test_kept_messages_stay_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # spec: P2.1, P4.1
    messages = long_session()
    messages[-1]["_mine"] = {"x": 1.5}
    file = written(tmp_path / "in.json", messages)
    assert main(["compress", str(file), *SMALL_WINDOW]) == 0
    assert json.loads(capsys.readouterr().out)[-1] == messages[-1]


def test_half_characters_leave_as_escapes(tmp_path: Path) -> None:
    messages = [*long_session(), user("half \ud83d a character, 好"), assistant("\udc00")]
    file, out = written(tmp_path / "in.json", messages), tmp_path / "out.json"
    assert main(["compress", str(file), "-o", str(out), *SMALL_WINDOW, "-q"]) == 0
    after = out.read_bytes()
    assert rb"half \ud83d a character" in after
    assert "好".encode() in after
    assert json.loads(after.decode("utf-8"))[-2:] == messages[-2:]


def test_faulty_structure_is_mended_although_nothing_is_compressed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # spec: P5.1, P5.3
    file = written(tmp_path / "in.json", [user("a"), result("gone", "x"), assistant("b")])
    assert main(["compress", str(file), "--force"]) == 0
    shown = capsys.readouterr()
    assert [message["role"] for message in json.loads(shown.out)] == ["user", "assistant"]
    assert "1 result without a call dropped" in " ".join(shown.err.split())


def test_a_second_compression_leaves_no_two_neighbours_of_one_role(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # spec: P4.3
    summary = assistant(frame("## Goal\n- Build it."))
    messages = [user("a " * 3_000), assistant("b " * 3_000), user("c"), summary, user("d"), assistant("e")]
    file = written(tmp_path / "in.json", messages)
    assert main(["compress", str(file), "--context-length", "2000", "--protect-first", "1"]) == 0
    roles = [message["role"] for message in json.loads(capsys.readouterr().out)]
    assert all(one != other for one, other in pairwise(roles))


# -- the report ------------------------------------------------------------------------------------------------------


def test_the_report_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    # spec: F2, F2b
    monkeypatch.setenv("COLUMNS", "80")
    out = tmp_path / "out.json"
    assert main(["compress", str(SESSION), "-o", str(out), "--focus", "cancel orders"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    for said in ("session.json: ", " % saved", "tokens", "messages", "summarised", "results to one line",
                 "by rule, without a model", "Active Task", "Critical Context", "cancel orders"):  # fmt: skip
        assert said in shown.err
    assert max(map(len, shown.err.splitlines())) <= 80


def test_the_report_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # spec: F2b
    out = tmp_path / "out.json"
    assert main(["compress", str(SESSION), "-o", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["output"] == str(out)
    assert report["compressed"] is True
    assert report["threshold_tokens"] == 64_000
    assert report["tokens_after"] < report["tokens_before"]
    assert report["messages_after"] == len(json.loads(out.read_text(encoding="utf-8"))["messages"])
    assert main(["compress", str(SESSION), "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.err)["output"] is None
    assert len(json.loads(shown.out)["messages"]) == report["messages_after"]


def test_the_report_says_when_it_is_still_too_large_and_why_the_threshold_is_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # spec: T2, C
    messages = [*long_session(5), user("word " * 6_000)]
    assert main(["compress", str(written(tmp_path / "in.json", messages)), *SMALL_WINDOW]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "still at or above the threshold of 3,400 tokens" in shown
    assert "85 % of a small window" in shown


# -- the output file -------------------------------------------------------------------------------------------------


def test_the_output_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    file = written(tmp_path / "in.json", long_session())
    real, link, new = tmp_path / "real.json", tmp_path / "link.json", tmp_path / "new.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert main(["compress", str(file), "-o", str(link), *SMALL_WINDOW, "-q"]) == 0
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert len(json.loads(real.read_text())) < len(long_session())
    assert main(["compress", str(file), "-o", str(new), *SMALL_WINDOW, "-q"]) == 0
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~umask
    assert {path.name for path in tmp_path.iterdir()} == {"in.json", "real.json", "link.json", "new.json"}


def test_an_output_that_cannot_be_is_said_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for output, said in ((tmp_path, "is a directory"), (tmp_path / "none" / "x.json", "there is no folder")):
        assert main(["compress", "missing.json", "-o", str(output)]) == 2
        shown = capsys.readouterr().err
        assert shown.startswith(f"abridged: {output}: {said}")
        assert shown.count("\n") == 1


def test_a_device_is_written_to_and_not_replaced() -> None:
    device = Path(os.devnull)
    before = device.stat()
    assert main(["compress", str(SESSION), "-o", os.devnull, "-q"]) == 0
    assert device.stat().st_ino == before.st_ino
    assert stat.S_ISCHR(device.stat().st_mode)
