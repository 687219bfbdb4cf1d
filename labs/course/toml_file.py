"""Reads TOML strictly: what is wrong is named with its file and line."""
from __future__ import annotations

import math
from typing import Any, Dict, List, NoReturn, Optional, Sequence

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11
    import tomli as tomllib  # type: ignore


class CourseError(Exception):
    """A mistake in the course's files, as it is shown."""


def fail(where: str, what: str) -> NoReturn:
    raise CourseError(f'{where}: {what}')


def line_of(text: str, path: Sequence[Any]) -> int:
    """The first line up to which the file holds the value at `path`; a list may still be open there."""
    lines = text.splitlines(keepends=True)
    for end in range(1, len(lines) + 1):
        for closing in ('', ']'):
            try:
                found = tomllib.loads(''.join(lines[:end]) + closing)
                for key in path:
                    found = found[key]
                return end
            except (tomllib.TOMLDecodeError, LookupError, TypeError):
                pass
    return len(lines)


class Table:
    """A table of a file, its place there, and its values by key."""

    def __init__(self, origin: str, source: str, values: Dict[str, Any], path: Sequence[Any] = (), line: int = 0):
        self.origin, self.source, self.values, self.path, self.line = origin, source, values, list(path), line

    def place(self, *path: Any) -> str:
        """'labs/matmul/lab.toml:12': where the table begins, or the value at `path` in it is."""
        whole = self.path + list(path)
        line = self.line if self.line and not path else line_of(self.source, whole)
        return f'{self.origin}:{line}' if whole else self.origin

    def refuse_other_keys(self, known: Sequence[str], where: Optional[str] = None, what: str = 'known are') -> None:
        """A misspelt key would otherwise be a rule that is silently missing."""
        for key in self.values:
            if key not in known:
                fail(where or self.place(), f'unknown key `{key}`; {what} {", ".join(known)}')

    def take(self, kind: type, key: str, where: Optional[str] = None) -> Any:
        """The value of a key that must be there. An integer is a float, too."""
        if key not in self.values:
            fail(where or self.place(), f'missing key `{key}`')
        value = self.values[key]
        if type(value) is not kind and not (kind is float and type(value) is int):
            fail(where or self.place(key), f'`{key}` has the wrong type')
        return value

    def optional(self, kind: type, key: str, default: Any, where: Optional[str] = None) -> Any:
        return self.take(kind, key, where) if key in self.values else default

    def text(self, key: str, where: Optional[str] = None) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value:
            fail(where or self.place(), f'needs `{key}`, a text')
        return value

    def positive(self, key: str, where: str, what: Optional[str] = None) -> float:
        value: float = self.take(float, key, where)
        if not 0 < value < math.inf:
            fail(where, what or f'`{key}` must be positive')
        return value

    def lines_with(self, header: str) -> List[int]:
        return [number for number, line in enumerate(self.source.splitlines(), 1) if line.split('#')[0].strip() == header]

    def table(self, key: str) -> Table:
        """The table of this key, which is one."""
        lines = self.lines_with(f'[{key}]')
        return Table(self.origin, self.source, self.values[key], self.path + [key], lines[0] if lines else 0)

    def tables(self, key: str) -> List[Table]:
        """The tables of a list."""
        entries = self.values.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            fail(self.place(key), f'{key} are tables: [[{key}]]')
        lines = self.lines_with(f'[[{key}]]')
        return [Table(self.origin, self.source, entry, self.path + [key, at], lines[at] if lines else 0)
                for at, entry in enumerate(entries)]


def read_toml(text: str, origin: str) -> Table:
    try:
        return Table(origin, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        said, _, place = str(error).partition(' (at ')
        line = place.split(',')[0].replace('line ', '')  # or "end of document)"
        fail(f'{origin}:{line if line.isdigit() else len(text.splitlines())}', said)
