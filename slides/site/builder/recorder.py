"""./lab dev site --record LAB condenses the output of `lab profile` for each step into one record.

The record is solutions/LAB/measured/h200.guided.jsonl, schema stepwise/guided/2. All figures are modelled: the
emulator counts, and the time model estimates times. A step has a digest of its sources, so that figures for other
lines are never shown.
"""
import concurrent.futures
import datetime
import hashlib
import json
import os
import subprocess

from . import course
from .errors import SiteError

SCHEMA = 'stepwise/guided/2'
ROWS = 6  # rows of a table, as in the terminal
COUNTS = ('instructions', 'lanes', 'branches', 'divergent', 'sectors', 'ideal_sectors', 'wavefronts',
          'ideal_wavefronts', 'stalled')  # counts of a line, in the record's order; `stalled` is in millionths


def digest(root, step):
    """A digest of the step's file and its parts, since the counts are for their lines."""
    seen = hashlib.sha256()
    for file in [step.file] + step.parts:
        seen.update((root / file).read_bytes())
    return seen.hexdigest()[:16]


def round_to(value, digits=4):
    return float(f'{value:.{digits}g}') if value else 0


def file_of(root, path, name):
    """The path of a repository file from the root, even if the program was compiled elsewhere."""
    parts = path.split('/')
    for at in range(1 if path.startswith('/') else 0, len(parts)):
        tail = '/'.join(parts[at:])
        if tail.count('/') >= 1 and (root / tail).is_file():
            return tail
    return name


def counts_of(line):
    """A line's counts in the order of COUNTS. They already include functions inlined into the line."""
    c = line['counts']
    out = dict.fromkeys(COUNTS, 0)
    for warps, lanes in c['instructions'].values():
        out['instructions'] += warps
        out['lanes'] += lanes
    out['branches'], out['divergent'] = c['branches'], c['divergent_branches']
    for kind, access in c.items():
        if not isinstance(access, dict):
            continue
        for name in ('sectors', 'wavefronts'):
            if name in access:
                out[name] += access[name]
                out['ideal_' + name] += access['ideal_' + name]
    return out


def lines_of(root, kernels):
    """{file: [[line, *COUNTS]]} for all launches of a call, scaled up from the part that ran."""
    found = {}
    all_us = sum(k['timing']['us'] for k in kernels)
    for k in kernels:
        waited = sum(sum(line.get('stalled', {}).values()) for line in k['lines'])
        for line in k['lines']:
            if not line['line']:
                continue
            into = found.setdefault((file_of(root, line['path'], line['file']), line['line']),
                                    dict.fromkeys(COUNTS, 0))
            for name, value in counts_of(line).items():
                into[name] += value / k['timing']['counted']
            if waited:
                into['stalled'] += (1e6 * sum(line.get('stalled', {}).values()) / waited * k['timing']['us'] / all_us)
    files = {}
    for (file, number), counts in sorted(found.items()):
        files.setdefault(file, []).append([number] + [int(round_to(counts[name], 5)) for name in COUNTS])
    return files


def condense(root, step, doc):
    a = doc['analysis']
    places = {(line['file'], line['line']): file_of(root, line['path'], line['file'])
              for k in doc['kernels'] for line in k['lines']}

    def place(at):
        return [places.get((at['file'], at['line']), at['file']), at['line']]
    fixed = doc['advice']['fixed_by']
    following = doc['advice']['next']
    return {
        'step': step.name, 'size': doc['time_size'], 'source': digest(root, step), 'ms': round_to(doc['time_ms']),
        'kernels': [[k['kernel'], k['grid'], k['block'], k['launches'], round_to(k['timing']['us'])]
                    for k in sorted(doc['kernels'], key=lambda k: -k['timing']['us'])][:ROWS],
        'counted': round_to(max(doc['kernels'], key=lambda k: k['timing']['us'])['timing']['counted']),
        'analysis': {name: round_to(a[name]) if isinstance(a[name], float) else a[name] for name in (
            'kernel', 'limiter', 'says', 'compute', 'compute_part', 'memory', 'memory_part', 'lanes', 'divergent',
            'theoretical_occupancy', 'achieved_occupancy')},
        'bytes': {level: round_to(n) for level, n in a['level_bytes'].items()},
        'stalled': {why: round_to(share, 3) for why, share in a['stalled'].items() if share >= 0.005},
        'accesses': [place(x) + [x['access'], round_to(x['per_request']), round_to(x['ideal_per_request']),
                                 round_to(x['share']), x['waste'] or False] for x in a['accesses'][:ROWS]],
        'causes': [[c['cause'], c['gain'] and round_to(c['gain'])] for c in doc['advice']['causes'][:3]],
        'next': following and following['step'],
        'fixed': fixed and [fixed['step'], fixed['cause'], fixed['unit'], round_to(fixed['before']),
                            round_to(fixed['after'])],
        'lines': lines_of(root, doc['kernels'])}


def profile(root, lab, step):
    """(the condensed step, {cause: words}, GPU), from running build/grader/lab now."""
    run = subprocess.run([root / 'build/grader/lab', 'profile', lab.name, step.name, '--json'],
                         capture_output=True, text=True, cwd=root)
    try:
        doc = json.loads(run.stdout)
        if run.returncode or 'analysis' not in doc:
            raise ValueError(doc.get('error') or doc.get('message') or 'no analysis')
    except ValueError as error:
        raise SiteError(f'lab profile {lab.name} {step.name}: {error}\n{run.stderr[-400:]}') from error
    words = {c['cause']: c['words'] for c in doc['advice']['causes'][:3]}
    return condense(root, step, doc), words, doc['modelled_as']


def record(root, name):
    """Profiles all steps of a lab, and writes the record. Returns its path from the root."""
    lab = next((lab for lab in course.labs(root) if lab.name == name), None)
    if not lab:
        raise SiteError(f'there is no lab {name!r}: ./lab list has them')
    if not (root / 'build/grader/lab').exists():
        raise SiteError('build/grader/lab is not built: ./lab setup')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda step: profile(root, lab, step), lab.steps))
    words = {cause: text for _, of_step, _ in found for cause, text in of_step.items()}
    file = f'solutions/{name}/measured/h200.guided.jsonl'
    head = {'schema': SCHEMA, 'lab': name, 'gpu': found[0][2],
            'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'),
            'command': f'./lab dev site --record {name}', 'words': words}
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).write_text(''.join(json.dumps(line, separators=(',', ':'), ensure_ascii=False) + '\n'
                                     for line in [head] + [step for step, _, _ in found]))
    return file
