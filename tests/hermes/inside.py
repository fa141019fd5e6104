"""Run by the host's own interpreter: one agent after another, and what became of them as JSON.

python inside.py '[["say", "work"], ["resume"], ["compress", "a topic"], ["new"], ["second"]]'
"""

import json
import logging
import sys
from typing import Any

from hermes_cli.config import load_config
from hermes_state import SessionDB
from run_agent import AIAgent


class Runner:
    """One conversation in the host, as its own front ends lead it."""

    def __init__(self) -> None:
        model = load_config()["model"]
        self.made = {"base_url": model["base_url"], "api_key": model["api_key"], "model": model["default"]}
        self.db = SessionDB()
        self.history: list[dict[str, Any]] = []
        self.session = "20260101_000000_abcdef"
        self.agent = self.make()

    def make(self, **more: Any) -> AIAgent:
        return AIAgent(
            **self.made, provider="custom", quiet_mode=True, session_id=self.session, session_db=self.db,
            platform="cli", max_iterations=200, enabled_toolsets=["terminal", "context_engine", "todo"],
            skip_context_files=True, **more,
        )  # fmt: skip

    def say(self, text: str) -> dict[str, Any]:
        given = self.agent.run_conversation(text, conversation_history=self.history)
        self.history = given["messages"]
        self.session = self.agent.session_id
        return {"answer": given.get("final_response"), **self.engine()}

    def resume(self) -> dict[str, Any]:
        self.agent.close()
        self.history = self.db.get_messages_as_conversation(self.session, repair_alternation=True)
        self.agent = self.make()
        return {"history": len(self.history), **self.engine()}

    def compress(self, topic: str = "") -> dict[str, Any]:
        before = len(self.history)
        self.history, _ = self.agent._compress_context(
            self.history, "", approx_tokens=30_000, task_id="default", focus_topic=topic or None, force=True
        )
        self.session = self.agent.session_id
        return {"before": before, "after": len(self.history), **self.engine()}

    def new(self) -> dict[str, Any]:
        old, self.session = self.session, "20260102_000000_fedcba"
        self.agent.session_id = self.session
        self.agent._session_db_created = False
        self.agent.reset_session_state(previous_messages=self.history, old_session_id=old)
        self.history = []
        return self.engine()

    def second(self) -> dict[str, Any]:
        """A second agent on the live session, as a gateway makes one to compress, and one that only looks on."""
        other = self.make()
        kept, _ = other._compress_context(list(self.history), "", approx_tokens=30_000, task_id="default", force=True)
        onlooker = self.make()
        onlooker.context_compressor.on_session_end(self.session, [])
        self.history = kept
        return self.engine()

    def end(self) -> dict[str, Any]:
        self.agent.context_compressor.on_session_end(self.session, self.history)
        return self.engine()

    def engine(self) -> dict[str, Any]:
        engine = self.agent.context_compressor
        kind = type(engine)
        record = getattr(engine, "_record", None)
        connection = record.archive._connection if record and record.archive else None
        return {
            "engine": engine.name, "class": f"{kind.__module__}.{kind.__name__}", "session": self.session,
            "count": engine.compression_count, "roles": "".join(one["role"][0] for one in self.history),
            "fault": getattr(engine, "fault", None), "window": engine.context_length,
            "threshold": engine.threshold_tokens, "tools": sorted(self.agent.valid_tool_names),
            "error": getattr(engine, "_last_summary_error", None),
            "in_transaction": connection.in_transaction if connection else None,
            "marked": sum(bool(one.get("_compressed_summary")) for one in self.history),
        }  # fmt: skip


def main() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    logging.disable(logging.INFO)
    runner = Runner()
    told = [["start", runner.engine()]]
    for name, *arguments in json.loads(sys.argv[1]):
        told.append([name, getattr(runner, name)(*arguments)])
    print("\n=====" + json.dumps(told), flush=True)


main()
