"""A YAML file as plain values. Nothing is decided in silence: what may be read in two ways is an error or a text.

It stands on an extra (`cli`) and is imported when a file is read.
"""

from typing import Any

import yaml


class Unreadable(Exception):
    """No YAML, or not in one way: `problem`, the `line` where it stands (from 1; 0 = nobody knows), and a `key`."""

    def __init__(self, problem: str, line: int = 0, key: str = "") -> None:
        super().__init__(problem)
        self.problem, self.line, self.key = problem, line, key


class _Strict(yaml.SafeLoader):
    """A safe loader that takes no key twice: of two the second would win."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[str] = set()
        for name, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            line = name.start_mark.line + 1
            if not isinstance(name, yaml.ScalarNode):
                raise Unreadable("a key has to be a word", line)
            if name.value in seen:
                raise Unreadable("it stands there a second time", line, name.value)
            seen.add(name.value)
        return super().construct_mapping(node, deep)

    def whole_number(self, node: Any) -> int | str:
        """`010` is 10 for whoever writes it, and 8 for YAML; `1:30` is 90: such a thing stays a text."""
        try:
            return int(node.value, 0)
        except ValueError:
            return node.value

    def text(self, node: Any) -> str:
        return node.value


_Strict.add_constructor("tag:yaml.org,2002:int", _Strict.whole_number)
_Strict.add_constructor("tag:yaml.org,2002:timestamp", _Strict.text)  # no setting is a date; some are names like one


def values_of(text: str) -> object:
    """What stands in the text. Raises `Unreadable`."""
    try:
        return yaml.load(text, _Strict)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or str(error)
        raise Unreadable(f"no YAML: {said}", mark.line + 1 if mark else 0) from error
    except RecursionError as error:
        raise Unreadable("no YAML: too deep") from error
    except ValueError as error:  # of a tag such as !!int
        raise Unreadable(f"no YAML: {error}") from error
