"""Messages, and the error that ends a command."""
from __future__ import annotations

import json
import os
import sys
from typing import NoReturn

USAGE, ENVIRONMENT, OURS, INTERRUPTED = 2, 3, 4, 130


class Failure(Exception):
    """Ends the command with an exit code and a message for the user."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Interrupted(Exception):
    """A signal arrived, or the reader of our messages went away."""


def write(text: str) -> None:
    """Writes to stderr, which may be closed from the start. A reader that goes away interrupts the command."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BrokenPipeError:
        raise Interrupted from None
    except OSError:
        pass


def say(message: str) -> None:
    write('lab: %s\n' % message.replace('\n', '\n     '))


def document(content: object) -> None:
    try:
        print(json.dumps(content), flush=True)
    except OSError:
        pass


def end(failure: Failure, as_json: bool) -> NoReturn:
    """Reports the failure, as a JSON document if --json was given, and exits with its exit code."""
    try:
        sys.stdout.flush()
        if as_json:
            document({'error': failure.message, 'exit_code': failure.code})
        else:
            say(failure.message)
    except (Interrupted, OSError):
        pass
    os._exit(failure.code)  # Python's own shutdown could write to a closed pipe again


def unknown_word(verb: str, word: str) -> Failure:
    return Failure(USAGE, '%s does not accept "%s"; ./lab %s --help shows the usage' % (verb, word, verb))
