"""The clone: the places of its parts, the configuration of build/, and its alias.

If the clone's path has special characters, other tools would misread it. In this case, an alias replaces
the path in everything that is built: a link in a temporary folder. Its random name is kept in build/alias.
The program reads that file, too, and makes the link again if it is gone (grader/judge/installation.cpp).
"""
from __future__ import annotations

import json
import os
import re
from typing import NamedTuple, Optional

from .report import ENVIRONMENT, Failure

# The characters that nvcc, make, shells and the loader read as they are. Those beyond ASCII are fine, too.
NOT_PLAIN = re.compile(rb'[^A-Za-z0-9/._+=@%^$\x80-\xff-]')
REFUSED = '\\|:\n\t'
SOURCES = r'.*(\.(cpp|hpp|cc|c|h|inl|inc|cu|cuh|ptx|map|in)|meson\.(build|options))'
SOURCE_FOLDERS = ('common', 'grader', 'labs', 'solutions', 'subprojects')


def is_plain(path: str) -> bool:
    return not NOT_PLAIN.search(os.fsencode(path))


class Config(NamedTuple):
    """The tools and options that build/ was configured with (build/lab.config)."""

    clone: str  # its own path
    root: str   # its alias, if it has one
    nvcc: str
    cxx: str
    archs: str
    meson: str
    extra: str  # STEPWISE_SETUP_ARGS
    gpus: str   # the machine's GPUs at that time; not part of the key

    def is_same_build(self, other: Config) -> bool:
        return self._replace(gpus='') == other._replace(gpus='')

    def write(self, path: str) -> None:
        with open(path + '.part', 'w', encoding='ascii') as file:
            json.dump(self._asdict(), file, indent=1)
        os.replace(path + '.part', path)


class Clone:
    def __init__(self, path: str) -> None:
        self.path = path  # its own name; `root` may be an alias
        self._name(path)

    def _name(self, root: str) -> None:
        self.root = root
        self.build = os.path.join(root, 'build')
        self.program = os.path.join(self.build, 'grader/lab')
        self.venv = os.path.join(root, '.venv')
        self.cuda = os.path.join(root, '.cuda')
        self.packages = os.path.join(root, '.packages')
        self.config_file = os.path.join(self.build, 'lab.config')
        self.log = os.path.join(self.build, 'lab.log')

    def is_built(self) -> bool:
        return os.access(self.program, os.X_OK)

    def in_build(self, name: str) -> bool:
        return os.path.exists(os.path.join(self.build, name))

    def config(self) -> Optional[Config]:
        try:
            with open(self.config_file, encoding='ascii') as file:
                return Config(**json.load(file))
        except (OSError, ValueError, TypeError):
            return None

    def is_older_than_sources(self) -> bool:
        """Is a source newer than the program? The student's own files are not part of the build."""
        from .machine import output_of
        folders = [name for name in SOURCE_FOLDERS if os.path.isdir(os.path.join(self.root, name))]
        return bool(output_of('find', *folders, '-regextype', 'posix-extended', '-newer', self.program,
                              '-regex', SOURCES, '!', '-regex', r'labs/[^/]*/[^/]*\.cu', '-print', '-quit',
                              folder=self.root))

    # The alias.

    def known_alias(self) -> str:
        try:
            with open(os.path.join(self.path, 'build/alias'), 'rb') as file:
                return os.fsdecode(file.readline().rstrip(b'\n'))
        except OSError:
            return ''

    def use_alias(self, may_make: bool) -> None:
        """Uses the alias for all paths if the clone's path has special characters."""
        if is_plain(self.path):
            return
        for character in REFUSED:
            if character in self.path:
                raise Failure(ENVIRONMENT, 'the path of this clone has the character %s, which the tools that '
                              'build it misread: move the clone to a folder without it (%s)'
                              % (repr(character)[1:-1], repr(self.path)))
        alias = self.known_alias()
        if not self.is_alias(alias):
            if not may_make:
                return
            self.need_to_write(self.path, self.build)
            alias = self._make_alias(alias)
        self._name(alias)

    def is_alias(self, alias: str) -> bool:
        """A link to this clone that no other user may change."""
        try:
            return (os.path.isabs(alias) and os.path.basename(alias) == 'clone' and os.path.islink(alias)
                    and os.path.samefile(alias, self.path)
                    and os.stat(os.path.dirname(alias)).st_uid in (os.geteuid(), os.stat(self.path).st_uid))
        except OSError:
            return False

    def _make_alias(self, old: str) -> str:
        """Creates a new alias, reusing the old name if its folder is gone."""
        import tempfile
        folder = os.path.dirname(old)
        try:
            if re.match(r'/.*/stepwise-[^/]+/clone$', old) and not os.path.lexists(folder) \
                    and os.access(os.path.dirname(folder), os.W_OK):
                os.mkdir(folder)
            else:
                folder = tempfile.mkdtemp(prefix='stepwise-', dir=plain_temporary_folder())
            os.chmod(folder, 0o755)
            alias = os.path.join(folder, 'clone')
            os.symlink(self.path, alias)
            os.makedirs(os.path.join(self.path, 'build'), exist_ok=True)
            with open(os.path.join(self.path, 'build/alias'), 'wb') as file:
                file.write(os.fsencode(alias) + b'\n')
        except OSError as error:
            raise Failure(ENVIRONMENT, 'cannot write to ' + os.fsdecode(error.filename or self.path)) from None
        return alias

    # Folders of other users.

    def need_to_write(self, *folders: str) -> None:
        """Refuses to write into a shared installation: your files and builds need a clone of your own."""
        for folder in folders:
            if os.path.exists(folder) and not os.access(folder, os.W_OK):
                from shlex import quote
                from .machine import output_of
                raise Failure(ENVIRONMENT, 'cannot write to %s, which belongs to %s. Copy the folder; its builds '
                              'remain valid:\ncp -a %s ~/stepwise && chmod -R u+w ~/stepwise && cd ~/stepwise'
                              % (folder, output_of('stat', '-c', '%U', '--', folder), quote(self.path)))


def plain_temporary_folder() -> str:
    folder = os.environ.get('TMPDIR', '/tmp')
    return folder if os.path.isabs(folder) and is_plain(os.path.realpath(folder)) else '/tmp'
