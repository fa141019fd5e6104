"""Claude by Anthropic's Messages API. The official SDK is imported at the first request (extra `anthropic`)."""

import re
from typing import Any

from abridged.summarizers.clients import ModelClient, key_for, sdk
from abridged.summarizers.protocol import SummaryRequest, SummaryResult, Usage

LEAST_OUTPUT = 8_192
"""This API asks for a cap on the output: a generous one, since a model that thinks needs room for that."""
_ALLOWED = re.compile(r"max_tokens.{0,80}?[>:]\s*(\d{3,7})[^\d]{1,80}?(\d{3,7})", re.DOTALL)


class AnthropicSummarizer(ModelClient):
    """A Claude model; the key is ANTHROPIC_API_KEY."""

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        """One message: no tools, no stream, no temperature, no retries of its own."""
        client = self._client_for(request)
        given = {
            "model": self.model,
            "system": request.instructions,
            "messages": [{"role": "user", "content": request.record}],
            "max_tokens": max(LEAST_OUTPUT, 2 * request.budget_tokens),
            "timeout": request.timeout,
        }
        try:
            answer = client.messages.create(**given)
        except Exception as error:
            allowed = _allowed_output(error)
            if allowed is None:
                raise
            answer = client.messages.create(**{**given, "max_tokens": allowed})
        return _result(answer)

    def _new_client(self) -> Any:
        key = self._api_key or key_for(self.base_url, "ANTHROPIC_API_KEY", {})
        return sdk("anthropic").Anthropic(api_key=key, base_url=self.base_url, max_retries=0)


def _allowed_output(error: Exception) -> int | None:
    """The cap that the model has, where an error says that ours is above it: "max_tokens: 8192 > 4096, ..."."""
    found = _ALLOWED.search(str(error)) if getattr(error, "status_code", None) == 400 else None
    return min(int(found[1]), int(found[2])) if found else None


def _result(answer: Any) -> SummaryResult:
    blocks: list[Any] = list(getattr(answer, "content", None) or [])
    texts = [block.text for block in blocks if getattr(block, "type", "") == "text"]
    thoughts = [block.thinking for block in blocks if getattr(block, "type", "") == "thinking"]
    usage = getattr(answer, "usage", None)
    counted = Usage(int(getattr(usage, "input_tokens", 0) or 0), int(getattr(usage, "output_tokens", 0) or 0))
    stopped = getattr(answer, "stop_reason", None)
    return SummaryResult(
        "".join(texts), "length" if stopped == "max_tokens" else stopped, counted, "\n".join(thoughts) or None
    )
