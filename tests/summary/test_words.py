"""Names and hints are read word by word, and a word that was seen before tells the same again."""

from hypothesis import given
from hypothesis import strategies as st

from abridged.summary import words
from abridged.summary.redact import redact
from abridged.summary.words import names_in, read

_PIECES = st.sampled_from(
    [
        "token", '"token', "token:", "the", "is", "=", ":", "key", "secret", "'secret", "password", "PWD:", "Bearer",
        "api", "API_KEY=", "https://kim:", "sk-" + "Zq7" * 12, "Zq7" * 8, "hunter2x9", "src/app/main.py", "A-1009",
        "value", "|", "credentials", "cookie:", "sid=abc1", "-u", "curl", "名称", "密码", "是", "-b", "kim:hunter2x9",
        "sshpass", "-p", "mysql", "docker", "login", "echo", "sudo", "-S", "IDENTIFIED", "BY", "'hunter2x9'", "=",
        "code=", "kind:", "Secret", "data:\n dsn:", "machine", "passin", "pass:", "_pass", "_KEY:", "auth", "x?",
        "sig=", "app", "basic", "Authorization:", "Private-Lines:", "\\u5bc6\\u7801", "\\u662f", "Zq7Zq7Zq7.G",
        "secret_",
    ]
)  # fmt: skip
_TEXTS = st.lists(st.tuples(_PIECES, st.sampled_from([" ", "\n", "", '"', ", "])), max_size=12).map(
    lambda parts: "".join(word + joint for word, joint in parts)
)


@given(_TEXTS)
def test_a_text_without_a_hint_holds_no_secret(text: str):
    # spec: P3.12
    assert read(text)[1] or redact(text) == text


@given(_TEXTS)
def test_a_second_look_tells_the_same(text: str):
    words._dull.clear()
    words._told_by.cache_clear()
    first = read(text)
    assert read(text) == first


def test_dull_words_are_not_kept_without_end():
    for number in range(words._MOST_DULL + 10):
        names_in("".join(chr(97 + int(digit)) for digit in str(number)))
    assert len(words._dull) <= words._MOST_DULL
