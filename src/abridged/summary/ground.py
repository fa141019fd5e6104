"""Grounding: what a model wrote is compared with what was said, and what nobody said is taken out (spec: P3.9).

A sentence goes that names a file, an id, a number with its unit, or quotes words, that stand in no message and in no
earlier summary; that tells of a wish of the user's that no message of the user's carries; or that calls done what the
messages show as failed. What the model left out is added elsewhere: the ledger's lines compete with the model's.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from abridged.conversation.measure import replayed_text
from abridged.conversation.roles import is_system
from abridged.conversation.text import Message, content_text
from abridged.report import Removed
from abridged.summary.document import Item, SummaryDocument
from abridged.summary.evidence import telling_errors
from abridged.summary.ledger import Ledger
from abridged.summary.lines import normal
from abridged.summary.words import names_in

_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[^\s.])|(?<=[。！？；])|\n+")
_UNIT = (
    r"(?:[kKMGT]i?[bB]|[bB]ytes?|ns|[uµm]s|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|months?|%|per ?cent|"
    r"px|fps|[kMG]?Hz|rows?|tests?|tokens?|EUR|USD|€|\$|秒|分钟|小时|天|周|元)"
)
_MEASURE = re.compile(rf"(?<![\w.,-])(\d[\d.,]*)\s?{_UNIT}(?![\w])")
_DOLLARS = re.compile(r"[$€£¥](\d[\d.,]*)")
_QUOTE = re.compile(r"“([^“”]{6,})”|「([^「」]{3,})」|『([^『』]{3,})』|(?<![\w=\\])\"([^\"\n]{8,})\"(?!\w)")
_USER_SAID = re.compile(
    r"\buser(?:[’']s)? (?:also |then |explicitly |now |later |originally |initially |further )?"
    r"(?:ask|request|want|wish|sa(?:id|ys)|told|tell|demand|insist|prefer|need|require|instruct|order|expect|"
    r"would like|complain|report|mention|state|confirm|approv|agree|reject|decid)\w*|"
    r"\b(?:asked|requested|told|instructed) by the user|\bper (?:the )?user\b|"
    r"用户(?:还|又|也|明确|后来|最初)?(?:要求|希望|想|说|问|请求|需要|指示|确认|同意|提出|拒绝|坚持|提到)",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|succe(?:ed|eds|eded|ssful|ssfully)|green|fixed|resolved|done|works|worked|working|"
    r"complete[ds]?|solved|finished|ok|clean|no (?:more )?(?:errors?|failures?))\b|"
    r"exit(?:ed)?(?: with)?(?: code)? 0\b|成功|通过|完成|修复|解决|正常",
    re.IGNORECASE,
)
_NO_SUCCESS = re.compile(
    r"\b(?:not|never|no longer|fail\w*|un\w+ed|still|yet|except|but|error\w*|exit(?: code)? [1-9]\d*|broken|cannot|"
    r"can[’']t|incomplete|pending|todo|unless|until|before|if|should|must|to be)\b|未|没有|失败|不|仍|尚|错误",
    re.IGNORECASE,
)
_ALL_TESTS = re.compile(
    r"\ball\b[^.]{0,30}\btests?\b|\bevery test\b|\btest suite\b|\bsuite (?:is|was|now|passe[sd])\b|"
    r"\btests (?:now |all |are |were |have )*(?:pass\w*|green|succe\w+|fixed)|"
    r"(?:全部|所有|全都).{0,6}测试|测试.{0,6}通过",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\[nrt\"'\\]")
_LONG_CHARS = 1_500
"""Characters of a message from which on each paragraph of it counts by itself."""
_PROTOCOL = re.compile(
    r"^\s*(?:\[(?:USER|ASSISTANT|SYSTEM|DEVELOPER|TOOL RESULT|Tool calls)\b|<<<|[A-Z ]+ [0-9a-f]{12}>>>)|"
    r"^\s*(?:</?(?:system|user|assistant|summary|tool_result|instructions)>)|"
    r"--- ?END OF CONTEXT SUMMARY|\[CONTEXT (?:COMPACTION|SUMMARY)",
)
_SAYS_SOMETHING = re.compile(r"[^\W\d_]{2}|\d{3}")
_WORD = re.compile(r"[a-z][a-z']{3,}|[0-9]{2,}|[㐀-鿿]{2,}|[^\W\d_a-z㐀-鿿]{4,}")
_COMMON = frozenset(
    (  # noqa: SIM905
        "user asked wants that this with from have been should would must will them they their there then than when "
        "what which into about also only never always please make sure need needs request requested current assistant "
        "following using used does done after before other some more most such each every under over your ours code "
        "file files work task tasks"
    ).split()
)
"""Words that stand in every claim and support none."""
_USERS_OWN = frozenset({"Constraints & Preferences", "Pending User Asks"})
"""Sections that hold nothing but what the user said."""
_ABOUT_WORK = frozenset({"Goal", "In Progress", "Remaining Work"})
"""Sections that may be put in other words, but not in words that nobody used."""
_OPEN = frozenset({"Blocked", "In Progress", "Remaining Work", "Pending User Asks"})
"""Sections of what is not finished."""
SUPPORT = 0.6
"""The share of a claim's words that one message of the user has to hold."""
SHOWN_CHARS = 160
"""What of a removed sentence is reported."""
_MOST_SOURCES = 3
_QUOTED_CHARS = 30
"""A shorter sentence is said too easily to be somebody's own words."""


@dataclass(slots=True)
class Grounded:
    """A model's document without what nobody said."""

    document: SummaryDocument
    removed: list[Removed] = field(default_factory=list[Removed])


class Record:
    """Everything that was said: what a claim is compared with. Texts are read when they are first needed."""

    def __init__(self, messages: list[Message], previous: Iterable[str], focus_topic: str | None = None) -> None:
        self._messages = messages
        self._more = [*previous, *([focus_topic] if focus_topic else [])]
        self._known: dict[str, bool] = {}

    @cached_property
    def text(self) -> str:
        """All of it in lower case, white space folded; what holds escapes stands there without them as well."""
        texts = [text.lower() for text in (*map(replayed_text, self._messages), *self._more)]
        texts += [_ESCAPE.sub(" ", text) for text in texts if "\\" in text]
        return "\n".join(" ".join(text.split()) for text in texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words that were used."""
        return _words(self.text)

    @cached_property
    def of_users(self) -> list[frozenset[str]]:
        """The words of each paragraph that a person or the system prompt wrote, and of each line of a summary."""
        said = [
            content_text(message.get("content"))
            for message in self._messages
            if message.get("role") == "user" or is_system(message)
        ]
        paragraphs = [piece for text in said for piece in (text.split("\n\n") if len(text) > _LONG_CHARS else [text])]
        lines = [line for text in self._more for line in text.split("\n")]
        return [words for words in map(_words, (*paragraphs, *lines)) if words]

    def holds(self, phrase: str, *, cut: bool = False) -> bool:
        """Whether somebody wrote this as whole words, whatever the case and the white space.

        `cut`: what follows it was left out, so the last word may be longer.
        """
        phrase = " ".join(phrase.lower().split())
        key = f"{phrase}…" if cut else phrase
        if key not in self._known:
            whole = rf"(?<!\w){re.escape(phrase)}" + ("" if cut else r"(?!\w)")
            self._known[key] = phrase in self.text and bool(re.search(whole, self.text))
        return self._known[key]

    def uses_words_of(self, claim: str) -> bool:
        """Whether most of a claim's words were used by anybody."""
        words = _words(claim)
        return len(words & self.words) >= SUPPORT * len(words)

    def holds_number(self, number: str) -> bool:
        """Whether a number stands somewhere by itself."""
        key = f"\0{number}"
        if key not in self._known:
            plain = number.rstrip(".,").replace(",", "")
            forms = {re.escape(number.rstrip(".,")), re.escape(plain)}
            self._known[key] = bool(re.search(rf"(?<![\d.])(?:{'|'.join(sorted(forms))})(?![\d]|\.\d)", self.text))
        return self._known[key]

    def user_said(self, claim: str) -> bool:
        """Whether one message of the user's carries most of a claim's words."""
        words = _words(claim)
        if not words:
            return True
        needed = SUPPORT * len(words)
        return any(len(words & said) >= needed for said in self.of_users)


def ground(document: SummaryDocument, record: Record, ledger: Ledger) -> Grounded:
    """The document without what the record does not hold; items know the messages that they tell of."""
    work = _Grounding(record, ledger)
    for title, items in document.sections.items():
        items[:] = [item for item in (work.mended(title, item) for item in items) if item]
    for label, names in document.index.items():
        document.index[label] = [name for name in names if record.holds(name) or work.drop(name, "named by nobody")]
    return Grounded(document, work.removed)


class _Grounding:
    def __init__(self, record: Record, ledger: Ledger) -> None:
        self.record = record
        self.ledger = ledger
        self.removed: list[Removed] = []
        self.failing = set(ledger.failing)
        self.failing_names = {
            name
            for key, output in ledger.failing.items()
            for line in (key, *telling_errors(output))
            for name in names_in(line)
        }
        self.tests_failing = any(
            line.section == "Active State" and line.key == "last test run" and re.search(r"exit [1-9]", line.text)
            for line in ledger.lines
        )

    def drop(self, text: str, why: str) -> None:
        self.removed.append(Removed(" ".join(text.split())[:SHOWN_CHARS], why))

    def mended(self, title: str, item: Item) -> Item | None:
        """The item with its sound sentences alone; `None` where none is left, or where it stands in the wrong place."""
        kept: list[str] = []
        for sentence in filter(None, map(str.strip, _SENTENCE.split(item.text))):
            why = self._fault(title, sentence)
            if why:
                self.drop(sentence, why)
            else:
                kept.append(sentence)
        text = " ".join(kept)
        if not _SAYS_SOMETHING.search(text):  # what is left of "1. Wrote ghost.py" says nothing
            return None
        if title in _OPEN and self._is_finished(text):
            self.drop(text, "finished, and listed as open")
            return None
        return Item(text, self._sources(text))

    def _fault(self, title: str, sentence: str) -> str:
        """Why a sentence cannot stand; "" where it can."""
        if _PROTOCOL.search(sentence):
            return "a label of the record"
        record = self.record
        for name in names_in(sentence):
            whole = name.rstrip("…")
            cut = whole != name or f"{name}…" in sentence or f"{name}..." in sentence
            if name not in self.ledger.facts and not record.holds(whole, cut=cut):
                return "names what no message names"
        for number in (*_MEASURE.findall(sentence), *_DOLLARS.findall(sentence)):
            if not record.holds_number(number):
                return "a number that no message holds"
        for match in _QUOTE.finditer(sentence):
            quote = str(match[match.lastindex or 0]).strip(" .…,;:")
            if quote and not record.holds(quote):
                return "quotes what nobody said"
        if (title in _USERS_OWN or _USER_SAID.search(sentence)) and not record.user_said(sentence):
            return "a wish that the user did not state"
        if title in _ABOUT_WORK and not record.uses_words_of(sentence):
            return "work that nobody spoke of"
        return "called done, and failed" if self._is_false_success(title, sentence) else ""

    def _is_false_success(self, title: str, sentence: str) -> bool:
        if title in _OPEN or not (self.failing or self.tests_failing):
            return False
        if not _SUCCESS.search(sentence) or _NO_SUCCESS.search(sentence):
            return False
        if len(sentence) >= _QUOTED_CHARS and self.record.holds(sentence.rstrip(".")):
            return False  # somebody said it in these words, of the moment at which he said it
        if self.tests_failing and _ALL_TESTS.search(sentence):
            return True
        low = normal(sentence)
        return any(key in low for key in self.failing) or not self.failing_names.isdisjoint(names_in(sentence))

    def _is_finished(self, text: str) -> bool:
        """Whether the work that an open item speaks of ended well, by its own words."""
        low = normal(text.replace("`", ""))
        return any(
            len(key) >= 8 and key not in self.failing and re.search(rf"(?<!\w){re.escape(key)}(?!\w)", low)
            for key in self.ledger.succeeded
        )

    def _sources(self, text: str) -> tuple[int, ...]:
        """The newest messages that name what the item names, rare names first."""
        facts = [fact for name in names_in(text) if (fact := self.ledger.facts.get(name))]
        facts.sort(key=lambda fact: fact.user + fact.argument + fact.assistant + fact.result)
        return tuple(sorted({fact.last for fact in facts[:_MOST_SOURCES]}))


def _words(text: str) -> frozenset[str]:
    """The words of a text that say something: long ones by their beginning, Chinese ones by pairs of characters."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if "㐀" <= word[0] <= "鿿":
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _COMMON:
            found.add(word[:5])
    return frozenset(found)
