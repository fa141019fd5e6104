"""Every other provider, by LiteLLM (extra `litellm`); the model is named as LiteLLM names it."""

import os
from typing import Any

from abridged.summarizers.clients import sdk
from abridged.summarizers.openai import result_of
from abridged.summarizers.protocol import SummaryRequest, SummaryResult


class LiteLLMSummarizer:
    """`context_length`: the model's window in tokens, where it is known. Keys are read as LiteLLM reads them."""

    def __init__(
        self, model: str, *, base_url: str | None = None, context_length: int | None = None, name: str | None = None
    ) -> None:
        self.model = model
        self.name = name or model
        self.base_url = base_url
        self.context_length = context_length

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        """One completion: no tools, no stream, no temperature, no cap on the output, no retries of its own."""
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no price list is fetched at import
        litellm = sdk("litellm")
        litellm.suppress_debug_info = True  # it prints advice on errors
        given: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": request.instructions},
                {"role": "user", "content": request.record},
            ],
            "timeout": request.timeout,
            "num_retries": 0,
        }
        if self.base_url:
            given["base_url"] = self.base_url
        return result_of(litellm.completion(**given))
