"""What of a message is searched, and how a query is asked: words, identifiers by their parts, Chinese by characters."""

import re

from abridged.conversation.measure import replayed_text
from abridged.conversation.text import Message

_CJK = re.compile(r"([぀-ヿ㐀-鿿豈-﫿가-힯])")
_TERM = re.compile(r'"([^"]*)"|(\S+)')
MOST_CHARS = 50_000
"""Of one message; what is longer is data, and is found by its beginning."""


def searched_text(message: Message) -> str:
    """The text of a message as it is indexed; half characters cannot be."""
    return spaced(replayed_text(message)[:MOST_CHARS].encode("utf-8", "replace").decode())


def spaced(text: str) -> str:
    """The text with blanks around each Chinese, Japanese or Korean character, so that each is a word."""
    return text if text.isascii() else _CJK.sub(r" \1 ", text)


def query_for(asked: str) -> str:
    """A full-text query: all of the words, each by its parts in their order; what stands in quotes as a phrase.

    "" where nothing can be sought.
    """
    terms: list[str] = []
    for quoted, word in _TERM.findall(asked):
        parts = re.findall(r"\w+", spaced(quoted or word).replace("_", " "))
        if parts:
            terms.append('"' + " ".join(parts) + '"')
    return " AND ".join(terms)
