"""The host of `examples/` finishes a task of 120 tool calls in a window of 64,000 tokens (spec: E4, T6, T8)."""

import importlib.util
from pathlib import Path
from types import ModuleType

from tests.session.agent_server import Agent, serve

from abridged import ContextCompressor, ContextSession
from abridged.archive import Archive

TASK = "Look at all parts, one after another. Do not use pandas. From now on answer in French."


def host() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "examples" / "host.py"
    spec = importlib.util.spec_from_file_location("host", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_task_of_120_calls(tmp_path: Path):
    agent = Agent(120, 64_000)
    server = serve(agent)
    try:
        archive = Archive(tmp_path / "archive.db")
        engine = ContextCompressor(64_000, threshold_percent=0.4, minimum_context_length=0)
        session = ContextSession.start("task", engine=engine, archive=archive)
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        assert host().work(session, url, "m", TASK) == "All parts were looked at."
    finally:
        server.shutdown()
        server.server_close()
    assert agent.faults == []
    assert agent.refused == 0
    assert max(agent.sizes) <= 64_000
    assert engine.compression_count >= 3
    last = str(agent.prompts[-1])
    assert "Do not use pandas." in last
    assert "From now on answer in French." in last
    breaks = sum(now[: len(before)] != before for before, now in zip(agent.prompts, agent.prompts[1:], strict=False))
    assert breaks == engine.compression_count
    said = archive.transcript("task")
    assert [message for message in said if message["role"] == "tool"][99]["content"].endswith("[exit code: 0]")
    assert len(said) == 2 + 120 * 2 + 1
    assert archive.search('"verdict V-3-21"')
    assert not session.archive_fault


def test_a_window_that_is_smaller_than_the_host_believes(tmp_path: Path):
    agent = Agent(40, 20_000)
    server = serve(agent)
    try:
        session = ContextSession.start("task", engine=ContextCompressor(64_000), archive=str(tmp_path / "a.db"))
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        assert host().work(session, url, "m", TASK) == "All parts were looked at."
    finally:
        server.shutdown()
        server.server_close()
    assert agent.faults == []
    assert agent.refused == 1
    assert session.engine.context_length == 20_000
