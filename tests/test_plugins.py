"""Engines by plugin: every way to be broken is named, and none takes another one's place (spec: E5, E6)."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from abridged import ContextCompressor, ContextEngine, ContextSession
from abridged.archive import Archive
from abridged.errors import EngineLoadError, EngineNotFound
from abridged.plugins import FOLDER as PLACE
from abridged.plugins import engine_named, engines, health
from abridged.testing import assistant, user

ENGINE = '''
from abridged import ContextEngine

class Short(ContextEngine):
    """Keeps the last messages."""

    def __init__(self, context_length=1000):
        self.context_length = context_length
        self.threshold_tokens = 100

    name = "{name}"

    def update_from_response(self, usage):
        self.last_prompt_tokens = usage["prompt_tokens"]

    def should_compress(self, prompt_tokens=None):
        return (prompt_tokens or self.last_prompt_tokens) >= self.threshold_tokens

    def compress(self, messages, current_tokens=None, **kwargs):
        {compress}
'''


def plugin(folder: Path, name: str, code: str, description: str = "") -> Path:
    place = folder / "plugins" / "context_engine" / name
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(code)
    if description:
        (place / "plugin.yaml").write_text(f"description: {description}\n")
    return folder


def short(name: str = "short", compress: str = "return messages[-2:]", more: str = "") -> str:
    return ENGINE.format(name=name, compress=compress) + more


def test_empty_is_the_built_in_one():
    for name in (None, "", " ", "compressor"):
        engine = engine_named(name, context_length=32_000)
        assert isinstance(engine, ContextCompressor)
        assert engine.name == "compressor"


@pytest.mark.parametrize(
    "more",
    [
        "",
        "\ndef register(ctx):\n    ctx.register_context_engine(Short)\n",
        "\ndef register(ctx):\n    ctx.register_context_engine(Short(500))\n    ctx.register_command('x', print)\n",
        "\ndef register(ctx):\n    return Short\n",
    ],
)
def test_a_folder_gives_an_engine(more: str, tmp_path: Path):
    folder = plugin(tmp_path, "short", short(more=more), "Keeps little")
    engine = engine_named("short", [folder], context_length=500, digests=None)
    assert isinstance(engine, ContextEngine)
    assert engine.name == "short"
    assert engine.context_length == 500
    listed = {entry.name: entry for entry in engines([folder])}
    assert listed["short"].description == "Keeps little"
    assert listed["compressor"].source == "built in"


def test_the_example_is_one():
    folder = Path(__file__).resolve().parents[1] / "examples"
    engine = engine_named("window", [folder], context_length=1_000, turns=2)
    session = ContextSession.start("s", engine=engine, archive=":memory:")
    messages = [{"role": "system", "content": "Be brief."}]
    for n in range(9):
        messages += [user(f"ask {n}"), assistant(f"answer {n}")]
    session.after_response({"prompt_tokens": 900})
    kept = [message["content"] for message in session.after_turn(messages)]
    assert kept == ["Be brief.", "ask 0", "ask 7", "answer 7", "ask 8", "answer 8"]


def made(line: str) -> str:
    """One that does this when it is made."""
    return short().replace("self.threshold_tokens = 100", line)


BROKEN = [
    ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
    ("import nowhere_to_be_found", "ModuleNotFoundError"),
    ("def broken(:", "SyntaxError"),
    ("raise SystemExit(3)", "SystemExit"),
    ("x = 1", "registers no engine"),
    ("def register(ctx):\n    raise ValueError('at register')", "ValueError: at register"),
    ("def register(ctx):\n    ctx.register_context_engine(42)", "gives a int"),
    ("class Other: pass\ndef register(ctx):\n    ctx.register_context_engine(Other)", "no ContextEngine"),
    ("def register(ctx):\n    ctx.register_context_engine(lambda: 7)", "made a int"),
    ("def register(ctx):\n    ctx.nothing", "AttributeError"),
    (short(more="\nclass Second(Short): pass\n"), "gives 2 engines"),
    (short(name="another"), "calls itself 'another'"),
    ("def register(ctx):\n    ctx.register_context_engine(None)", "gives a NoneType"),
    ("def register(ctx):\n    yield 1", "gives a generator"),
    ("def register(ctx):\n    return 'short'", "gives a str"),
    ("def register(ctx):\n    raise SystemExit(0)", "SystemExit: 0 (__init__.py, line 2)"),
    ("register = 3", "'int' object is not callable"),
    ("raise RuntimeError('a\\nb')", "RuntimeError: a b (__init__.py, line 1)"),
    (
        "class Dumb(Exception):\n    def __str__(self):\n        raise ValueError\nraise Dumb",
        "Dumb (__init__.py, line 4)",
    ),
    ("x = '\0'", "SyntaxError"),
    ("from abridged import ContextEngine\ndef register(ctx):\n    return ContextEngine", "abstract"),
    (made("raise OSError('no disk')"), "cannot be made: OSError: no disk (__init__.py, line 9)"),
    (made("raise SystemExit(0)"), "cannot be made: SystemExit: 0"),
    (made("self.threshold_tokens = 'many'"), "its threshold_tokens is 'many', and a number of tokens is wanted"),
    (short().replace("context_length=1000", "banana"), "missing 1 required positional argument: 'banana'"),
    (short().replace('name = "short"', "@property\n    def name(self): raise OSError('none')"), "OSError: none"),
]


@pytest.mark.parametrize(("code", "cause"), BROKEN)
def test_a_broken_one_is_named_with_its_cause(code: str, cause: str, tmp_path: Path):
    folder = plugin(tmp_path, "short", code)
    with pytest.raises(EngineLoadError) as caught:
        engine_named("short", [folder])
    assert "'short'" in str(caught.value)
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)
    faults = {one.name: fault for one, fault in health([folder])}
    assert faults == {"compressor": "", "rag": "", **faults, "short": str(caught.value)}


def test_who_is_healthy_was_made_with_what_it_will_be_given(tmp_path: Path):
    folder = plugin(tmp_path, "short", short())
    assert {one.name: fault for one, fault in health([folder], context_length=5)}["short"] == ""
    faults = {one.name: fault for one, fault in health([folder], context_length=None)}
    assert "its context_length is None" in faults["short"]


def test_an_unknown_one_names_those_that_there_are(tmp_path: Path):
    with pytest.raises(EngineNotFound, match=r"there are: compressor, .*short"):
        engine_named("lmc", [plugin(tmp_path, "short", short())])


def test_two_of_one_name_are_one_too_many(tmp_path: Path):
    folders = [plugin(tmp_path / "a", "short", short()), plugin(tmp_path / "b", "short", short())]
    with pytest.raises(EngineLoadError, match="there are 2 of this name"):
        engine_named("short", folders)
    assert [fault for one, fault in health(folders) if one.name == "short"] == 2 * [
        f"engine 'short': there are 2 of this name: {', '.join(str(one / PLACE / 'short') for one in folders)}"
    ]
    assert engine_named("compressor", folders).name == "compressor"


def test_the_built_in_one_is_not_replaced_in_silence(tmp_path: Path):
    folder = plugin(tmp_path, "compressor", short("compressor"))
    for name in (None, "compressor"):
        with pytest.raises(EngineLoadError, match="there are 2 of this name: built in, "):
            engine_named(name, [folder])


def test_one_folder_by_two_paths_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plugin(tmp_path, "short", short())
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert engine_named("short", [Path(), tmp_path, tmp_path / "link"]).name == "short"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may look everywhere")
def test_a_folder_that_cannot_be_looked_into_is_named(tmp_path: Path):
    folder = plugin(tmp_path, "short", short())
    (folder / PLACE).chmod(0)
    assert ("context_engine", "engine 'context_engine': Permission denied") in [
        (one.name, fault) for one, fault in health([folder])
    ]
    (folder / PLACE).chmod(0o700)


def test_what_is_no_folder_is_none(tmp_path: Path):
    (tmp_path / "plugins").write_text("no folder")
    assert [one.name for one in engines([tmp_path, tmp_path / "nowhere"])] == [one.name for one in engines()]


@pytest.mark.parametrize(
    "compress",
    [
        "raise ZeroDivisionError('at work')",
        "return None",
        "return 'rubbish'",
        "return [1]",
        "return []",
        "raise SystemExit(2)",
    ],
)
def test_a_conversation_survives_an_engine_that_fails(compress: str, tmp_path: Path):
    engine: Any = engine_named("short", [plugin(tmp_path, "short", short(compress=compress))])
    session = ContextSession.start("s", engine=engine, archive=":memory:")
    messages = [user("one"), assistant("two"), user("three")]
    session.after_response({"prompt_tokens": 900})
    assert session.after_turn(messages) is messages
    assert "short" in session.engine_fault
    assert session.compress(messages) is messages


METHODS = [
    "on_session_start", "on_session_end", "on_session_reset", "update_from_response", "should_compress",
    "should_compress_preflight", "export_state", "import_state",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("does", ["raise RuntimeError('at work')", "raise SystemExit(2)"])
def test_a_conversation_survives_an_engine_that_fails_anywhere(method: str, does: str, tmp_path: Path):
    code = short(more=f"    def {method}(self, *args, **more):\n        {does}\n")
    engine: Any = engine_named("short", [plugin(tmp_path, "short", code)])
    archive = Archive()
    session = ContextSession.start("s", engine=engine, archive=archive)
    messages = session.before_request([user("one"), assistant("two"), user("three")])
    session.after_response({"prompt_tokens": 50})
    messages = session.after_turn([*messages, assistant("four")])
    session.close(messages)
    assert archive.transcript("s") == messages
    again = ContextSession.start("s", engine=engine, archive=archive)
    again.reset()
    faults = session.engine_fault + again.engine_fault
    assert "RuntimeError: at work" in faults or "SystemExit: 2" in faults


def test_a_state_that_is_no_json_stops_nothing(tmp_path: Path):
    code = short(more="    def export_state(self):\n        return {'at': object(), 'set': {1}}\n")
    engine: Any = engine_named("short", [plugin(tmp_path, "short", code)])
    session = ContextSession.start("s", engine=engine, archive=":memory:")
    session.after_turn([user("one"), assistant("two")])
    assert session.archive_fault == ""


def test_a_folder_without_code_is_listed_and_named(tmp_path: Path):
    (tmp_path / "plugins" / "context_engine" / "empty").mkdir(parents=True)
    assert "empty" in [one.name for one in engines([tmp_path])]
    with pytest.raises(EngineLoadError, match=r"has no __init__\.py"):
        engine_named("empty", [tmp_path])


@pytest.mark.parametrize("text", ["description: [", "- a\n", "\0", "name: x\n", "description:\n", "description: [a]"])
def test_a_description_that_cannot_be_read_is_none(text: str, tmp_path: Path):
    folder = plugin(tmp_path, "short", short())
    (folder / "plugins" / "context_engine" / "short" / "plugin.yaml").write_text(text)
    assert {one.name: one.description for one in engines([folder])}["short"] == ""
    assert engine_named("short", [folder]).name == "short"


def test_a_plugin_of_several_files_and_a_name_that_is_no_identifier(tmp_path: Path):
    folder = plugin(tmp_path, "my-engine", "from .inner import Short\n\ndef register(ctx):\n    return Short\n")
    (folder / "plugins" / "context_engine" / "my-engine" / "inner.py").write_text(short("my-engine"))
    assert engine_named("my-engine", [folder]).name == "my-engine"


def test_an_engine_in_another_file_of_its_plugin_is_found(tmp_path: Path):
    more = "\nThe = Short\nfrom abridged import ContextCompressor as Base\n"
    folder = plugin(tmp_path, "short", "from .inner import Short\n" + more)
    (folder / PLACE / "short" / "inner.py").write_text(short())
    assert engine_named("short", [folder]).name == "short"


def test_names_that_look_alike_are_two_plugins(tmp_path: Path):
    late = "from .inner import WHO; return [{'role': 'user', 'content': WHO}]"
    for name in ("my.engine", "my_engine", "my-engine"):
        plugin(tmp_path, name, short(name, compress=late))
        (tmp_path / PLACE / name / "inner.py").write_text(f"WHO = {name!r}\n")
    made = [engine_named(name, [tmp_path]) for name in ("my.engine", "my_engine", "my-engine")]
    assert [engine.compress([])[0]["content"] for engine in made] == ["my.engine", "my_engine", "my-engine"]


def test_what_a_plugin_is_made_of_is_read_anew(tmp_path: Path):
    """A part that failed half-way, or was changed, is not kept from the last time."""
    folder = plugin(tmp_path, "short", "from .parts import one, two\n" + short())
    parts = folder / PLACE / "short" / "parts"
    parts.mkdir()
    (parts / "__init__.py").write_text("")
    (parts / "one.py").write_text("")
    (parts / "two.py").write_text("raise OSError('half-way')\n")
    for _ in range(2):
        with pytest.raises(EngineLoadError, match=r"OSError: half-way \(two\.py, line 1\)"):
            engine_named("short", [folder])
        assert not [one for one in sys.modules.values() if str(tmp_path) in str(getattr(one, "__file__", ""))]
    (parts / "two.py").write_text("# mended by now\n")
    assert engine_named("short", [folder]).name == "short"
    (parts / "one.py").write_text("raise OSError('broken meanwhile')\n")
    with pytest.raises(EngineLoadError, match="broken meanwhile"):
        engine_named("short", [folder])


def test_many_threads_want_one_plugin(tmp_path: Path):
    folder = plugin(tmp_path, "short", "from .inner import Short\n")
    (folder / PLACE / "short" / "inner.py").write_text("import time\ntime.sleep(0.01)\n" + short())
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: engine_named("short", [folder]).name, range(24)))
    assert made == ["short"] * 24


def test_a_plugin_that_was_mended_loads_the_next_time(tmp_path: Path):
    folder = plugin(tmp_path, "short", "import not_yet_there\n")
    with pytest.raises(EngineLoadError, match="not_yet_there"):
        engine_named("short", [folder])
    code = folder / "plugins" / "context_engine" / "short" / "__init__.py"
    code.write_text(short() + "# mended\n")
    assert engine_named("short", [folder]).name == "short"


def package(folder: Path, points: str, code: str = "") -> None:
    """An installed package with entry points."""
    info = folder / "somebodys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[abridged.engines]\n{points}\n")
    if code:
        (folder / "somebodys_code.py").write_text(code)


@pytest.mark.parametrize(
    ("points", "cause"),
    [
        ("there = somebodys_code:Short", "calls itself 'packed'"),
        ("packed = nowhere_at_all:Short", "No module named 'nowhere_at_all'"),
        ("packed = somebodys_code:Missing", "Missing"),
        ("packed = somebodys_code:answer", "gives a int"),
        ("packed = somebodys_end:Short", "SystemExit: 0"),
        ("packed = no module at all", ""),
    ],
)
def test_a_broken_package_is_named_with_its_cause(
    points: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package(tmp_path, points, short("packed", more="\nanswer = 42\n"))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "somebodys_end.py").write_text("raise SystemExit(0)\n")
    monkeypatch.delitem(sys.modules, "somebodys_code", raising=False)
    name = points.split()[0]
    assert cause in {one.name: fault for one, fault in health()}[name]
    with pytest.raises(EngineLoadError) as caught:
        engine_named(name)
    assert f"'{name}'" in str(caught.value)
    assert cause in str(caught.value)


def test_a_package_gives_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package(tmp_path, "packed = somebodys_code:Short", short("packed"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "somebodys_code", raising=False)
    assert engine_named("packed").name == "packed"
    assert {one.name: one.source for one in engines()}["packed"] == "package somebodys"
