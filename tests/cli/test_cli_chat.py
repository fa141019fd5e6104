"""`abridged chat` as a process: what is wrong before it begins, and what a pipe gets."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.chat.onlooker import served
from tests.chat.server import Model
from tests.cli.cli_sessions import COMMAND


class Here:
    """A folder, a home, a server."""

    def __init__(self, folder: Path, model: Model, url: str) -> None:
        self.folder, self.model, self.url = folder, model, url

    def chat(self, *arguments: str, said: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder.parent), "COLUMNS": "100", **variables}
        return subprocess.run(
            [*COMMAND, "chat", *arguments], cwd=self.folder, input=said, capture_output=True, text=True, check=False,
            timeout=60, env=environment,
        )  # fmt: skip

    def talk(self, said: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.chat("--model", "small", "--base-url", self.url, *arguments, said=said, **variables)

    def settings(self, text: str) -> None:
        (self.folder / ".abridged").mkdir(exist_ok=True)
        (self.folder / ".abridged" / "config.yaml").write_text(text)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    folder = tmp_path / "project"
    folder.mkdir()
    model = Model()
    with served(model) as url:
        yield Here(folder, model, url)


@pytest.mark.parametrize(
    ("arguments", "settings", "advice"),
    [
        ((), "", "--model NAME, or model.name in"),
        (("--model", "gpt-9"), "", "set OPENAI_API_KEY"),
        (("--model", "gpt-9", "--base-url", "https://openrouter.ai/api/v1"), "", "set OPENROUTER_API_KEY"),
        (("--model", "small", "--base-url", "http://127.0.0.1:1/v1", "--resume"), "", "`abridged chat` begins one"),
        (("--model", "small", "--base-url", "http://127.0.0.1:1/v1", "--session", "ab"), "", "`abridged archive ls`"),
        (("--model", "small", "--base-url", "http://127.0.0.1:1/v1", "--context-length", "0"), "", "context-length"),
        (("--config", "nowhere.yaml"), "", "nowhere.yaml"),
        (("--no-such-option",), "", "--no-such-option"),
        ((), "modle:\n  name: small\n", "did you mean model?"),
        ((), "model: {name: small, context_length: many}\n", "a whole number"),
        ((), "compression:\n  threshold_percent: 5\n", "from 0.01 to 1.0"),
        ((), "context: {engine: lcm2}\nmodel: {name: s, base_url: 'http://127.0.0.1:1/v1'}\n", "lcm2"),
    ],
)
def test_what_cannot_begin_is_one_line_with_what_to_do(
    arguments: tuple[str, ...], settings: str, advice: str, here: Here
):
    if settings:
        here.settings(settings)
    done = here.chat(*arguments)
    assert done.returncode == 2
    assert advice in done.stderr
    if "no-such-option" not in advice:
        assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("url", "advice"),
    [("http://127.0.0.1:1/v1", "is the server running"), ("http://no-such-host.invalid/v1", "set OPENAI_API_KEY"),
     ("127.0.0.1:1", "http:// or https:// has to stand before it")],
)  # fmt: skip
def test_a_server_that_is_not_there(url: str, advice: str, here: Here):
    done = here.chat("--model", "small", "--base-url", url, said="Hello\n")
    assert done.returncode in (1, 2)
    assert advice in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_key(here: Here):
    here.model.key = "right"
    done = here.talk("Hello\n", OPENAI_API_KEY="sk-wrong-0123456789abcdef")
    assert done.returncode == 1
    assert "refuses the key: set OPENAI_API_KEY" in done.stderr
    assert "sk-wrong" not in done.stderr
    assert here.talk("Hello\n", OPENAI_API_KEY="right").stdout == "You said: Hello\n"


def test_lines_from_a_pipe(here: Here):
    done = here.talk("Hello\n/status\nAnd again\n")
    assert done.returncode == 0
    assert done.stdout == "You said: Hello\nYou said: And again\n"
    assert "compressed from" in done.stderr
    assert here.model.faults == []


def test_a_first_word_on_the_command_line(here: Here):
    assert here.talk("", "Hello there").stdout == "You said: Hello there\n"


def test_nobody_to_ask_means_no(here: Here):
    done = here.talk("write\n")
    assert "--yes would allow it" in done.stdout
    assert not (here.folder / "notes.txt").exists()
    here.talk("write\n", "--yes")
    assert (here.folder / "notes.txt").exists()


def test_words_only(here: Here):
    here.talk("Hello\n", "--no-tools")
    assert here.model.tools == []


def test_all_of_it_from_the_settings(here: Here):
    (here.folder / "AGENTS.md").write_text("Never push to main.")
    here.settings(f"model: {{name: small, base_url: '{here.url}', context_length: 32000}}\n")
    done = here.chat(said="write\n/status\n", ABRIDGED_CHAT__ASK="false")
    assert (here.folder / "notes.txt").exists()
    assert "window 32,000" in done.stderr
    assert "Never push to main." in here.model.prompts[0][0]["content"]


def test_a_file_that_came_with_a_clone_decides_nothing_dangerous(here: Here):
    here.settings(f"model: {{name: small, base_url: '{here.url}'}}\nchat: {{ask: false}}\n")
    done = here.chat(said="write\n")
    assert not (here.folder / "notes.txt").exists()
    assert "chat.ask: false is not followed" in done.stderr
    here.chat("--config", ".abridged/config.yaml", said="write\n")
    assert (here.folder / "notes.txt").exists()
    here.settings("model: {name: small, base_url: 'https://elsewhere.invalid/v1'}\n")
    done = here.chat(said="Hello\n", OPENAI_API_KEY="sk-0123456789abcdef")
    assert done.returncode == 2
    assert "is not on this machine; say so yourself" in done.stderr
    here.settings("summarizer: {model: x, base_url: 'https://elsewhere.invalid/v1'}\n")
    done = here.talk("Hello\n", OPENAI_API_KEY="sk-0123456789abcdef")
    assert (done.returncode, "summarizer.base_url" in done.stderr) == (2, True)


def test_the_window_is_as_set_or_as_the_server_says_or_usual(here: Here):
    assert "window 128,000" in here.talk("/status\n").stderr
    here.model.listed = [{"id": "small", "max_model_len": 40_000}]
    assert "window 40,000" in here.talk("/status\n").stderr
    assert "window 9,000" in here.talk("/status\n", "--context-length", "9000").stderr


def test_switched_off_is_off(here: Here):
    """hermes-studio#1790"""
    here.model.window, here.model.calls = 12_000, 40
    here.settings("compression: {enabled: false}\n")
    done = here.talk("work\n", "--yes", "--context-length", "12000")
    assert done.returncode == 1
    assert "switched off" in done.stderr
    assert "compressed:" not in done.stderr


def test_the_last_session_of_this_folder_goes_on(here: Here):
    here.talk("Hello\n/pin Use tabs.\n")
    other = Here(here.folder.parent / "other", here.model, here.url)
    other.folder.mkdir()
    other.talk("Somewhere else\n")
    here.talk("And now?\n", "--resume")
    last = here.model.prompts[-1]
    assert [message["content"] for message in last[1:]] == ["Hello", "You said: Hello", "And now?"]
    assert "Use tabs." in last[0]["content"]


def test_an_archive_that_cannot_be_opened_is_said_and_stops_nothing(here: Here):
    (here.folder / "file").write_text("this is no archive, whatever its name says" * 40)
    done = here.talk("Hello\n", ABRIDGED_ARCHIVE__PATH=str(here.folder / "file"))
    assert done.stdout == "You said: Hello\n"
    assert "nothing is archived" in done.stderr


def test_an_engine_that_does_not_load_is_named_and_no_other_takes_its_place(here: Here):
    folder = here.folder / ".abridged" / "plugins" / "context_engine" / "mine"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("import no_such_module\n")
    here.settings("context: {engine: mine}\n")
    done = here.talk("Hello\n")
    assert done.returncode == 2
    assert "mine" in done.stderr
    assert "no_such_module" in done.stderr
    assert here.model.prompts == []


def test_help_has_every_option():
    done: Any = subprocess.run(
        [*COMMAND, "chat", "--help"], capture_output=True, text=True, check=True, timeout=60,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "100", "NO_COLOR": "1"},
    )  # fmt: skip
    for option in ("--model", "--base-url", "--context-length", "--resume", "--session", "--yes", "--config"):
        assert option in done.stdout
