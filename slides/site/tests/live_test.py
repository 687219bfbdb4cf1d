"""Tests that the emulator in the page computes, finds and counts the same as the emulator of this machine.

The same entry.cpp, compiled for this machine, gets the same calls. Results, findings and counters must be equal,
for every step of reduction, for some other steps, and for wrong launches. If the course's own programs are built,
they must launch the kernels as steps.js does. Skipped (77) if slides/site/live/build.py was not run.
"""
import base64
import ctypes
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

from setting import AXE, ROOT, browser, build, need

from slides.site.live import build as live

BUILT = ROOT / 'build/live'
LIBRARIES = ['emulator', 'device', 'formats', 'image', 'ptx', 'report', 'source_map', 'timeline', 'cpu', 'libraries']
NUMBERS = [3, -1, 4, 1, -5, 9, 2, 6]
wrong = []


def expect(holds, what):
    if not holds:
        wrong.append(what)


def native():
    """Returns entry.cpp for this machine, linked with the libraries that ninja has built."""
    library = BUILT / 'native.so'
    archives = sorted(a for name in LIBRARIES for a in (ROOT / 'build/common' / name).rglob('*.a')
                      if not re.search('test|fuzz|opcode|gpu_device|remote', a.name))
    newest = max(f.stat().st_mtime for f in [*archives, ROOT / 'common/emulator/wasm/entry.cpp'])
    if not library.exists() or library.stat().st_mtime < newest:
        subprocess.run(['g++', '-std=c++20', '-O1', '-fPIC', '-shared', '-DNDEBUG', f'-I{ROOT}',
                        str(ROOT / 'common/emulator/wasm/entry.cpp'), '-Wl,--start-group', *map(str, archives),
                        '-Wl,--end-group', '-llz4', '-lzstd', '-lpthread', '-ldl', '-o', str(library)], check=True)
    it = ctypes.CDLL(str(library))
    for name in ('start', 'load', 'problem', 'put', 'get', 'spoil', 'launch', 'report'):
        getattr(it, name).restype = ctypes.c_char_p
    it.allocate.restype = ctypes.c_uint64
    it.put.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]
    it.get.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
    it.spoil.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
    return it


ARRAYS = {  # of each lab: name, elements, whether it is an input; the result is the first that is not an input
    'reduction': lambda s: [('in', s['n'], True), ('out', 1, False), ('scratch', s['n'] + 32, False)],
    'matmul': lambda s: [('a', s['n'] ** 2, True), ('b', s['n'] ** 2, True), ('c', s['n'] ** 2, False)],
    'transpose': lambda s: [('in', s['rows'] * s['cols'], True), ('out', s['rows'] * s['cols'], False)]}


def here(it, run, shown):
    """Makes the page's calls on this machine. Returns (result, report, problem)."""
    it.start(b'h200', (1 if run['watch'].get('checks') else 0) + (2 if run['watch'].get('counters') else 0))
    image = (ROOT / f'build/live/{run["lab"]}/{run["step"]}.fatbin').read_bytes()
    assert it.load(image, len(image)) == b''
    at, problem = {}, b''
    arrays = ARRAYS[run['lab']](run['sizes'])
    for name, count, is_input in arrays:
        at[name] = it.allocate(4 * count, name.encode())
        if is_input:
            form = 'i' if run['lab'] == 'reduction' else 'f'
            data = struct.pack(f'{count}{form}', *(NUMBERS * (count // len(NUMBERS) + 1))[:count])
            assert it.put(at[name], data, len(data)) == b''
        else:
            it.spoil(at[name], 4 * count)
    for launch in shown['launches']:
        shape = struct.pack('6I', *launch['grid'], *shown['block'])
        values = [at[v[0]] + 4 * v[1] if isinstance(v, list) else v for v in launch['arguments']]
        problem = it.launch(shown['kernel'].encode(), shape, launch['shared'], struct.pack(f'{len(values)}q', *values),
                            len(values))
        if problem:
            break
    name, count, _ = next(a for a in arrays if not a[2])
    result = ctypes.create_string_buffer(4 * count)
    report = json.loads(it.report())
    it.get(result, at[name], 4 * count)
    return result.raw, report, problem.decode()


def without_texts(value):
    """Removes the texts of source lines, which a page does not have, because it has no files."""
    if isinstance(value, dict):
        return {k: without_texts(v) for k, v in value.items() if k != 'text'}
    return [without_texts(v) for v in value] if isinstance(value, list) else value


def difference(a, b, path=''):
    """Returns the first difference of two values, such as 'kernels.0.total.branches: 3 | 4'."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        pairs = [(k, a[k], b[k]) for k in a]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [(k, x, y) for k, (x, y) in enumerate(zip(a, b))]
    else:
        return f'{path[1:]}: {a} | {b}'[:300]
    return next(difference(x, y, f'{path}.{k}') for k, x, y in pairs if x != y)


def launches_of_programs(run, shown):
    """The profile of the course's own program, run by `lab env`, has the same kernels, launches and blocks."""
    size = [str(n) for n in run['sizes'].values()]
    made = subprocess.run([ROOT / 'lab', 'env', run['lab'], '--step', run['step'], '--size', 'x'.join(size)], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if made.returncode:
        return print(f'not compared with the program: {run["lab"]} {run["step"]}: {made.stderr.strip()[:100]}')
    profile = BUILT / 'profile.json'
    profile.unlink(missing_ok=True)
    subprocess.run(['bash', '-c', '. /dev/stdin; STEPWISE_COUNTERS=1 STEPWISE_PROFILE="$0" "$STEPWISE_PROGRAM" "$STEPWISE_CALLS"',
                    str(profile)], input=made.stdout, text=True, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    theirs = [json.loads(line) for line in profile.read_text().splitlines()][-1]['kernels']
    mine = shown['profile']['kernels']
    keys = ('mangled', 'launches', 'grid', 'block', 'dynamic_shared_bytes', 'registers')
    expect([[k[key] for key in keys] for k in theirs] == [[k[key] for key in keys] for k in mine],
           f'{run["lab"]} {run["step"]}: the program launches {[[k[key] for key in keys] for k in theirs]}')
    for theirs_of, mine_of in zip(theirs, mine):
        for what in ('instructions', 'branches', 'divergent_branches'):
            expect(theirs_of['total'][what] == mine_of['total'][what], f'{run["lab"]} {run["step"]}: {what} of the program')


def in_a_page():
    """The pages in Chromium, from disk, run, react to input, and make no request."""
    need(chromium=True)
    site = build(ROOT)
    ready = '''new Promise((done) => {
        const look = () => (/warp instructions in|whole number|at most|stopped|not run/.test(
            document.querySelector('#live-status').textContent) ? done(document.querySelector('#live-out').innerText
            + document.querySelector('#live-status').textContent) : setTimeout(look, 50));
        setTimeout(look, 400);
    })'''
    typed = '(k, v) => { const f = document.querySelector("#live-form").elements[k]; f.value = v; ' \
            'for (const e of ["input", "change"]) f.dispatchEvent(new Event(e, {bubbles: true})); }'
    try:
        with browser.Browser() as chromium:
            page = chromium.open((site.out / 'reduction/live.html').as_uri())

            def words_shown(**fields):
                for name, value in fields.items():
                    page.run(f'({typed})({json.dumps(name.replace("_", "-"))}, {json.dumps(value)})')
                return page.run(ready)

            sums = [sum((NUMBERS * (n // 8 + 1))[:n]) for n in (65537, 1000)]
            first = words_shown()
            expect(f'Right: {sums[0]}' in first, f'the first run of reduction: {first[:300]}')
            small = words_shown(step='10_one_launch', n='1000')
            expect(f'Right: {sums[1]}' in small and '1 launch,' in small, f'10_one_launch: {small[:300]}')
            odd = words_shown(step='03_sequential', n='1000', block_x='96')
            expect('Wrong: element 0' in odd, f'a block of 96: {odd[:300]}')
            expect('a whole number from 1' in words_shown(n='0'), 'n = 0 is accepted')
            expect('at most 1024 threads' in words_shown(n='5', block_x='1024', block_y='2'), '2048 threads are accepted')
            for lab in ('matmul', 'transpose'):
                page.go((site.out / f'{lab}/live.html').as_uri())
                expect('Right: all' in (text := words_shown()), f'{lab}: {text[:300]}')
            if AXE.is_file():
                page.run(AXE.read_text() + '; 0')
                found = page.run('axe.run(document, {resultTypes: ["violations"], preload: false}).then((r) => r.violations.filter('
                                 '(v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + v.nodes[0].target))')
                expect(not found, f'axe: {found}')
            page.send('Emulation.setDeviceMetricsOverride', width=360, height=900, deviceScaleFactor=1, mobile=False)
            wide = page.run('document.documentElement.scrollWidth')
            expect(wide <= 360, f'{wide} pixels wide on a phone of 360')
            for name in sys.argv[1:]:
                if not name.startswith('-'):
                    page.picture(pathlib.Path(name))
            wrong.extend(sorted(set(page.trouble())))
    finally:
        shutil.rmtree(site.out)


def main():
    node = shutil.which('node')
    gone = 'node is missing: apt-get install nodejs' if not node else ' '.join({live.missing(ROOT, lab) for lab in ARRAYS})
    if gone.strip():
        print(f'skipped: {gone.strip()} python3 slides/site/live/build.py')
        sys.exit(77)
    both = {'checks': True, 'counters': True}
    steps = [(lab, name) for lab, names in live.steps().items() for name in names]
    sizes = {'reduction': {'n': 65537}, 'matmul': {'n': 70}, 'transpose': {'rows': 50, 'cols': 70}}
    runs = [{'lab': lab, 'step': step, 'sizes': sizes[lab], 'numbers': NUMBERS, 'watch': both} for lab, step in steps]
    right = len(runs)
    # Blocks that are not a power of two, or that these kernels do not support: wrong sums, unwritten words, races.
    odd = [('reduction', '03_sequential', [96, 1, 1]), ('reduction', '05_unroll_warp', [32, 1, 1]),
           ('reduction', '08_shuffle', [64, 1, 1]), ('transpose', '04_tiled', [16, 16, 1]),
           ('matmul', '03_tiled', [64, 16, 1]), ('reduction', '01_interleaved', [2048, 1, 1])]
    runs += [{'lab': lab, 'step': step, 'sizes': sizes[lab], 'block': block, 'numbers': NUMBERS, 'watch': both}
             for lab, step, block in odd]
    times = 5 if '--speed' in sys.argv else 1  # browsers keep the compiled emulator
    runs += times * [{'lab': 'matmul', 'step': '01_column', 'sizes': {'n': 256}, 'numbers': NUMBERS, 'watch': {}}]
    done = subprocess.run([node, str(ROOT / 'slides/site/tests/live_node.js')], input=json.dumps(runs), text=True,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    page = json.loads(done.stdout)
    it, found = native(), set()
    for at, (run, shown) in enumerate(zip(runs, page)):
        what = f'{run["lab"]} {run["step"]} {shown["block"]}'
        result, report, problem = here(it, run, shown)
        expect(shown['problem'] == problem, f'{what}: {shown["problem"]!r} on the page, {problem!r} here')
        expect(shown['result'] is None or base64.b64decode(shown['result']) == result, f'{what}: the results differ')
        for key in ('findings', 'profile', 'warp_instructions'):
            mine, theirs = without_texts(shown[key]), without_texts(report[key])
            expect(mine == theirs, f'{what}: {key} differ: {mine != theirs and difference(mine, theirs)}')
        found |= {f['kind'] for f in shown['findings']}
        if at < right:
            expect(shown['wrong'] == -1 and shown['problem'] == '', f'{what}: element {shown["wrong"]} {shown["problem"]}')
            expect(not shown['findings'], f'{what}: {shown["findings"][:1]}')
    in_a_page()
    expect(found, 'no wrong launch led to a finding, so no findings were compared')
    for run, shown in zip(runs[:right], page):
        launches_of_programs(run, shown)
    if '--speed' in sys.argv:
        rates = [f'{shown["warp_instructions"] / shown["seconds"] / 1e6:.1f}' for shown in page[-times:]]
        print(f'naive 256 x 256 matmul, {page[-1]["warp_instructions"]} warp instructions, repeated: '
              f'{", ".join(rates)} million per CPU-second')
    print(f'{len(runs)} runs; kinds of findings: {", ".join(sorted(found))}')
    sys.exit('\n'.join(wrong[:20]) if wrong else 0)


main()
