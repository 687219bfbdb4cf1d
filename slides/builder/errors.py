"""What is wrong with a deck: every message says where, what was expected, and what to do."""


class DeckError(Exception):
    """A deck that cannot be built as it is written; the lecturer fixes it."""


class MissingTool(Exception):
    """A tool that is not here; the message ends with the command that brings it."""
