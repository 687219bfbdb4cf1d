"""Parses the arguments of ./lab, and chooses the targets to build for a command."""
from __future__ import annotations

import os
from typing import List

# Options of `lab exec` that take a value. A test compares this list with the program's.
VALUES_OF_EXEC = {'--device', '--gpu', '--time-limit', '--report', '--trace', '--record', '--launch',
                  '--block', '--warps', '--first', '--steps'}
# Commands that only read and write texts. They never wait for another build.
TEXT = {'', 'list', 'start', 'hint', 'explain', 'diff', 'worth-it'}
# Commands that also work in a clone that you cannot write to.
READ_ONLY = {'', 'list', 'hint', 'explain', 'diff', 'play', 'worth-it', 'walk', 'exec'}
# Commands that, without the name of a lab, run programs of all labs or a program of yours.
ALL_LABS = {'release', 'selftest', 'grade-all', 'site'}
OWN_PROGRAM = {'exec', 'profile', 'ptx', 'try', 'record', 'device'}
# Commands that need no name of a lab in a lab's folder.
LAB_FIRST = {'check', 'diff', 'env', 'grade', 'hint', 'limits', 'pack', 'play', 'profile', 'ptx', 'run', 'start',
             'sweep', 'walk', 'watch'}
WITH_TESTS = {'test', 'setup', 'slides'}
GRADES = {'grade', 'grade-all', 'selftest', 'try'}

PROGRAM = 'grader/lab'


class Arguments:
    """The command (`verb`), the lab that it names, and the options that the launcher handles, too."""

    def __init__(self, words: List[str], root: str) -> None:
        if words[:1] == ['help']:
            words = words[1:] + ['--help']
        self.words = words
        self.verb = ''
        self.as_json = self.asks_help = False
        self._read(words)
        self.lab = self._find_lab(root)
        if not self.lab and self.verb in LAB_FIRST and '--file' not in words:
            self._add_lab_of_folder(root)

    def _read(self, words: List[str]) -> None:
        is_value = False
        for word in words:
            if is_value:
                is_value = False
            elif word in VALUES_OF_EXEC and self.verb in ('', 'exec'):
                is_value = True
            elif word == '--json':
                self.as_json = True
            elif word in ('-h', '--help'):
                self.asks_help = True
            elif self.verb == 'exec' and (word == '--' or not word.startswith('-')):
                return  # the program's arguments
            elif not self.verb and not word.startswith('-') and word != 'dev':
                self.verb = word

    def _find_lab(self, root: str) -> str:
        for word in self.words:
            if self.verb == 'grade-all':
                word = lab_of_results(word) or word
            if word and os.path.exists(os.path.join(root, 'labs', word, 'lab.toml')):
                return word
        return ''

    def _add_lab_of_folder(self, root: str) -> None:
        path = os.path.relpath(os.getcwd(), os.path.join(os.path.realpath(root), 'labs'))
        name = path.split(os.sep)[0]
        if os.path.exists(os.path.join(root, 'labs', name, 'lab.toml')):
            at = self.words.index(self.verb) + 1
            self.words = self.words[:at] + [name] + self.words[at:]
            self.lab = name

    def is_text(self) -> bool:
        return self.verb in TEXT

    def targets(self) -> List[str]:
        """The targets that Ninja builds for the command."""
        if self.verb in WITH_TESTS:
            return ['all', 'meson-test-prereq']  # the latter is needed only by tests
        if self.verb == 'release':
            return ['course']
        if self.is_text() or self.verb == 'report':
            return [PROGRAM]
        if self.verb == 'exec':
            return ['course-no-lab']
        if self.lab:
            return ['course-limits-' + self.lab if self.verb == 'limits' else 'course-' + self.lab]
        if self.verb in ALL_LABS:
            return ['course']
        return ['course-no-lab'] if self.verb in OWN_PROGRAM else [PROGRAM]


def lab_of_results(folder: str) -> str:
    """The lab of a folder of results that `grade-all` continues."""
    import json
    try:
        with open(os.path.join(folder, 'batch.json'), encoding='utf-8') as file:
            return str(json.load(file)['lab'])
    except (OSError, ValueError, KeyError, TypeError):
        return ''
