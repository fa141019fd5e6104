"""The model that is talked to: any server that speaks OpenAI's chat completions, streamed.

An answer is one whole message or an error; every error says in one line what to do about it. The official SDK is
imported when the first model is made (extra `chat`).
"""

import asyncio
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from abridged.conversation.text import Message
from abridged.errors import SettingsError, SummarizerError
from abridged.summarizers.clients import key_for, sdk, variable_for
from abridged.summarizers.openai import KEYS
from abridged.summary.redact import redact

MOST_RETRIES = 3
"""How often a request that was throttled or met a hiccup is sent again, with a growing pause."""
SECONDS = 600.0
"""How long the first word of an answer may take: a local model reads a long prompt slowly."""
WINDOW_SECONDS = 3.0
"""How long a server may take to say how large the window is."""
_WINDOWS = ("max_model_len", "loaded_context_length", "context_length", "max_context_length", "context_window")
NO_ANSWER = "(the model gave no answer)"


class ModelError(Exception):
    """No answer. The text says what to do; `status_code` and the cause tell what the server said."""

    def __init__(self, text: str, status_code: int | None = None) -> None:
        super().__init__(text)
        self.status_code = status_code


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said."""

    message: Message
    """The assistant's message as it goes into the conversation."""
    usage: dict[str, int]
    """`prompt_tokens` and the like, {} where the server does not count."""
    cut_off: str = ""
    """Why it may not be whole; "" = it is."""


class ChatModel(Protocol):
    """Who answers."""

    @property
    def name(self) -> str: ...

    async def answer(
        self, messages: list[Message], tools: list[dict[str, Any]], on_text: Callable[[str], None]
    ) -> Answer:
        """The next message; `on_text` hears its words as they come. Raises `ModelError`."""
        ...

    def named(self, name: str, base_url: str | None = None) -> "ChatModel":
        """Another model, at the same server unless another is named."""
        ...

    async def window(self) -> int | None:
        """Tokens of its window, where anybody tells."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


class OpenAIChat:
    """`base_url`: the server, `None` = OpenAI's own. The key is read from the environment; a server on this machine
    needs none. `max_output_tokens`: the most that an answer may take, `None` = the server's own limit. `retries`: how
    often a request that was throttled or met a hiccup is sent again.
    Raises `SettingsError` where the SDK or the key is missing, or the address is none.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        *,
        max_output_tokens: int | None = None,
        retries: int = MOST_RETRIES,
    ) -> None:
        if base_url and not base_url.startswith(("http://", "https://")):
            raise SettingsError(base_url, "", "no address of a server: http:// or https:// has to stand before it")
        self.name = name
        self.base_url = base_url
        self.max_output_tokens = max_output_tokens
        self.retries = retries
        self.variable = variable_for(base_url, "OPENAI_API_KEY", KEYS)
        try:
            self._sdk = sdk("openai")
            self.key = key_for(base_url, "OPENAI_API_KEY", KEYS)
        except SummarizerError as error:
            advice = "; a server on this machine needs none: --base-url URL" if error.kind == "auth" else ""
            raise SettingsError(name, "", f"{error.detail}{advice}") from error
        self._counts = True
        self._client: Any = None

    def named(self, name: str, base_url: str | None = None) -> "OpenAIChat":
        return OpenAIChat(
            name, base_url or self.base_url, max_output_tokens=self.max_output_tokens, retries=self.retries
        )

    async def close(self) -> None:
        """Let go of the connection."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def window(self) -> int | None:
        """Tokens of the model's window, where the server tells: vLLM, llama.cpp, LM Studio and OpenRouter do."""
        try:
            async with asyncio.timeout(WINDOW_SECONDS):
                listed = self._connection().with_options(max_retries=0).models.list()
                models = [model.model_dump() async for model in listed]
        except Exception:  # nobody has to tell
            return None
        mine = [one for one in models if one.get("id") == self.name] or (models if len(models) == 1 else [])
        for one in mine:
            meta = cast("dict[str, Any]", one.get("meta") if isinstance(one.get("meta"), dict) else {})
            for number in (*(one.get(name) for name in _WINDOWS), meta.get("n_ctx")):
                if isinstance(number, int) and number > 0:
                    return number
        return None

    async def names(self) -> list[str]:
        """The models that the server has. Raises `ModelError`."""
        try:
            return sorted([model.id async for model in self._connection().models.list()])
        except Exception as error:
            raise self._explained(error) from error

    async def answer(
        self, messages: list[Message], tools: list[dict[str, Any]], on_text: Callable[[str], None]
    ) -> Answer:
        try:
            return await self._streamed(messages, tools, on_text)
        except self._sdk.BadRequestError as error:
            if not (self._counts and "stream_options" in str(error)):
                raise self._explained(error) from error
            self._counts = False  # an older server: it answers, and does not count
            return await self.answer(messages, tools, on_text)
        except Exception as error:
            raise self._explained(error) from error

    async def _streamed(
        self, messages: list[Message], tools: list[dict[str, Any]], on_text: Callable[[str], None]
    ) -> Answer:
        wishes: dict[str, Any] = {"tools": tools} if tools else {}
        if self._counts:
            wishes["stream_options"] = {"include_usage": True}
        if self.max_output_tokens:
            wishes["max_tokens" if self.base_url else "max_completion_tokens"] = self.max_output_tokens
        stream = await self._connection().chat.completions.create(
            model=self.name, messages=messages, stream=True, **wishes
        )
        gathered = Gathered(on_text)
        async with stream:
            async for chunk in stream:
                gathered.add(chunk)
        if gathered.is_empty:
            raise ConnectionError("it ended before the first word")
        return gathered.answer()

    def _connection(self) -> Any:
        if self._client is None:
            self._client = self._sdk.AsyncOpenAI(
                api_key=self.key, base_url=self.base_url, max_retries=self.retries, timeout=SECONDS
            )
        return self._client

    def _explained(self, error: Exception) -> ModelError:
        status = getattr(error, "status_code", None)
        said = redact(str(error).replace(self.key, "[REDACTED]") if len(self.key) > 8 else str(error))
        return ModelError(self._advice(error, status, " ".join(said.split())[:400]), status)

    def _advice(self, error: Exception, status: int | None, said: str) -> str:
        where = self.base_url or "OpenAI"
        if isinstance(error, self._sdk.APITimeoutError):
            return f"{where}: no word within {SECONDS:.0f} s"
        if status is None and isinstance(error, self._sdk.APIError):
            if isinstance(error, self._sdk.APIConnectionError):
                return f"cannot reach {where}: is the server running and the address right? (--base-url URL)"
            return f"{where}: {said}"
        if status in (401, 403):
            return f"{where} refuses the key: set {self.variable} to one that is valid ({said})"
        if status == 404:
            return f"{where} has no model {self.name} or no such path; addresses mostly end in /v1 ({said})"
        if status == 429:
            return f"{where} throttles, or the quota is used up: wait a little, or /model NAME ({said})"
        if status is None:
            return f"the connection to {where} was lost: {said or type(error).__name__}"
        return f"{where} answers {status}: {said}"


class Gathered:
    """A streamed answer, put together again. Servers differ: an index or an id may be missing or come twice."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._texts: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._by_index: dict[int, dict[str, str]] = {}
        self._usage: dict[str, int] = {}
        self._finish: str | None = None

    def add(self, chunk: Any) -> None:
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            names = ("prompt_tokens", "completion_tokens", "total_tokens")
            self._usage = {name: int(getattr(usage, name, 0) or 0) for name in names}
        choices: list[Any] = chunk.choices or []
        for choice in choices[:1]:
            self._finish = choice.finish_reason or self._finish
            if choice.delta is None:
                continue
            if choice.delta.content:
                self._texts.append(choice.delta.content)
                self._on_text(choice.delta.content)
            pieces: list[Any] = choice.delta.tool_calls or []
            for piece in pieces:
                self._add_call(piece)

    def _add_call(self, piece: Any) -> None:
        function = piece.function
        index = piece.index if isinstance(piece.index, int) else len(self._calls) - (0 if piece.id else 1)
        entry = self._by_index.get(index)
        if entry is None or (piece.id and entry["id"] and piece.id != entry["id"]):
            entry = self._by_index[index] = {"id": "", "name": "", "arguments": ""}
            self._calls.append(entry)
        entry["id"] = entry["id"] or piece.id or ""
        if function is not None:
            entry["name"] = entry["name"] or function.name or ""
            entry["arguments"] += function.arguments or ""

    @property
    def is_empty(self) -> bool:
        """Nothing came, not even an end."""
        return self._finish is None and not self._texts and not self._calls

    def answer(self) -> Answer:
        text = "".join(self._texts)
        message: Message = {"role": "assistant", "content": text or None}
        if self._calls:
            message["tool_calls"] = [_whole(call) for call in self._calls]
        elif not text.strip():
            message["content"] = NO_ANSWER
        return Answer(message, self._usage, self._cut_off())

    def _cut_off(self) -> str:
        if self._finish is None:
            return "the connection ended without a word that this was all"
        return "it ran into the model's limit for one answer" if self._finish == "length" else ""


def _whole(call: dict[str, str]) -> dict[str, Any]:
    """A call as the API wants to see it again; what is no JSON goes back as the text that it was."""
    arguments = call["arguments"].strip() or "{}"
    try:
        json.loads(arguments)
    except ValueError:
        arguments = json.dumps({"invalid_json": arguments})
    return {
        "id": call["id"] or f"call_{uuid.uuid4().hex[:12]}",
        "type": "function",
        "function": {"name": call["name"] or "unnamed", "arguments": arguments},
    }
