"""The engine `lcm`: the archive is the store, summaries are a graph over it, and every summary says what it is of."""

from abridged.engines.lcm.engine import LosslessEngine

__all__ = ["LosslessEngine"]
