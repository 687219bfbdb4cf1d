#!/usr/bin/env python3
"""Builds the files for a lab's page "Experiment" into build/live: the emulator as WebAssembly, and the kernels of
the steps that steps.js describes, compiled by nvcc. `./lab dev site` uses these files.

Needs a course that Meson has configured with nvcc (./lab setup). Fetches Zig, a compiler, from PyPI.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))

from slides.builder import tools  # noqa: E402
from slides.builder.errors import MissingTool  # noqa: E402

OUT = ROOT / 'build/live'
ZIG = {'ziglang': 'ziglang==0.15.2'}
# Like the course's own compiler options, but without compression, because a page cannot decompress.
NVCC = ['-fatbin', '-no-compress', '-std=c++20', '-lineinfo', '-Wno-deprecated-gpu-targets', f'-I{ROOT}',
        '-gencode', 'arch=compute_90,code=[sm_90,compute_90]']


@functools.cache
def steps():
    """{lab: names} of the steps that steps.js describes."""
    found, lab = {}, None
    for line in (HERE / 'steps.js').read_text().splitlines():
        begins, names = re.match(r'const (\w+) = \{$', line), re.match(r"    '(\d\d_\w+)': ", line)
        if begins:
            lab = begins[1]
        elif names:
            found.setdefault(lab, []).append(names[1])
    return found


def digest(root, file):
    """A digest of a step and of the course's files that it includes."""
    text = (root / file).read_bytes()
    included = re.findall(rb'^#include "((?:solutions|labs|common)/[^"]+)"', text, re.M)
    parts = ''.join(digest(root, name.decode()) for name in included)
    return hashlib.sha256(text + parts.encode()).hexdigest()


@functools.cache
def emulator_digest(root):
    """A digest of all sources that the emulator may be made from."""
    every = hashlib.sha256()
    for file in sorted((root / 'common').rglob('*.[ch]pp')):
        if 'tests' not in file.parts:
            every.update(file.read_bytes())
    return every.hexdigest()


def missing(root, lab):
    """A sentence about files of build/live that are missing or from earlier sources; '' if there are none."""
    try:
        digests = json.loads((root / 'build/live/sources.json').read_text())
    except (OSError, ValueError):
        return 'The emulator is not in these pages.'
    if digests.pop('emulator', '') != emulator_digest(root):
        return 'The emulator for these pages was built from earlier sources.'
    older = [name for name in steps()[lab] if digests.get(f'{lab}/{name}') != digest(root, f'solutions/{lab}/{name}.cu')]
    return f'These kernels were built from earlier sources: {", ".join(older)}.' if older else ''


def nvcc_command():
    """The nvcc that Meson found."""
    try:
        compilers = json.loads((ROOT / 'build/meson-info/intro-compilers.json').read_text())
        return compilers['host']['cuda']['exelist']
    except (OSError, KeyError):
        raise MissingTool('build/ is not configured with nvcc: ./lab setup') from None


def compile_kernel(nvcc, lab, name):
    (OUT / lab).mkdir(parents=True, exist_ok=True)
    made = subprocess.run([*nvcc, *NVCC, f'solutions/{lab}/{name}.cu', '-o', str(OUT / lab / f'{name}.fatbin')],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(made.stderr)


def build():
    nvcc = nvcc_command()
    tools.bring(ROOT, packages=ZIG, otherwise='With pip: ')
    subprocess.run([sys.executable, str(ROOT / 'common/emulator/wasm/build.py'), str(ROOT / 'build')], check=True)
    OUT.mkdir(exist_ok=True)
    shutil.copyfile(ROOT / 'build/wasm/emulator.wasm', OUT / 'emulator.wasm')
    wanted = [(lab, name) for lab, names in steps().items() for name in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as at_once:
        list(at_once.map(lambda step: compile_kernel(nvcc, *step), wanted))
    digests = {f'{lab}/{name}': digest(ROOT, f'solutions/{lab}/{name}.cu') for lab, name in wanted}
    (OUT / 'sources.json').write_text(json.dumps({**digests, 'emulator': emulator_digest(ROOT)}, indent=1) + '\n')
    print(f'{len(digests)} kernels: {OUT}')


def main():
    try:
        build()
    except MissingTool as problem:
        sys.exit(f'lab: {problem}')
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)


if __name__ == '__main__':
    main()
