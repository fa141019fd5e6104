"""`RetrievingEngine`, the engine `rag`: no summariser at all. What fits the newest request is brought back from the
archive, as it was said.

A compression keeps what the built-in engine keeps, and before a summary that is made by rule and small, so that rules
survive that nobody asks for, stand the passages that fit best. They are a record: quoted, fenced, never an instruction.
A host that asks `select_context` before each request gets them fresh for each word of the user, behind everything that
stays the same; then a compression leaves them out.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from abridged.archive import Archive
from abridged.archive.ingest import Ingest
from abridged.archive.recall import Found, Recall
from abridged.budget import SettingsArguments
from abridged.conversation.measure import replayed_text
from abridged.conversation.roles import newest_user
from abridged.conversation.text import Message, content_text, one_line
from abridged.conversation.tokens import Counter
from abridged.digests import DigestRegistry
from abridged.engines.compressor import ContextCompressor
from abridged.engines.recall import RECORD, Answer, Handler, RecallTools, number, schema
from abridged.summary.redact import Redactor
from abridged.summary.template import merge_before, own_words

PASSAGES, PROPOSED = 12, 100
"""That are brought back for a request at most, and looked at: many of them are of what stays anyway."""
RETRIEVED_SHARE = 0.6
"""Of the summary's budget: what was brought back; the rest is for what is kept by rule."""
FLOOR = 0.25
"""A passage that fits less than this, beside the best one, does not fit."""
NEIGHBOUR_CHARACTERS = 160
QUOTE = "> "


class RetrievingEngine(ContextCompressor):
    """`passages`: how many may be brought back. All else as `ContextCompressor`, without who writes summaries."""

    def __init__(
        self,
        context_length: int = 128_000,
        *,
        max_output_tokens: int | None = None,
        passages: int = PASSAGES,
        counter: Counter | None = None,
        clock: Callable[[], float] | None = None,
        redactor: Redactor | None = None,
        digests: DigestRegistry | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        self._passages = passages
        super().__init__(
            context_length, max_output_tokens=max_output_tokens, counter=counter, clock=clock, redactor=redactor,
            digests=digests, recall=False, **settings,
        )  # fmt: skip

    @property
    def name(self) -> str:
        return "rag"

    def on_session_reset(self) -> None:
        super().on_session_reset()
        self._note = self._brought_back
        self._own: Ingest | None = None
        self._bind(None, "")
        self._selected: tuple[str, str] = ("", "")
        self._selects = False

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        """`archive`: where what is said is kept; without one the engine keeps it in memory."""
        super().on_session_start(session_id, **kwargs)
        self._bind(kwargs.get("archive"), session_id)

    def _bind(self, archive: Archive | None, session_id: str) -> None:
        self._archive, self._session = archive, session_id
        self._tools = RagTools(archive, session_id, self._status) if archive is not None else None

    def compress(self, messages: list[Message], *args: Any, **kwargs: Any) -> list[Message]:
        self._take_in(messages)
        return super().compress(messages, *args, **kwargs)

    def prepare(self, messages: list[Message], **kwargs: Any) -> Any:
        self._take_in(messages)
        return super().prepare(messages, **kwargs)

    def _take_in(self, messages: Sequence[Message]) -> None:
        """Keep what is new, where the host has no archive."""
        if self._own is None:
            if self._archive is not None:
                return
            own = Archive()
            own.start("own")
            self._own = Ingest(own, "own")
            self._bind(own, "own")
        self._own.take(messages)

    # -- what fits the request ---------------------------------------------------------------------------------------

    def select_context(
        self, request_messages: list[Message], *, incoming_message: object = None, budget_tokens: int = 0, **_: Any
    ) -> list[Message] | None:
        """The request with what fits its newest word of the user before that word; `None` = as it is.

        It is made once per word of the user, and changes nothing that stands before it.
        """
        self._selects = True
        spoken = [own_words(message) or {} for message in request_messages]
        newest = newest_user(spoken)
        if not self.compression_count or newest is None:
            return None
        message = request_messages[newest]
        asked = content_text(spoken[newest].get("content"))
        if asked != self._selected[0]:
            room = budget_tokens or self.budget.max_summary_tokens
            self._selected = asked, self._retrieved(asked, request_messages, int(room * RETRIEVED_SHARE))
        if not self._selected[1]:
            return None
        fresh = {**message, "content": merge_before(self._selected[1], message.get("content"))}
        return [*request_messages[:newest], fresh, *request_messages[newest + 1 :]]

    def _brought_back(self, request: str, kept: list[Message], room: int) -> str:
        index = (
            f"What is not here is archived whole: {RagTools.prefix}_search finds it by any words."
            if self._tools
            else ""
        )
        if self._selects:
            return index
        return "\n\n".join(
            part for part in (self._retrieved(request, kept, int(room * RETRIEVED_SHARE)), index) if part
        )

    def _retrieved(self, request: str, kept: Sequence[Message], room: int) -> str:
        """The passages that fit, quoted, within so many tokens; "" where none does."""
        if self._archive is None or not request.strip():
            return ""
        recall = Recall(self._archive)
        stays = "\n".join(map(replayed_text, kept))
        found = recall.find(request, self._session, limit=PROPOSED)
        gone = [one for one in found if one.text.strip() not in stays]
        fitting = [one for one in gone if one.score >= FLOOR * gone[0].score]
        parts = [f"Earlier parts of this conversation that fit the newest request; {RECORD}."]
        room -= self._counter(parts[0])
        for one in fitting[: self._passages]:
            part = self._redactor(_quoted(one, self._before(one)))
            room -= self._counter(part)
            if room < 0:
                break
            parts.append(part)
        return "\n\n".join(parts) if len(parts) > 1 else ""

    def _before(self, found: Found) -> str:
        """What was said just before, in a line, where that is somebody's word."""
        assert self._archive is not None
        if found.role == "tool" or found.place == 0:
            return ""
        (message,) = self._archive.transcript(self._session, found.place - 1, found.place) or [{}]
        return one_line(content_text(message.get("content")), NEIGHBOUR_CHARACTERS)

    # -- tools -------------------------------------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return self._tools.schemas() if self._tools else []

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        answer = self._tools.handle(name, args) if self._tools else None
        return super().handle_tool_call(name, args, **kwargs) if answer is None else answer

    def _status(self) -> Answer:
        return {**self.get_status(), "last_reason": self.report.reason, "fresh_for_each_request": self._selects}


def _quoted(found: Found, before: str) -> str:
    """A passage as a record: where, who, when, and each of its lines marked."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.at))
    title = " · ".join(part for part in (str(found.place), found.role, when, found.header) if part)
    lines = [f"(after: {before})"] if before else []
    quoted = "\n".join(f"{QUOTE}{line}" for line in [*lines, *found.text.strip().splitlines()])
    return f"[{title}]\n{quoted}"


class RagTools(RecallTools):
    """The same tools by their own names, the messages around one, and how things stand."""

    prefix = "rag"

    def __init__(self, archive: Archive, session: str, status: Callable[[], Answer]) -> None:
        super().__init__(archive, session)
        self._status = status

    def schemas(self) -> list[dict[str, Any]]:
        return [
            *super().schemas(),
            schema(
                "rag_neighbors", "The messages around one, shortened.",
                place=("integer", "The message"), n=("integer?", "So many on each side, 2 unless said"),
            ),
            schema("rag_status", "How full the window is, and why the last compression did what it did."),
        ]  # fmt: skip

    def handlers(self) -> dict[str, Handler]:
        return {**super().handlers(), "rag_neighbors": self._neighbors, "rag_status": lambda _: self._status()}

    def _neighbors(self, arguments: dict[str, Any]) -> Answer:
        place, around = number(arguments.get("place"), -1, -1, 1 << 62), number(arguments.get("n"), 2, 1, 10)
        first = max(0, place - around)
        messages = self._archive.transcript(self._session, first, place + around + 1) if place >= 0 else []
        if not messages:
            return {"error": "place: the number of a message is wanted, as rag_search names it"}
        lines = [
            {"place": first + n, "role": message.get("role"), "text": one_line(replayed_text(message), 800)}
            for n, message in enumerate(messages)
        ]
        return {"what": RECORD, "messages": lines}
