"""Engines of abridged for this host; which one is what `context.engine` in config.yaml names."""

from abridged.hermes import register

__all__ = ["register"]
