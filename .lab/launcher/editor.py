"""./lab editor writes files for editors, for this clone and machine: .clangd for clangd (VS Code, Neovim, Emacs,
...), and .vscode/ with tasks and a configuration for debugging. Git ignores these files. An existing file that was
changed since it was written is yours, and stays as it is."""
from __future__ import annotations

import hashlib
import json
import os
from typing import List

from .clone import Clone
from .machine import Machine, read
from .report import document, say

MARK = ' by ./lab editor, which writes it again unless it was changed: '

CLANGD = r"""CompileFlags:
  CompilationDatabase: build
---
If:
  PathMatch: .*\.cuh?
CompileFlags:
  Remove: ['-gencode', 'arch=*', '-arch=*', '--generate-code=*', '-Xcompiler=*', '--expt-*', '-lineinfo', '-G', '-cudart*', '-t*', '-Werror*']
  Add: ['-xcuda', '-Xclang', '-fcuda-allow-variadic-functions', '--cuda-gpu-arch=sm_80', '--cuda-path={toolkit}',
        '-Wno-unknown-cuda-version', '-std=c++20', '-I{root}', '-isystem{build}/clangd', '-isystem{toolkit}/include/cccl']"""

# gdb stops in the host's code; kernels run on the emulator, in the same process.
LAUNCH = """{
  "version": "0.2.0",
  "configurations": [
    {"name": "a step's program, on the emulator", "type": "cppdbg", "request": "launch",
     "program": "${workspaceFolder}/build/solutions/${fileDirnameBasename}-${fileBasenameNoExtension}",
     "args": ["${input:call}"], "cwd": "${workspaceFolder}",
     "environment": [{"name": "LD_LIBRARY_PATH", "value": "${workspaceFolder}/build/common/runtime"}],
     "MIMode": "gdb"}
  ],
  "inputs": [{"id": "call", "type": "promptString",
              "description": "the call file that ./lab env LAB names"}]
}"""


class Editor:
    def __init__(self, clone: Clone, machine: Machine) -> None:
        self.clone = clone
        self.machine = machine
        self.written: List[str] = []
        self.kept: List[str] = []

    def write(self, as_json: bool) -> int:
        clone = self.clone
        nvcc = self.machine.find_nvcc()
        if nvcc:
            # clang's own headers include texture_fetch_functions.h, which CUDA 13 lacks. An empty file suffices.
            os.makedirs(clone.build + '/clangd', exist_ok=True)
            open(clone.build + '/clangd/texture_fetch_functions.h', 'w').close()
            toolkit = os.path.dirname(os.path.dirname(nvcc))
            self._write('.clangd', '#', CLANGD.format(toolkit=toolkit, root=clone.root, build=clone.build))
        self._write('.vscode/tasks.json', '//', tasks())
        self._write('.vscode/launch.json', '//', LAUNCH)
        if as_json:
            document({'written': self.written, 'kept': self.kept})
            return 0
        if self.written:
            say('wrote ' + ' '.join(self.written))
        if self.kept:
            say('kept your changed files: ' + ' '.join(self.kept))
        if not nvcc:
            say('no .clangd was written, because nvcc is missing; run ./lab setup to install it')
        if not clone.in_build('compile_commands.json'):
            say('clangd does not know the compiler flags yet; run ./lab setup')
        return 0

    def _write(self, name: str, comment: str, text: str) -> None:
        """Writes a file, unless you have changed it. The last line holds the hash of the lines before it."""
        path = os.path.join(self.clone.root, name)
        if os.path.exists(path):
            lines = read(path).splitlines()
            if not lines or lines[-1].split(' ')[-1] != short_hash('\n'.join(lines[:-1])):
                self.kept.append(name)
                return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '.part', 'w', encoding='utf-8', errors='surrogateescape') as file:
            file.write('%s\n%s%s%s\n' % (text, comment, MARK, short_hash(text)))
        os.replace(path + '.part', path)
        self.written.append(name)


def short_hash(text: str) -> str:
    return hashlib.sha256((text + '\n').encode(errors='surrogateescape')).hexdigest()[:16]


def matcher(folder: str, names: str, background: str) -> str:
    """A problem matcher for lines that name a place in a file of that folder."""
    pattern = {'regexp': r'^\s*(?:[A-Z]+\s+)?(?:[A-Za-z].*?\bat\s+|at\s+)?(%s\.(?:cu|cuh|hpp)):(\d+)(?::\d+)?:?'
               r'\s*(.*)$' % names, 'file': 1, 'line': 2, 'message': 3}
    return '{"owner": "lab", "source": "lab",%s\n       "fileLocation": ["autoDetect", "%s"],\n' \
        '       "pattern": %s}' % (background, folder, json.dumps(pattern))


def task(verb: str) -> str:
    group, background = '"test"', ''
    if verb == 'run':
        group = '{"kind": "build", "isDefault": true}'
    elif verb == 'watch':  # the task never ends; an answer goes from its first to its last line
        group += ', "isBackground": true'
        background = ' "background": ' + json.dumps({
            'activeOnStart': True, 'beginsPattern': r', save \d+, ', 'endsPattern': 'waiting for the next save'}
        ) + ','
    # Findings use the file's own name; everything else uses a path from the root.
    return '''    {"label": "lab %s", "type": "shell", "group": %s,
     "command": "${workspaceFolder}/lab", "args": ["%s", "${fileDirnameBasename}"],
     "options": {"cwd": "${workspaceFolder}", "env": {"COLUMNS": "140"}},
     "problemMatcher": [
      %s,
      %s]}''' % (verb, group, verb, matcher('${workspaceFolder}', r'[^\s:]*/[^\s:/]+', background),
                 matcher('${fileDirname}', r'[^\s:/]+', ''))


def tasks() -> str:
    return '''{
  // The lab of the open file: Ctrl+Shift+B runs it; "Run Task" has the others.
  "version": "2.0.0",
  "tasks": [
%s
  ]
}''' % ',\n'.join(task(verb) for verb in ('run', 'check', 'watch', 'grade'))
