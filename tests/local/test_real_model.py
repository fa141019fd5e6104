"""A real model over real HTTP: requests, usage, overflow, time-out, a server that dies, and the command line.

The model is tiny and its prose is bad. What is asserted is structure, that every path ends in a valid conversation, and
that code mended what the model wrote; never what it says.
"""

import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.cli_sessions import COMMAND
from tests.properties.validator import check_pairs

from abridged import ContextCompressor
from abridged.errors import SummarizerError
from abridged.summarizers import SummaryRequest
from abridged.summarizers.ladder import answer_of
from abridged.summarizers.openai import OpenAISummarizer
from abridged.summary.prompt import instructions, record
from abridged.testing import assistant, call, result, user

pytestmark = pytest.mark.slow
Message = dict[str, Any]


def session(turns: int = 24) -> list[Message]:
    made: list[Message] = [
        {"role": "system", "content": "You are careful."},
        user("Build the lantern parts. Never touch the billing schema."),
    ]
    for n in range(turns):
        made += [
            assistant(None, call(f"c{n}", "terminal", command=f"make part{n}")),
            result(f"c{n}", f"part{n}.o written, checksum LAMP-{400 + n}\n" + "built " * 40 + "\n[exit code: 0]"),
            user(f"Now part {n + 1}."),
        ]
    return made


def request(text: str, timeout: float = 100.0) -> SummaryRequest:
    return SummaryRequest(instructions(), record(text, budget_tokens=300), 300, 100_000, timeout)


def engine(url: str, **more: Any) -> ContextCompressor:
    writer = OpenAISummarizer("smollm2", base_url=url, context_length=more.pop("window", 4_096))
    return ContextCompressor(8_000, minimum_context_length=0, protect_last_n=4, summarizer=writer, **more)


def test_a_request_with_its_usage(model: str):
    answer = answer_of(OpenAISummarizer("smollm2", base_url=model), request("[USER]: Build the lantern."))
    assert answer.text
    assert answer.text.startswith("## Active Task")
    assert answer.finish_reason == "stop"
    assert answer.usage.prompt_tokens > 300
    assert answer.usage.completion_tokens > 20


def test_too_long_is_known_as_that(model: str):
    with pytest.raises(SummarizerError) as caught:
        answer_of(OpenAISummarizer("smollm2", base_url=model), request("lantern parts " * 6_000))
    assert caught.value.kind == "overflow"


def test_too_slow_is_known_as_that(model: str):
    with pytest.raises(SummarizerError) as caught:
        answer_of(OpenAISummarizer("smollm2", base_url=model), request("[USER]: go", timeout=0.5))
    assert caught.value.kind == "timeout"


def test_a_summary_through_the_engine(model: str):
    compressor = engine(model)
    out = compressor.compress(session(), force=True)
    report = compressor.report
    check_pairs(out)
    assert report.summary_writer == "model", report.attempts
    assert report.attempts[-1].prompt_tokens > 0
    assert report.added > 0
    assert "Never touch the billing schema." in str(out)
    assert report.summary_tokens <= report.summary_budget


def test_a_window_that_is_smaller_than_said(own_model: Any):
    with own_model("--context", "2048") as (url, _):
        compressor = engine(url, window=6_000)
        check_pairs(compressor.compress(session(), force=True))
    (attempt,) = compressor.report.attempts
    assert attempt.outcome == "ok"
    assert attempt.requests > 2  # the first was too long, and parts of it were asked for


def test_a_server_that_dies_in_the_middle(own_model: Any):
    with own_model("--context", "4096") as (url, process):
        compressor = engine(url)
        threading.Timer(1.5, process.kill).start()
        out = compressor.compress(session(), force=True)
    check_pairs(out)
    assert [attempt.outcome for attempt in compressor.report.attempts] == ["network"]
    assert compressor.report.summary_writer == "offline"
    assert "make part3" in str(out)


def test_time_outs_end_in_a_valid_conversation(model: str):
    compressor = engine(model, summary_timeout=0.3)
    started = time.monotonic()
    check_pairs(compressor.compress(session(), force=True))
    assert time.monotonic() - started < 20
    assert [attempt.outcome for attempt in compressor.report.attempts] == ["timeout"]


def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "compress", *arguments],
        capture_output=True, text=True, timeout=150, env={**os.environ, "COLUMNS": "120", **variables},
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(json.dumps(session(36)))
    return path


OPTIONS = (
    "--force",
    "--context-length",
    "8000",
    "--model",
    "smollm2",
    "--model-window",
    "4096",
    "--protect-last",
    "4",
    "--json",
)


def test_the_command_line(model: str, file: Path):
    done = command(str(file), "-o", str(file.parent / "out.json"), "--base-url", model, *OPTIONS)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["summary_writer"] == "model", report["attempts"]
    check_pairs(json.loads((file.parent / "out.json").read_text()))


def test_the_command_line_with_a_wrong_key_and_without_a_server(own_model: Any, file: Path):
    out = file.parent / "out.json"
    with own_model("--context", "2048", "--key", "right-one") as (url, _):
        plain = command(str(file), "-o", str(out), "--base-url", url, *OPTIONS[:-1], OPENAI_API_KEY="wr0ng-Key-77x")
        assert plain.returncode == 0, plain.stderr
        assert "smollm2: auth" in plain.stderr
        assert "wr0ng-Key-77x" not in plain.stderr + plain.stdout
        check_pairs(json.loads(out.read_text()))
    gone = command(str(file), "-o", str(out), "--base-url", url, *OPTIONS)
    assert gone.returncode == 0
    report = json.loads(gone.stdout)
    assert [attempt["outcome"] for attempt in report["attempts"]] == ["network"]
    assert report["summary_writer"] == "offline"
