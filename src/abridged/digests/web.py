"""Tools that fetch pages and drive a browser: the address or the element, and how much came back."""

from .reading import Call
from .registry import digest_for
from .wording import TARGET_CHARS, listed, one_line


@digest_for("web_extract", "browser_navigate", "WebFetch", "webfetch", "web_fetch", "fetch")
def page(call: Call) -> str:
    urls = call.texts("url", "urls") or [call.need("url", "prompt")]
    return f"{listed([one_line(url, TARGET_CHARS) for url in urls], shown=1)} ({call.size})"


@digest_for("browser_click")
def click(call: Call) -> str:
    return f"clicked {one_line(call.need('ref', 'element', 'selector'))} ({call.size})"


@digest_for("browser_type")
def type_text(call: Call) -> str:
    typed = one_line(call.text("text", "value"))
    return f"typed '{typed}' into {one_line(call.need('ref', 'element', 'selector'))} ({call.size})"


@digest_for("browser_scroll")
def scroll(call: Call) -> str:
    return f"scrolled {one_line(call.text('direction', default='down'), 20)} ({call.size})"


@digest_for("browser_snapshot")
def snapshot(call: Call) -> str:
    return f"{'full' if call.value('full') is True else 'compact'} page snapshot ({call.size})"


@digest_for("browser")
def script(call: Call) -> str:
    return f"`{one_line(call.need('code'), TARGET_CHARS)}` ({call.size})"
