"""Any server that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, OpenRouter, llama.cpp.

The official SDK is imported at the first request (extra `openai`).
"""

from typing import Any

from abridged.summarizers.clients import ModelClient, key_for, sdk
from abridged.summarizers.protocol import SummaryRequest, SummaryResult, Usage

KEYS = {"openrouter.ai": "OPENROUTER_API_KEY"}
"""Hosts that have a variable of their own for the key."""


class OpenAISummarizer(ModelClient):
    """A chat model. The key is OPENAI_API_KEY, OpenRouter's OPENROUTER_API_KEY; a server on this machine needs none."""

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        """One completion: no tools, no stream, no temperature, no cap on the output, no retries of its own."""
        client = self._client_for(request)
        messages = [
            {"role": "system", "content": request.instructions},
            {"role": "user", "content": request.record},
        ]
        return result_of(client.chat.completions.create(model=self.model, messages=messages, timeout=request.timeout))

    def _new_client(self) -> Any:
        key = self._api_key or key_for(self.base_url, "OPENAI_API_KEY", KEYS)
        return sdk("openai").OpenAI(api_key=key, base_url=self.base_url, max_retries=0)


def result_of(answer: Any) -> SummaryResult:
    """A chat completion, of whatever server, as a result; one without choices has no text."""
    usage = getattr(answer, "usage", None)
    counted = Usage(
        int(getattr(usage, "prompt_tokens", 0) or 0), int(getattr(usage, "completion_tokens", 0) or 0)
    )  # fmt: skip
    choices = getattr(answer, "choices", None)
    if not choices:
        return SummaryResult(None, usage=counted)
    message = choices[0].message
    thoughts = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    return SummaryResult(
        message.content, choices[0].finish_reason, counted, thoughts if isinstance(thoughts, str) else None
    )
