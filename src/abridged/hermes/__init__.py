"""Our engines in hermes-agent: whatever `context.engine` of its configuration names, if it is one of ours.

`register` is what the host calls, once for every agent that it makes. Our `compressor` is called `abridged` there, as
`compressor` is the host's own; all others keep their names.
"""

from abridged.hermes.registration import register

__all__ = ["register"]
