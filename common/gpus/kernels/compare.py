"""Compares the emulator's counters and modelled times for the kernels here with those of an H200.

usage: compare.py KERNELS UNITS FOLDER [--record] [NAME...]
KERNELS and UNITS are the programs built from main.cu and units.cu. FOLDER has h200.measured.jsonl (times
and ncu's counters of whole kernels), h200.units.jsonl (ncu's counters of units.cu) and h200.modelled.jsonl.
--record writes h200.modelled.jsonl. Without it, the modelled times must match the times in that file. If there
are NAMEs, only these kernels run.

The compiler loads constants with HFMA2 instructions. ncu counts them at the tensor cores, with two cycles each.
h200.measured.jsonl does not include them.

The kernels are assigned to the two halves alternately. Constants of the time model may be fitted to the first half
only. The accuracy of the model is that of the second half, which also includes the products of 4096 x 4096
matrices (large_...). These kernels are sampled, so their results and counters are incomplete.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# The limits: of a kernel's difference from its recorded time, and of the second half's difference from the GPU.
DRIFT = 0.02
MOST_MEAN_ERROR, LEAST_RANK_CORRELATION = 0.12, 0.95


def read(path):
    with open(path, encoding='utf-8') as lines:
        records = [json.loads(line) for line in lines]
    return records[0], records[1:]


def is_large(name):
    return name.startswith('large_')


def run(program, *arguments, times=True):
    """Returns the output of the program and the profile of its kernels."""
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, 'profile.json')
        settings = {'STEPWISE_GPU': 'h200', 'STEPWISE_COUNTERS': '1', 'STEPWISE_PROFILE': profile}
        if times:
            settings |= {'STEPWISE_TIMES': 'sampled' if is_large(arguments[-1]) else 'whole',
                         'STEPWISE_EVENT_TIMES': 'modelled'}
        done = subprocess.run([program, *arguments], env=os.environ | settings, capture_output=True, text=True,
                              check=True)
        with open(profile, encoding='utf-8') as text:
            return done.stdout, json.loads(text.read().splitlines()[-1])['kernels']


def ranks(values):
    order = sorted(values)
    return [order.index(v) for v in values]


def rank_correlation(a, b):
    return statistics.correlation(ranks(a), ranks(b))


def compare_counters(name, counters, found, complaints):
    for counter, expected in counters.items():
        value = sum(k['total'].get('async', {}).get(counter, 0) for k in found)
        if value != expected:
            complaints.append(f'{name}: {counter} = {value}, ncu counts {expected} on an H200')


def compare_units(program, folder, complaints):
    _, kernels = run(program, times=False)
    for unit in read(os.path.join(folder, 'h200.units.jsonl'))[1]:
        found = [k for k in kernels if k['kernel'].split('::')[-1] == unit['kernel']]
        compare_counters(unit['kernel'], unit['counters'], found, complaints)


def compare_kernels(program, folder, names, record):
    complaints = []
    header, measured = read(os.path.join(folder, 'h200.measured.jsonl'))
    kept_path = os.path.join(folder, 'h200.modelled.jsonl')
    kept = {} if record else {k['name']: k['us'] for k in read(kept_path)[1]}
    chosen = [m for m in measured if not names or m['name'] in names]
    halves, lines = ([], []), []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = pool.map(lambda m: run(program, *(['--large'] if is_large(m['name']) else []), m['name']), chosen)
        for m, (text, kernels) in zip(chosen, outputs):
            answer = json.loads(text.splitlines()[0])
            us, name = answer['us'], m['name']
            if not answer['right'] and not is_large(name):
                complaints.append(f'{name}: wrong results')
            compare_counters(name, m.get('counters', {}), kernels, complaints)
            if not record and abs(us - kept[name]) > DRIFT * kept[name]:
                complaints.append(f'{name}: {us:.1f} us, recorded were {kept[name]:.1f} us')
            half = 1 if is_large(name) else measured.index(m) % 2
            halves[half].append((m['us'], us))
            lines.append({'name': name, 'us': round(us, 2)})
            print(f"{name:36} {'second' if half else 'first':6} half: {m['us']:7.1f} us measured, {us:7.1f} modelled, "
                  f"{100 * (us / m['us'] - 1):+6.1f} %", flush=True)
    for name, pairs in zip(('first', 'second'), halves):
        if len(pairs) < 3:
            continue
        errors = [abs(us / expected - 1) for expected, us in pairs]
        correlation = rank_correlation(*zip(*pairs))
        print(f'{name} half: {len(pairs)} kernels, mean error {100 * statistics.mean(errors):.1f} %, '
              f'median {100 * statistics.median(errors):.1f} %, rank correlation {correlation:.3f}')
        if name == 'second' and not names and (statistics.mean(errors) > MOST_MEAN_ERROR
                                               or correlation < LEAST_RANK_CORRELATION):
            complaints.append('the second half is less accurate than promised')
    if record:
        with open(kept_path, 'w', encoding='utf-8') as out:
            for line in [header | {'command': 'compare.py --record'}, *lines]:
                out.write(json.dumps(line, separators=(',', ':')) + '\n')
    return complaints


def main():
    words = [w for w in sys.argv[1:] if w != '--record']
    kernels, units, folder, *names = words
    complaints = compare_kernels(kernels, folder, names, '--record' in sys.argv)
    compare_units(units, folder, complaints)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())
