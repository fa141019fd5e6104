"""A summariser by the name of its model, for the command line and the configuration."""

import os
from importlib.util import find_spec

from abridged.config.servers import is_local
from abridged.errors import ConfigError
from abridged.summarizers.anthropic import AnthropicSummarizer
from abridged.summarizers.clients import variable_for
from abridged.summarizers.litellm import LiteLLMSummarizer
from abridged.summarizers.openai import KEYS, OpenAISummarizer
from abridged.summarizers.protocol import Summarizer


def summarizer_for(model: str, *, base_url: str | None = None, context_length: int | None = None) -> Summarizer:
    """`claude-…` or `anthropic/…` by Anthropic's API, `litellm/…` by LiteLLM, all others by OpenAI's at `base_url`.

    Raises `ConfigError` that says what to do where the client is not installed or the key is not set.
    """
    if model.startswith("litellm/"):
        _need("litellm", model)
        return LiteLLMSummarizer(model.removeprefix("litellm/"), base_url=base_url, context_length=context_length)
    if model.startswith(("anthropic/", "claude-")) and not base_url:
        _need("anthropic", model)
        _need_key(model, None, "ANTHROPIC_API_KEY")
        return AnthropicSummarizer(model.removeprefix("anthropic/"), context_length=context_length or 200_000)
    _need("openai", model)
    _need_key(model, base_url, variable_for(base_url, "OPENAI_API_KEY", KEYS))
    return OpenAISummarizer(model, base_url=base_url, context_length=context_length)


def _need(extra: str, model: str) -> None:
    if find_spec(extra) is None:
        raise ConfigError("model", model, f"the extra first: pip install 'abridged[{extra}]'")


def _need_key(model: str, base_url: str | None, variable: str) -> None:
    if not is_local(base_url) and not os.environ.get(variable, "").strip():
        raise ConfigError("model", model, f"its key in the environment variable {variable}")
