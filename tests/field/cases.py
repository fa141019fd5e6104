"""Loads the shared fault cases and maps their configuration to ours. Each case names the report that it comes from."""

import json
from pathlib import Path
from typing import Any

import pytest

from abridged import ContextCompressor
from abridged.errors import SummarizerError
from abridged.summarizers import SummaryResult
from abridged.testing import EchoSummarizer, FakeClock, ScriptedSummarizer

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "field" / "cases"
Message = dict[str, Any]


def load(name: str) -> dict[str, Any]:
    """A case by the number it begins with; skips where the cases do not lie beside the project."""
    found = sorted(FOLDER.glob(f"{name}-*.json"))
    if not found:
        pytest.skip(f"the shared case {name} is not there: {FOLDER.name} lies beside the project only for its makers")
    return json.loads(found[0].read_text())


def engine_for(case: dict[str, Any], **more: Any) -> ContextCompressor:
    """An engine as the case describes it."""
    config = case["config"]
    threshold = int(config["context_length"] * config["threshold_percent"])
    return ContextCompressor(
        config["context_length"],
        **{
            "threshold_percent": config["threshold_percent"],
            "minimum_context_length": 0,
            "protect_first_n": config["protect_first_n"],
            "protect_last_n": config["protect_last_n"],
            "summary_target_ratio": min(0.95, max(0.01, config["tail_token_budget"] / threshold)),
            "min_summary_tokens": 300,
            "summarizer": summarizer_of(config["summarizer"]),
            "clock": FakeClock(),
            **more,
        },
    )


def summarizer_of(config: dict[str, Any]) -> Any:
    if config["mode"] == "echo":
        return EchoSummarizer()
    if config["mode"] == "fixed":
        return ScriptedSummarizer([config["returns"]])
    return ScriptedSummarizer([reply_of(entry) for entry in config["responses"]])


def reply_of(entry: dict[str, Any]) -> SummaryResult | Exception:
    if "error" in entry:
        return SummarizerError("network", entry["error"])
    return SummaryResult(entry["content"])


def said(messages: list[Message]) -> str:
    """Everything in a list of messages, as one JSON text."""
    return json.dumps(messages, ensure_ascii=False)


def summaries(messages: list[Message]) -> list[str]:
    """The texts that carry a summary."""
    return [str(message["content"]) for message in messages if "[CONTEXT COMPACTION" in str(message.get("content"))]
