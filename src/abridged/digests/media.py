"""Tools that see, draw and speak: what was asked, and where the outcome lies."""

from .reading import Call
from .registry import digest_for
from .wording import TARGET_CHARS, one_line, short_path


@digest_for("vision_analyze", "browser_vision")
def look(call: Call) -> str:
    return f"'{one_line(call.need('question', 'prompt', 'user_prompt'), TARGET_CHARS)}' ({call.size})"


@digest_for("image_generate", "text_to_speech")
def make(call: Call) -> str:
    wish = one_line(call.need("prompt", "text"), TARGET_CHARS)
    outcome = call.answer("file_path", "path", "image", "url", "audio_path")
    where = f" -> {short_path(outcome)}" if outcome else ""
    return f"'{wish}'{where} ({call.size} result)"
