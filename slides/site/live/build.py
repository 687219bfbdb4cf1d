#!/usr/bin/env python3
"""Builds the files for a lab's page "Run it here" into build/live: the emulator as WebAssembly, and the kernels of
the steps that steps.js describes, compiled by nvcc. `./lab dev site` uses these files.

Needs a built course (./lab setup), Zig and nvcc. Says which one is missing, and how to install it.
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
OUT = ROOT / 'build/live'
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


def main():
    nvcc = shutil.which('nvcc') or next((p for p in ['/usr/local/cuda/bin/nvcc'] if os.access(p, os.X_OK)), None)
    if not nvcc:
        sys.exit('nvcc is missing; ./lab doctor shows how to install it.')
    done = subprocess.run([sys.executable, str(ROOT / 'common/emulator/wasm/build.py'), str(ROOT / 'build')], check=False)
    if done.returncode:
        sys.exit(done.returncode)
    OUT.mkdir(exist_ok=True)
    shutil.copyfile(ROOT / 'build/wasm/emulator.wasm', OUT / 'emulator.wasm')

    def kernel(step):
        lab, name = step
        (OUT / lab).mkdir(exist_ok=True)
        made = subprocess.run([nvcc, *NVCC, f'solutions/{lab}/{name}.cu', '-o', str(OUT / lab / f'{name}.fatbin')],
                              cwd=ROOT, capture_output=True, text=True, check=False)
        if made.returncode:
            sys.exit(made.stderr)
        return f'{lab}/{name}', digest(ROOT, f'solutions/{lab}/{name}.cu')

    wanted = [(lab, name) for lab, names in steps().items() for name in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as at_once:
        digests = dict(at_once.map(kernel, wanted))
    (OUT / 'sources.json').write_text(json.dumps({**digests, 'emulator': emulator_digest(ROOT)}, indent=1) + '\n')
    print(f'{len(digests)} kernels: {OUT}')


if __name__ == '__main__':
    main()
