"""What `import abridged` costs: milliseconds above a bare interpreter, the slowest modules, required dependencies.

    python -m bench.importtime [--runs 10] [--modules 12]

Each run is a new process that finds byte code, as an installed package has it, whatever the environment says about
writing some. The two commands take turns; the first run of each, which writes the byte code, is not counted. Modules
are listed with their own time, without what they import.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import requires
from statistics import median
from typing import NamedTuple

IMPORT = "import abridged"
_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| +(\S+)")


class Module(NamedTuple):
    """Milliseconds: `own` without, `total` with what it imports."""

    name: str
    own: float
    total: float


@dataclass(frozen=True)
class Interpreter:
    """Starts new processes that keep their byte code in `folder`."""

    folder: str

    def run(self, code: str, *options: str) -> str:
        """What the process wrote to its error stream."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": self.folder}
        command = [sys.executable, *options, "-c", code]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stderr

    def milliseconds(self, code: str) -> float:
        """Wall time of one new process."""
        start = time.perf_counter()
        self.run(code)
        return 1_000 * (time.perf_counter() - start)

    def added(self, runs: int) -> tuple[float, float]:
        """Median milliseconds of a bare interpreter, and what the import adds."""
        pairs = [(self.milliseconds("pass"), self.milliseconds(IMPORT)) for _ in range(runs + 1)][1:]
        bare, imported = map(median, zip(*pairs, strict=True))
        return bare, imported - bare

    def modules(self) -> list[Module]:
        """What the import loads and a bare interpreter does not, the slowest first."""
        bare = {module.name for module in self._loaded("pass")}
        found = [module for module in self._loaded(IMPORT) if module.name not in bare]
        return sorted(found, key=lambda module: -module.own)

    def _loaded(self, code: str) -> list[Module]:
        lines = map(_LINE.match, self.run(code, "-X", "importtime").splitlines())
        return [Module(line[3], int(line[1]) / 1_000, int(line[2]) / 1_000) for line in lines if line]


def required_dependencies() -> list[str]:
    """Those that come without asking for an extra, from the installed metadata."""
    return [entry for entry in requires("abridged") or [] if "extra ==" not in entry]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--modules", type=int, default=12)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        interpreter = Interpreter(folder)
        bare, more = interpreter.added(given.runs)
        loaded = interpreter.modules()
    needed = required_dependencies()
    own = sum(module.own for module in loaded if module.name.split(".")[0] == "abridged")
    foreign = sum(module.own for module in loaded) - own
    print(f"{'own ms':>8} {'total ms':>9}  module")
    for module in loaded[: given.modules]:
        print(f"{module.own:8.2f} {module.total:9.2f}  {module.name}")
    print(f"\n{len(loaded)} modules: {own:.1f} ms in abridged, {foreign:.1f} ms in the standard library")
    print(f"bare interpreter {bare:.1f} ms, import abridged +{more:.1f} ms, median of {given.runs} processes")
    print(f"required dependencies: {len(needed)} {' '.join(needed)}".rstrip())


if __name__ == "__main__":
    main()
