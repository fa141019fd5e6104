"""The real host in a folder of its own, and the strict model behind it.

`ABRIDGED_HERMES_PYTHON` names the interpreter of a virtual environment that has hermes-agent and not this project
(`make test-hermes` makes one); without it these tests are skipped.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.hermes.server import HostModel, serve

from abridged.archive import Archive

ROOT = Path(__file__).parents[2]
PYTHON = "ABRIDGED_HERMES_PYTHON"
SHIM = ROOT / "examples" / "hermes" / "abridged"


@pytest.fixture(scope="session")
def host_python() -> Path:
    named = os.environ.get(PYTHON)
    if not named:
        pytest.skip(f"{PYTHON} names no interpreter with hermes-agent; `make test-hermes` makes one")
    asked = [named, "-c", "import importlib.metadata as m; print(m.version('hermes-agent'))"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{named} has no hermes-agent")
    return Path(named).absolute()


@pytest.fixture(scope="session")
def package(host_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as a package that the host finds as installed, with its entry points."""
    target = tmp_path_factory.mktemp("package")
    made = [host_python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, ROOT]
    subprocess.run(made, check=True, capture_output=True, timeout=300)
    return target


@dataclass
class Host:
    """A host's folder; `path`: where its interpreter finds us."""

    python: Path
    home: Path
    model: HostModel
    path: Path = ROOT / "src"
    stderr: str = ""

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "ABRIDGED_"))}
        own = {"HERMES_HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "none"), "PYTHONPATH": str(self.path)}
        return {**kept, **own, "HOME": str(self.home), PYTHON: str(self.python)}

    def configure(self, engine: str = "", *, enabled: bool = False, **sections: Any) -> None:
        """The host's configuration (JSON is YAML too), and ours beside it."""
        assert self.model.server
        url = f"http://127.0.0.1:{self.model.server.server_address[1]}/v1"
        model = {"default": "fake-model", "provider": "custom", "base_url": url, "api_key": "sk-fake"}
        document: dict[str, Any] = {"model": {**model, "context_length": 64_000}}
        document |= {"context": {"engine": engine}} if engine else {}
        document |= {"plugins": {"enabled": ["abridged"]}} if enabled else {}
        lines = [f"{name}: {json.dumps(section)}\n" for name, section in {**document, **sections}.items()]
        (self.home / "config.yaml").write_text("# settings of the host\n" + "".join(lines))

    def ours(self, **sections: Any) -> None:
        """Our own configuration, beside the host's."""
        folder = self.home / "abridged"
        folder.mkdir(exist_ok=True)
        archive = {"archive": {"path": str(self.home / "archive.db")}}
        (folder / "config.yaml").write_text(json.dumps({**archive, **sections}))

    def lead(self, *steps: list[str]) -> dict[str, dict[str, Any]]:
        """Lead conversations in the host's process; what was seen after the last step of each name."""
        script = Path(__file__).with_name("inside.py")
        done = subprocess.run(
            [self.python, script, json.dumps(steps)], env=self.environment, cwd=self.home, capture_output=True,
            text=True, timeout=300, check=False,
        )  # fmt: skip
        self.stderr = done.stderr
        _, found, told = done.stdout.rpartition("\n=====")
        assert found, done.stdout[-2_000:] + done.stderr[-4_000:]
        return dict(json.loads(told))

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*map(str, command)], env=self.environment, cwd=self.home, capture_output=True, text=True, timeout=300,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def archive(self) -> Archive:
        return Archive(self.home / "archive.db")


@pytest.fixture
def host(host_python: Path, tmp_path: Path) -> Iterator[Host]:
    model = HostModel(lines=2_400)
    server = serve(model)
    made = Host(host_python, tmp_path / "home", model)
    made.home.mkdir()
    made.configure()
    made.ours()
    yield made
    server.shutdown()
    server.server_close()


@pytest.fixture
def in_repository(host: Host) -> Iterator[Path]:
    """The shim in the host's own folder of engines; taken out again."""
    asked = [host.python, "-c", "import plugins.context_engine as p; print(p.__path__[0])"]
    where = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=host.home, env=host.environment)
    folder = Path(where.stdout.strip().splitlines()[-1]) / "abridged"
    shutil.copytree(SHIM, folder)
    yield folder
    shutil.rmtree(folder)
