"""./lab doctor lists the tools that this machine has for setting up, building and measuring, and the use of each
missing tool. It changes nothing. If the program is built, its own rows (devices, CUDA's tools, memory) follow in
the same form."""
from __future__ import annotations

import os
import shutil
import textwrap
from typing import List, NamedTuple, Optional

from .arguments import Arguments
from .building import Builder
from .clone import Clone
from .machine import GXX_WANTED, Machine, module_hint, output_of, read, tool
from .packages import LIBRARIES, missing_libraries, missing_message, root_prefix
from .report import ENVIRONMENT, document, unknown_word
from .steps import Steps

ROW_OPTIONS = ('doctor', '--json', '--no-color', '--no-colour')


class Row(NamedTuple):
    # ok; pending: ./lab fetches or builds it; optional: not found, but only some commands need it; note: no tool;
    # missing: set-up needs it, and you must install it
    state: str
    name: str
    detail: str


class Doctor:
    def __init__(self, clone: Clone, machine: Machine, stands_still: Optional[str]) -> None:
        self.clone = clone
        self.machine = machine
        self.stands_still = stands_still
        self.rows: List[Row] = []
        self.missing: List[str] = []  # Debian packages that ./lab is not allowed to install

    def report(self, arguments: Arguments) -> Optional[int]:
        """Returns the exit code, or None if the program reports the rest."""
        is_built = self.clone.is_built()
        unknown = [word for word in arguments.words if word not in ROW_OPTIONS]
        if is_built and (arguments.as_json or unknown):
            return None  # the program has more options
        if unknown:
            raise unknown_word('doctor', unknown[0])
        self._build_tools()
        self._nvcc(is_built)
        self._libraries()
        self._tool('clang-format', 'the formatting test')
        self._tool('shellcheck', 'the shell script test')
        self._tool('chromium', 'slides as PDF, and checks of their layout (./lab dev slides)')
        self._slides()
        if not is_built:
            self._without_program()
        self._network()
        if self.machine.is_slow_place():
            self._row('note', 'place', '%s is on a Windows disk, which is slow from WSL: clone into ~ instead'
                      % self.clone.root)
        self._build()
        if arguments.as_json:
            document({'built': False, 'machine': [row._asdict() for row in self.rows]})
        else:
            columns = shutil.get_terminal_size((80, 24)).columns
            for row in self.rows:
                label = '%-8s %-20s ' % (row.state, row.name)
                print(textwrap.fill(row.detail, columns, initial_indent=label, subsequent_indent=' ' * len(label),
                                    break_long_words=False, break_on_hyphens=False))
        if is_built:
            return None
        if not any(row.state == 'missing' for row in self.rows):
            return 0
        if self.missing and not arguments.as_json:
            raise missing_message(self.missing)
        return ENVIRONMENT

    def _row(self, state: str, name: str, detail: str) -> None:
        self.rows.append(Row(state, name, detail))

    def _package(self, name: str, why: str, package: str) -> None:
        """The row of a Debian package that set-up needs."""
        if tool('apt-get') and root_prefix() is not None:
            self._row('pending', name, '%s; run ./lab setup to install %s' % (why, package))
        else:
            self._row('missing', name, '%s; install %s' % (why, package))
            self.missing.append(package)

    def _build_tools(self) -> None:
        machine = self.machine
        cxx, old = machine.find_cxx(), machine.old_cxx()
        if cxx:
            self._row('ok', 'C++ compiler', '%s %s' % (cxx, machine.cxx_version(cxx)))
        elif not old:
            self._package('C++ compiler', 'no ' + (os.environ.get('CXX') or 'g++'), 'g++')
        elif not os.environ.get('CXX') and tool('apt-get'):
            self._package('C++ compiler', 'g++ %s is too old' % machine.cxx_version('g++'), 'g++-' + GXX_WANTED)
        else:
            self._row('missing', 'C++ compiler', old)
        meson, version = machine.find_meson()
        if meson:
            self._row('ok', 'Meson', '%s, Ninja %s' % (version, output_of('ninja', '--version')))
        else:
            self._row('pending', 'Meson', './lab setup fetches Meson and Ninja from PyPI into .venv')
        python = machine.find_python()
        if python:
            self._row('ok', 'Python', '%s (%s)' % (output_of(python, '-V').split()[-1], tool(python)))
        elif machine.needs_venv():
            self._package('Python', 'no complete installation', 'python3')
        else:
            self._row('ok', 'Python', 'enough to start; a complete installation is no longer needed')

    def _nvcc(self, is_built: bool) -> None:
        machine = self.machine
        nvcc = machine.find_nvcc()
        if nvcc and is_built:
            return  # a row of the program shows it
        if nvcc:
            self._row('ok', 'nvcc', '%s (%s)' % (machine.nvcc_version(nvcc), nvcc))
            return
        modules = module_hint('cuda')
        older = machine.older_nvcc + '; ' if machine.older_nvcc else ''
        self._row('pending', 'nvcc', older + './lab setup fetches the CUDA 13 compiler (100 MB) from PyPI into .cuda'
                  + ('; or ' + modules if modules else ''))

    def _libraries(self) -> None:
        """The row of the C++ libraries: where build/ gets them, or would get them."""
        listed = read(self.clone.build + '/common/libraries/libraries.txt')
        for line in listed.splitlines():
            name, _, place = line.partition(':')
            self._row('ok', name, place.strip())
        if listed:
            return
        missing = missing_libraries(self.machine.find_cxx() or 'g++')
        for name in LIBRARIES:
            if name not in missing:
                self._row('ok', name, 'this system')
            else:
                self._row('pending', name,
                          'from a Debian package' if tool('apt-get') else 'from its sources, through Meson')

    def _tool(self, name: str, enables: str) -> None:
        path = tool(name)
        self._row('ok' if path else 'optional', name, path or 'not found; needed for: ' + enables)

    def _slides(self) -> None:
        if os.path.isdir(self.clone.build + '/slides/packages/markdown_it'):
            self._row('ok', 'markdown-it-py', self.clone.build + '/slides/packages')
        else:
            self._row('optional', 'markdown-it-py', './lab dev slides and ./lab dev site fetch it and Pygments from PyPI '
                      'when they are first used')

    def _without_program(self) -> None:
        gpu = self.machine.ask_gpu('name,compute_cap')
        self._row('ok' if gpu else 'optional', 'GPU',
                  gpu or 'none, so the emulator is used; needed for: time, GB/s, speed goals')
        self._tool('bwrap', 'grading files isolated from this machine (package bubblewrap)')
        self._tool('gdb', 'debugging a program')
        self._tool('compute-sanitizer', "NVIDIA's memory and race checks, on a GPU")
        self._tool('ncu', 'hardware counters, on a GPU')

    def _network(self) -> None:
        """The row of the network, which is needed only if something must be fetched."""
        wanted = [row.name for row in self.rows if row.state == 'pending']
        self._row('note' if wanted else 'ok', 'network',
                  'needed once, for ' + ' '.join(wanted) if wanted else 'not needed')

    def _build(self) -> None:
        clone = self.clone
        builder = Builder(clone, self.machine, Steps(clone))
        if self.stands_still is not None:
            self._row('note', 'build', 'the existing programs are used: %s; run ./lab setup to rebuild them'
                      % self.stands_still)
        elif not clone.in_build('build.ninja'):
            self._row('pending', 'build', 'not started; the next command sets up and builds')
        elif not builder.is_configured():
            self._row('pending', 'build',
                      'configured for other tools, or only partly; the next command sets up and builds')
        elif builder.is_complete(['all', 'meson-test-prereq']):
            self._row('ok', 'build', 'complete, with the tests')
        elif builder.is_complete(['course']):
            self._row('ok', 'build', 'complete; ./lab test also builds the tests')
        elif builder.is_complete(['grader/lab']):
            self._row('ok', 'build', 'complete for %s; other commands build more' % ', '.join(['list'] + [
                'walk ' + lab for lab in self._labs() if builder.is_complete(['course-' + lab])]))
        else:
            self._row('pending', 'build', 'incomplete, or older than the sources; the next command builds')

    def _labs(self) -> List[str]:
        folder = os.path.join(self.clone.root, 'labs')
        return [name for name in sorted(os.listdir(folder))
                if os.path.exists(os.path.join(folder, name, 'lab.toml'))]
