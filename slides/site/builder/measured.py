"""Reads the records of a lab, each completely or not at all. Unreadable records are listed, never guessed.

Times are in seconds, rates per second. A reader raises on a value that it does not expect;
`Records` then lists the file and the reason in `gaps`, and continues without it.
"""
import collections
import json
import math

from slides.builder.records import read_record


def number(value, least=0.0):
    """Returns a finite number above `least`. ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f'expected a number, found {value!r}')
    if value <= least:
        raise ValueError(f'expected more than {least:g}, found {value!r}')
    return float(value)


def text(value):
    if not isinstance(value, str):
        raise ValueError(f'expected a text, found {value!r}')
    return value


def size_of(entry):
    return tuple(int(number(n, -1)) for n in entry['size'])


def label_of(entry):
    """'n = 1000': the size of an entry, without the seed of its inputs."""
    return text(entry['label']).rsplit(', seed', 1)[0]


def short(gpu):
    """'NVIDIA H100 80GB HBM3' -> 'H100', 'NVIDIA GeForce GTX 980' -> 'GTX 980'."""
    name = gpu.replace('NVIDIA ', '').replace('GeForce ', '').replace('Tesla ', '')
    return name.split(' ')[0] if name.startswith(('H100', 'H200', 'A100')) else name


Times = collections.namedtuple('Times', 'gpu date command sizes entries baselines')
Entry = collections.namedtuple('Entry', 'seconds low high bytes operations rate_in on')
Modelled = collections.namedtuple('Modelled', 'gpu date command entries median_error')
Counted = collections.namedtuple('Counted', 'gpu date command steps')
Profile = collections.namedtuple('Profile', 'size kernel seconds instructions dram_bytes figures')
Profiles = collections.namedtuple('Profiles', 'gpu date command steps')
Lecture = collections.namedtuple('Lecture', 'gpu source unit size size_stated figures')
Sweep = collections.namedtuple('Sweep', 'name date command counter axes points')  # axes: {name: values}
Point = collections.namedtuple('Point', 'values seconds low high bytes counted occupancy registers')
Sweeps = collections.namedtuple('Sweeps', 'gpu sweeps')
Parts = collections.namedtuple('Parts', 'gpu date command step label times')  # times: {part: seconds}
Ragged = collections.namedtuple('Ragged', 'gpu date command step baselines')
Guided = collections.namedtuple('Guided', 'gpu date command words steps')
Figures = collections.namedtuple('Figures', 'gpu date command values')


def head(doc):
    return short(text(doc['gpu'])), text(doc['date'])[:10], text(doc['command'])


def read_times(doc):
    """{(step, size): Entry} of the steps with a cold L2 and of the baselines; sizes: {size: label}."""
    sizes, entries, baselines = {}, {}, {}
    for at in doc['entries']:
        if 'duel' in at:
            continue
        size, cold = size_of(at), at['cold']
        if 'step' in at:
            sizes[size] = label_of(at)
        into, name = (entries, at['step']) if 'step' in at else (baselines, at['baseline'])
        into[text(name), size] = Entry(
            number(cold['median_ms']) / 1e3, number(cold['low_ms']) / 1e3, number(cold['high_ms']) / 1e3,
            number(at['bytes']), number(at['operations']) if 'operations' in at else None, at.get('rate_in'),
            at.get('on', 'gpu'))
    if not entries:
        raise ValueError('no step has a time')
    return Times(*head(doc), sizes, entries, baselines)


def read_modelled(doc):
    entries = {(text(t['step']), size_of(t)): number(t['modelled_ms']) / 1e3
               for t in doc['entries'] if 'modelled_ms' in t}
    return Modelled(*head(doc), entries, number(doc['median_error'], -1))


def read_counted(doc):
    """{step: [(label, [(kernel, grid, block, launches, {counter: value or [low, high]})])]}"""
    steps = {}
    for k in doc['entries']:
        sizes = steps.setdefault(text(k['step']), {})
        sizes.setdefault(label_of(k), []).append(
            (text(k['kernel']), k['grid'], k['block'], int(number(k['launches'])),
             {name: counted(v) for name, v in k['counted'].items()}))
    return Counted(*head(doc), {step: list(sizes.items()) for step, sizes in steps.items()})


def counted(value):
    if isinstance(value, list):
        return [number(v, -1) for v in value]
    return number(value, -1)


def read_profiles(doc):
    """{step: Profile} of the kernel with the most time."""
    steps = {}
    for f in doc['entries']:
        steps[text(f['step'])] = Profile(size_of(f), text(f['kernel']), number(f['us']) / 1e6,
                                            number(f['instructions']), number(f['dram_bytes'], -1),
                                            {k: number(f[k], -1) for k in ('occupancy', 'compute', 'memory')})
    return Profiles(*head(doc), steps)


def read_lectures(doc):
    lectures = []
    for one in doc['entries']:
        figures = [{'version': text(f['version']), 'step': text(f['step']),
                    'published': number(f['published']), 'message': text(f.get('message') or ''),
                    'modelled': None if f['modelled'] is None else number(f['modelled'])}
                   for f in one['figures']]
        lectures.append(Lecture(short(text(one['gpu'])), text(one['source']), text(one['unit']),
                                size_of(one), one['size_stated'], figures))
    return lectures


def read_sweeps(doc):
    sweeps = []
    for one in [entry for entry in doc['entries'] if 'axes' in entry]:
        axes = {text(a['name']): [text(v) for v in a['values']] for a in one['axes']}
        points = {}
        for p in [entry for entry in doc['entries'] if entry['sweep'] == one['sweep'] and entry is not one]:
            values = tuple(text(v) for v in p['values'])
            if len(values) != len(axes) or any(v not in known for v, known in zip(values, axes.values())):
                raise ValueError(f'{one["sweep"]}: a point at {values} is on no axis')
            points[values] = Point(values, number(p['median_ms']) / 1e3, number(p['low_ms']) / 1e3,
                                   number(p['high_ms']) / 1e3, number(p['bytes']),
                                   None if p.get('counted') is None else number(p['counted'], -1),
                                   number(p['occupancy_percent'], -1), int(number(p['registers'])))
        if not points:
            raise ValueError(f'{one["sweep"]}: no point')
        sweeps.append(Sweep(text(one['sweep']), text(one['date'])[:10], text(one['command']), one['counter'], axes, points))
    return Sweeps(short(text(doc['gpu'])), sweeps)


def read_parts(doc):
    times = {text(p['part']): number(p['median_ms']) / 1e3 for p in doc['entries']}
    if 'full' not in times:
        raise ValueError('the whole has no time')
    return Parts(*head(doc), text(doc['step']), label_of(doc), times)


def read_ragged(doc):
    """baselines: {name: [(label, class, amount, seconds of the step, ratio, low, high)]}"""
    baselines = {}
    for s in doc['entries']:
        baselines.setdefault(text(s['baseline']), []).append(
            (text(s['label']), text(s['class']), number(s['amount']), number(s['step_ms']) / 1e3,
             number(s['ratio']), number(s['low']), number(s['high'])))
    return Ragged(*head(doc), text(doc['step']), baselines)


def read_guided(doc):
    """Reads a record of recorder.py; steps: {step: its entry}, which is checked when a page uses it."""
    if doc.get('schema') != 'stepwise/guided/2':
        raise ValueError(f'it is of another version: {doc.get("schema")!r}')
    words = {text(cause): text(wording) for cause, wording in doc['words'].items()}
    steps = {}
    for one in doc['entries']:
        analysis = one['analysis']
        number(one['ms'])
        number(one['counted'])
        for name in ('kernel', 'limiter', 'says', 'compute_part', 'memory_part'):
            text(analysis[name])
        for name in ('compute', 'memory', 'lanes', 'divergent', 'theoretical_occupancy', 'achieved_occupancy'):
            number(analysis[name], -1)
        for file, lines in one['lines'].items():
            for line in lines:
                if len(line) != 10:
                    raise ValueError(f'{one["step"]}: a line of {file} has {len(line)} figures, not 10')
                for value in line:
                    number(value, -1)
        if any(cause not in words for cause, _ in one['causes']):
            raise ValueError(f'{one["step"]}: a cause without words')
        steps[text(one['step'])] = one
    return Guided(*head(doc), words, steps)


def read_figures(doc):
    return Figures(*head(doc), {text(f['name']): number(f['value'], -math.inf) for f in doc['entries']})


class Records:
    def __init__(self, root):
        self.root = root
        self.gaps = []  # [(path from the root, reason)]

    def read(self, name, reader, lab=None):
        """The result of `reader` for the file, or None if there is no such file or if it is malformed."""
        file = self.root / name
        if not file.is_file():
            return None
        try:
            doc = read_record(file) if file.suffix == '.jsonl' else json.loads(file.read_text())
            if lab and doc['lab'] != lab:
                raise ValueError(f'it belongs to the lab {doc["lab"]!r}')
            return reader(doc)
        except KeyError as error:
            reason = f'it has no {error}'
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            reason = str(error)
        if (name, reason) not in self.gaps:
            self.gaps.append((name, reason))
        return None

    def gaps_of(self, lab):
        return [gap for gap in self.gaps if gap[0].startswith(f'solutions/{lab}/')]

    def of_lab(self, lab):
        """All records of a lab, by kind. Each kind has a list with one record per GPU, newest architecture first."""
        folder = self.root / 'solutions' / lab / 'measured'
        kinds = {'times': [], 'modelled': [], 'counted': [], 'profiles': [], 'sweeps': [], 'parts': [], 'ragged': [],
                 'guided': []}
        readers = {'.modelled': ('modelled', read_modelled), '.counters': ('counted', read_counted),
                   '.profiles': ('profiles', read_profiles), '.sweeps': ('sweeps', read_sweeps),
                   '.limits': ('parts', read_parts), '.ragged': ('ragged', read_ragged),
                   '.guided': ('guided', read_guided), '': ('times', read_times)}
        for file in sorted(folder.glob('*.jsonl'), reverse=True):
            gpu, dot, rest = file.stem.partition('.')
            if dot + rest not in readers or not gpu:
                continue
            kind, reader = readers[dot + rest]
            found = self.read(f'solutions/{lab}/measured/{file.name}', reader, lab)
            if found:
                kinds[kind].append(found)
        kinds['lectures'] = self.read(f'solutions/{lab}/lectures.jsonl', read_lectures, lab) or []
        return kinds

    def gpu(self, name):
        """The figures that `./lab device --measure` recorded for a GPU ('H200'); None if nothing is recorded."""
        return self.read(f'common/gpus/{name.lower()}.measured.jsonl', read_figures)
