"""Names and values that a later step may need letter for letter; words of prose are none."""

import pytest

from abridged.summary.identifiers import MAX_CHARS, kind_of, labels_in, shape_of
from abridged.summary.words import names_in

# spec: P3.9
KINDS = [
    ("src/app/main.py", "path"),
    ("/etc/nginx/nginx.conf", "path"),
    ("~/notes.txt", "path"),
    ("./run.sh", "path"),
    ("main.py", "path"),
    ("README.md", "path"),
    ("postgres://db.internal:5432/app", "url"),
    ("kim@example.com", "email"),
    ("--no-cache", "flag"),
    ("2024-05-01", "date"),
    ("2024-05-01T10:00:00Z", "date"),
    ("10:15:30", "time"),
    ("3.11.4", "version"),
    ("v2.0.1-rc1", "version"),
    ("https://example.com/a/b", "url"),
    ("8080", "number"),
    ("$1299.00", "number"),
    ("250ms", "number"),
    ("deadbeef1", "hash"),
    ("ERR-4042", "code"),
    ("PROJ-17", "code"),
    ("HAT083", "code"),
    ("user_42", "id"),
    ("toolu_01A", "id"),
    ("EHGLP3", "id"),
    ("parse_header", "symbol"),
    ("parseHeader", "symbol"),
    ("os.environ", "symbol"),
    ("std::vector", "symbol"),
    ("__init__", "symbol"),
]
PROSE = [
    "the",
    "parser",
    "Parser",
    "ERROR",
    "TODO",
    "and/or",
    "e.g.",
    "U.S.A.",
    "ok",
    "a.b",
    "12",
    "yes.No",
    "继续",
    "",
]


@pytest.mark.parametrize(("token", "kind"), KINDS)
def test_kinds(token: str, kind: str):
    assert kind_of(token) == kind or (kind, kind_of(token)) in {("id", "code"), ("symbol", "path")}
    assert token in names_in(f"look at {token} now")


@pytest.mark.parametrize("token", PROSE)
def test_prose_is_no_name(token: str):
    # spec: P3.9
    assert kind_of(token) is None
    assert token not in names_in(f"look at {token} now")


def test_marks_around_a_name_do_not_count():
    # spec: P3.9
    text = "See `src/a.py`, (ERR-17), \"user_42\"; **parse_header**: 'b.txt'. [c.md] <d.rs> 错误ERR-18，见e.go。"
    assert set(names_in(text)) == {
        "src/a.py", "ERR-17", "user_42", "parse_header", "b.txt", "c.md", "d.rs", "ERR-18", "e.go",
    }  # fmt: skip


def test_names_inside_json_and_code():
    # spec: P3.9
    found = names_in('{"order_id": "A-1009", "path": "src/x.py"} port=8443 f(user_7)')
    assert {"A-1009", "src/x.py", "8443", "user_7"} <= found.keys()


@pytest.mark.parametrize("name", ["25159ea", "1234567ac"])
def test_a_short_hash_is_no_number(name: str):
    # spec: P3.9
    assert kind_of(name) == "hash"


@pytest.mark.parametrize("name", ["https://example.com/a?b=1&c=2", "https://example.com/a,b"])
def test_a_name_is_found_whole(name: str):
    # spec: P3.9
    assert name in names_in(f"look at {name} now")


def test_a_line_number_is_no_part_of_a_name():
    # spec: P3.9: grep and tracebacks name a file once per line; the file is what is named
    assert list(names_in("src/a.py:42 12:src/b.py lib/c.c:3:7")) == ["src/a.py", "src/b.py", "lib/c.c"]


def test_a_name_may_hold_other_letters():
    # spec: P3.9
    assert list(names_in("pytest tests/test_订单_9.py 见e.go。用test_a和test_b src/订单/总.py")) == [
        "tests/test_订单_9.py", "e.go", "test_a", "test_b", "src/订单/总.py",
    ]  # fmt: skip


def test_data_is_no_name():
    # spec: P3.9
    assert kind_of("a1" * MAX_CHARS) is None
    assert names_in("A1b2" * 5_000) == {}


def test_labels_are_json_keys():
    # spec: P3.9
    text = '{"reservation_id": "EHGLP3", "total": 1299.5, "note": "two words", "id": "x"}'
    assert labels_in(text) == {"EHGLP3": "reservation_id", "1299.5": "total"}
    assert labels_in("no json here") == {}


def test_shapes():
    # spec: P3.9
    assert shape_of("HAT083") == shape_of("HAT271") != shape_of("user_42")
