"""Errors of the builder. Every message says where the problem is, what was expected, and what to do."""


class DeckError(Exception):
    """A deck cannot be built as written, and its author has to fix it."""


class MissingTool(Exception):
    """A tool is missing. The message ends with the command that installs it."""
