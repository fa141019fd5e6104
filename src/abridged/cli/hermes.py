"""`abridged hermes`: our engines in hermes-agent, and whether they are really used there."""

import json
import os
import shutil
import subprocess
import sys
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

from abridged.cli.settings import AsJson, ConfigFile
from abridged.cli.writing import encode, render_report, write_file, write_stream
from abridged.config import load
from abridged.errors import EngineNotFound
from abridged.hermes.home import host_home, named_by_us, named_in_host
from abridged.hermes.install import Change, InstallError, plan
from abridged.plugins import DEFAULT_ENGINE, engines

PYTHON = "ABRIDGED_HERMES_PYTHON"
PROBE_SECONDS = 120

hermes_app = typer.Typer(no_args_is_help=True, help="Our engines in hermes-agent.")

Home = Annotated[
    str | None, typer.Option("--home", metavar="DIR", help="The host's folder; else $HERMES_HOME, else ~/.hermes.")
]
Python = Annotated[
    str | None, typer.Option("--python", metavar="FILE", help=f"The host's interpreter; else ${PYTHON}, else found.")
]


@hermes_app.command("install", epilog="Example: abridged hermes install --engine compressor --dry-run")
def install(
    engine: Annotated[str, typer.Option(metavar="NAME", help="As `abridged engines` lists them.")] = DEFAULT_ENGINE,
    home: Home = None,
    python: Python = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be changed, and change nothing.")] = False,
    config: ConfigFile = None,
) -> None:
    """Make one of our engines the one that hermes-agent uses. What is changed is said; config.yaml gets a backup."""
    known = [one.name for one in engines(load(config).folders)]
    if engine not in known:
        raise EngineNotFound(engine, known)
    interpreter = _interpreter(python)
    found = _probed(interpreter, host_home(home)) if interpreter else {}
    if interpreter and not found.get("importable"):
        wanted = "abridged cannot be imported by the host's interpreter; install it there first:"
        raise InstallError(f"{wanted} {interpreter} -m pip install abridged")
    changes = plan(host_home(home), engine)
    lines = [line for change in changes for line in _applied(change, dry_run=dry_run)]
    _say([*lines, *([] if dry_run else _outcome(interpreter, host_home(home), engine))])


def _applied(change: Change, *, dry_run: bool) -> list[str]:
    """Write a file, a backup of the host's own before; what to say of it."""
    if not change.is_needed:
        return [f"unchanged   {change.path}"]
    verb = "create" if change.before is None else "change"
    said = [f"{'would ' if dry_run else ''}{verb}{'' if dry_run else 'd'}  {change.path}  ({change.says})"]
    if dry_run:
        return said
    change.path.parent.mkdir(parents=True, exist_ok=True)
    if change.before is not None and change.path.suffix == ".yaml" and change.path.name == "config.yaml":
        backup = change.path.with_name(f"{change.path.name}.{datetime.now():%Y%m%d-%H%M%S-%f}.bak")
        shutil.copy2(change.path, backup)
        said.append(f"backup      {backup}")
    write_file(change.path, change.after.encode())
    return said


def _outcome(interpreter: Path | None, home: Path, engine: str) -> list[str]:
    if interpreter is None:
        return [f"The host's interpreter was not found: set {PYTHON}, and `abridged hermes status` checks the rest."]
    found = _probed(interpreter, home)
    if _is_used(found, engine):
        return [f"hermes-agent {found.get('host')} now uses {named_in_host(engine)}, from {found.get('source')}."]
    return [f"hermes-agent does not use it: {_why_not(found)}"]


@hermes_app.command("status")
def status(home: Home = None, python: Python = None, as_json: AsJson = False) -> None:
    """Which engine the host would really use, as its own interpreter finds it."""
    interpreter = _interpreter(python)
    if interpreter is None:
        raise InstallError(f"no hermes-agent was found; name its interpreter with --python or in {PYTHON}")
    folder = host_home(home)
    if not folder.is_dir():
        raise InstallError(f"{folder}: there is no such folder; name the host's folder with --home")
    found = {"home": str(folder), "python": str(interpreter), **_probed(interpreter, folder)}
    if as_json:
        write_stream(render_report(found))
        return
    ours = _is_used(found, named_by_us(str(found.get("configured"))))
    last = "One of ours." if ours else f"None of ours: {_why_not(found)}"
    _say([*(f"{key:17} {value}" for key, value in found.items() if value not in ("", None)), "", last])


def _is_used(found: dict[str, Any], engine: str) -> bool:
    return str(found.get("class")).startswith("abridged.") and found.get("used") == named_in_host(engine)


def _why_not(found: dict[str, Any]) -> str:
    """In words that say what to do."""
    if found.get("fault"):
        return str(found["fault"])
    if not found.get("importable"):
        return f"abridged is not installed for {found.get('python', 'the host')}: pip install abridged there"
    if found.get("configured") == DEFAULT_ENGINE:
        return "context.engine names the host's own engine; `abridged hermes install` changes that"
    if found.get("used") == DEFAULT_ENGINE:
        return f"{found.get('configured')} was not found (plugin: {found.get('plugin')}); run `abridged hermes install`"
    return f"{found.get('used')} is an engine of somebody else"


def _interpreter(explicit: str | None) -> Path | None:
    """The host's: named, of the environment, this one, or that of the `hermes` command."""
    named = explicit or os.environ.get(PYTHON)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise InstallError(f"{named}: there is no such interpreter")
        return path
    try:
        version("hermes-agent")
        return Path(sys.executable)
    except PackageNotFoundError:
        command = shutil.which("hermes")
    if command is None:
        return None
    with Path(command).open("rb") as file:
        first = file.readline().decode(errors="replace").strip()
    path = Path(first.removeprefix("#!").strip())
    return path if first.startswith("#!") and path.is_file() else None


def _probed(interpreter: Path, home: Path) -> dict[str, Any]:
    """What the host's interpreter says. Raises `InstallError` where it says nothing."""
    script = files("abridged.hermes").joinpath("probe.py").read_text(encoding="utf-8")
    try:
        done = subprocess.run(
            [interpreter, "-P", "-c", script], env={**os.environ, "HERMES_HOME": str(home)}, capture_output=True,
            text=True, timeout=PROBE_SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise InstallError(f"{interpreter} does not answer: {error}") from error


def _say(lines: list[str]) -> None:
    """Not wrapped: most of it are paths."""
    write_stream(encode("\n".join([*lines, ""])))
