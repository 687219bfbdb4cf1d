"""Tests that the emulator in the page computes, finds and counts the same as the emulator of this machine.

The same entry.cpp, compiled for this machine, gets the same calls. Results, findings and counters must be equal
for every step that steps.js describes and for wrong launches. Arithmetic with directed rounding must agree, too. If the
course's own programs are built, they must launch the kernels as steps.js does. Skipped (77) without node, or if
slides/site/live/build.py was not run.
"""
import base64
import ctypes
import json
import random
import shutil
import struct
import subprocess
import sys

from setting import ROOT

from slides.site.live import build as live

BUILT = ROOT / 'build/live'
CALLS = ROOT / 'build/common/emulator/wasm/libpage_calls.so'  # entry.cpp, linked by Meson with the native emulator
NUMBERS = [3, -1, 4, 1, -5, 9, 2, 6]
wrong = []


def expect(holds, what):
    if not holds:
        wrong.append(what)


def native():
    it = ctypes.CDLL(str(CALLS))
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


ROUNDED = [f'{operation}.{mode}' for operation in ('add', 'sub', 'mul', 'div', 'fma', 'rcp', 'sqrt')
           for mode in ('rz', 'rm', 'rp')]
OPERANDS = {'rcp': 1, 'sqrt': 1, 'fma': 3}  # two for all others
THREADS = 1024


def rounding_module(kind, size):
    """PTX of a kernel whose thread t reads three numbers, and writes a result per operation of ROUNDED."""
    lines = ['.version 9.0', '.target sm_90', '.address_size 64', '.visible .entry rounding(.param .u64 in, .param .u64 out) {',
             f'.reg .{kind} %v<5>; .reg .u64 %p<3>; .reg .u32 %t;',
             'ld.param.u64 %p1, [in]; ld.param.u64 %p2, [out]; mov.u32 %t, %tid.x;',
             f'mad.wide.u32 %p1, %t, {3 * size}, %p1; mad.wide.u32 %p2, %t, {len(ROUNDED) * size}, %p2;',
             *(f'ld.global.{kind} %v{k}, [%p1+{k * size}];' for k in range(3))]
    for at, name in enumerate(ROUNDED):
        operands = ', '.join(f'%v{k}' for k in range(OPERANDS.get(name[:-3], 2)))
        lines += [f'{name}.{kind} %v4, {operands};', f'st.global.{kind} [%p2+{at * size}], %v4;']
    return '\n'.join([*lines, 'ret; }'])


def rounding_operands(form):
    """The bytes of THREADS triples: any bits, numbers near one, and numbers that nearly cancel."""
    chosen, values = random.Random(1), []
    for _ in range(THREADS // 2):
        near = [chosen.choice((-1, 1)) * chosen.uniform(0.5, 2) for _ in range(2)]
        values += [*near, -near[0] * near[1]]
    return chosen.randbytes(THREADS // 2 * 3 * struct.calcsize(form)) + struct.pack(f'{len(values)}{form}', *values)


def rounding_run(kind):
    form, size = ('f', 4) if kind == 'f32' else ('d', 8)
    return {'ptx': rounding_module(kind, size), 'kernel': 'rounding', 'threads': THREADS,
            'input': base64.b64encode(rounding_operands(form)).decode(), 'output': THREADS * len(ROUNDED) * size}


def rounding_here(it, run):
    """Makes the same calls as live_node.js."""
    it.start(b'h200', 0)
    data = base64.b64decode(run['input'])
    assert it.load(run['ptx'].encode(), len(run['ptx'])) == b''
    given, got = it.allocate(len(data), b'in'), it.allocate(run['output'], b'out')
    assert it.put(given, data, len(data)) == b''
    shape, values = struct.pack('6I', 1, 1, 1, run['threads'], 1, 1), struct.pack('2Q', given, got)
    problem = it.launch(run['kernel'].encode(), shape, 0, values, 2)
    assert problem == b'', problem
    result = ctypes.create_string_buffer(run['output'])
    it.get(result, got, run['output'])
    return result.raw


def compare_rounding(run, shown, native_bytes, form):
    """Compares numbers by their bits, except that a NaN is equal to any NaN."""
    bits = {'f': 'I', 'd': 'Q'}[form]
    count = run['output'] // struct.calcsize(form)
    page_bytes = base64.b64decode(shown['result'])
    pairs = zip(*(struct.unpack(f'{count}{f}', b) for f in (form, bits) for b in (page_bytes, native_bytes)))
    different = {ROUNDED[at % len(ROUNDED)] for at, (mine, theirs, my_bits, their_bits) in enumerate(pairs)
                 if my_bits != their_bits and not (mine != mine and theirs != theirs)}
    expect(not different, f'{form}: {sorted(different)} differ from this machine')


def main():
    node = shutil.which('node')
    gone = 'node is missing: apt-get install nodejs' if not node else ' '.join({live.missing(ROOT, lab) for lab in ARRAYS})
    if not CALLS.exists():
        gone += f' {CALLS.name} is not built.'
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
    rounding = [rounding_run('f32'), rounding_run('f64')]
    done = subprocess.run([node, str(ROOT / 'slides/site/tests/live_node.js')], input=json.dumps(runs + rounding), text=True,
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
    for run, shown, form in zip(rounding, page[len(runs):], 'fd'):
        compare_rounding(run, shown, rounding_here(it, run), form)
    expect(found, 'no wrong launch led to a finding, so no findings were compared')
    for run, shown in zip(runs[:right], page):
        launches_of_programs(run, shown)
    if '--speed' in sys.argv:
        rates = [f'{shown["warp_instructions"] / shown["seconds"] / 1e6:.1f}' for shown in page[len(runs) - times:len(runs)]]
        print(f'naive 256 x 256 matmul, {page[len(runs) - 1]["warp_instructions"]} warp instructions, repeated: '
              f'{", ".join(rates)} million per CPU-second')
    print(f'{len(runs)} runs; kinds of findings: {", ".join(sorted(found))}')
    sys.exit('\n'.join(wrong[:20]) if wrong else 0)


main()
