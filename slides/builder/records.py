"""The course's recorded data, for expressions in a deck.

A deck contains, for example, {{ time('reduction/03', 2**28) | time }}: an expression with the functions
below, and the form in which its value is shown. Values are in seconds, bytes per second, operations per
second, or plain numbers. A step is named by its lab and number. Each function notes the source of its
figure, which the slide shows. All numbers are read from solutions/*/measured, solutions/*/lectures.jsonl
and common/gpus.
"""
import functools
import json
import re

from .course import read_course
from .errors import DeckError


def read_record(file):
    """The fields of a record's head, and its `entries`, each with the facts of its size.

    The format: common/formats/json_lines.hpp."""
    head, *lines = map(json.loads, file.read_text().splitlines())
    facts, entries = {}, []
    for line in lines:
        if 'describes' in line:
            facts[tuple(line.pop('describes'))] = line
        else:
            entries.append({**line, **facts.get(tuple(line.get('size', ())), {})})
    return {**head, 'entries': entries}


class Records:
    def __init__(self, root):
        self.root = root
        self.sources = []  # sources of the current expression, in order, each once
        self.notes = 0  # number of requests for figures of records

    def note(self, source):
        self.notes += 1
        if source not in self.sources:
            self.sources.append(source)

    @functools.lru_cache(maxsize=None)
    def document(self, path):
        file = self.root / path
        if not file.exists():
            raise DeckError(f'{path}: there is no such record')
        return read_record(file) if file.suffix == '.jsonl' else json.loads(file.read_text())

    @functools.lru_cache(maxsize=None)
    def course(self):
        return read_course(self.root)

    def steps(self, lab):
        """[(name, idea)] of a lab."""
        for entry in self.course()['labs']:
            if entry['name'] == lab:
                return [(step['name'], step['idea']) for step in entry['steps']]
        raise DeckError(f'there is no lab {lab!r}')

    def step(self, name):
        """'reduction/03' -> ('reduction', '03_sequential')."""
        lab, _, number = name.partition('/')
        found = [s for s, _ in self.steps(lab) if s == number or s.split('_')[0] == number]
        if len(found) != 1:
            raise DeckError(f'{name!r}: {lab} has no such step')
        return lab, found[0]

    def _measured(self, lab):
        record = self.document(f'solutions/{lab}/measured/h200.jsonl')
        self.note(f"measured: {record['gpu'].replace('NVIDIA ', '')}, {record['date'][:10]}")
        return record

    def _entry(self, name, size, field='cold'):
        lab, _, what = name.partition('/')
        entries = self._measured(lab)['entries']
        if what not in [entry.get('baseline') for entry in entries]:
            what = self.step(name)[1]
        for entry in entries:
            if what in (entry.get('step'), entry.get('baseline')) and entry['size'] == list(size) and field in entry:
                return entry
        raise DeckError(f'{name} at {size}: not in the record of {lab}')

    # ---- functions for expressions

    def time(self, name, *size):
        """Seconds of a step or baseline ('reduction/cub'), median with a cold L2."""
        return self._entry(name, size)['cold']['median_ms'] / 1e3

    def warm(self, name, *size):
        """Seconds of a step or baseline right after a call on the same data."""
        return self._entry(name, size, 'warm')['warm']['median_ms'] / 1e3

    def spread(self, name, *size):
        """Width of the 95 % interval of a time, as a fraction of the median."""
        entry = self._entry(name, size)['cold']
        return (entry['high_ms'] - entry['low_ms']) / entry['median_ms']

    def energy(self, name, *size):
        """Joules of the whole board per call, for many calls in a row (warm)."""
        return self._entry(name, size, 'energy')['energy']['joules_per_call']

    def watts(self, name, *size):
        """Mean power of the whole board during many calls in a row."""
        return self._entry(name, size, 'energy')['energy']['average_watts']

    def largest(self, lab, *size):
        """The recorded step with the largest speedup over the step before it: (name, factor)."""
        recorded = {entry.get('step') for entry in self._measured(lab)['entries'] if entry['size'] == list(size)}
        names = [name for name, _ in self.steps(lab) if name in recorded]
        return max(((after, self.speedup(f'{lab}/{after}', f'{lab}/{before}', *size))
                    for before, after in zip(names, names[1:])), key=lambda pair: pair[1])

    def count(self, pattern):
        """The number of files in the repository that match a pattern."""
        return len(list(self.root.glob(pattern)))

    def mutants(self):
        """The number of wrong solutions in the labs' tests."""
        return sum(len(lab['mutants']) for lab in self.course()['labs'])

    def rate(self, name, *size):
        """Bytes per second: the bytes that must move, divided by the time, to 0.1 GB/s as in `lab dev bench`."""
        return round(self._entry(name, size)['bytes'] / self.time(name, *size) / 1e9, 1) * 1e9

    def flops(self, name, n):
        """Operations per second of a product of n x n matrices."""
        return 2.0 * n**3 / self.time(name, n)

    def speedup(self, name, over, *size):
        return self.time(over, *size) / self.time(name, *size)

    def ncu(self, name, size, counter):
        """A GPU's counter, summed over all launches of a call."""
        lab, step = self.step(name)
        record = self.document(f'solutions/{lab}/measured/h200.counters.jsonl')
        self.note(f"counted by ncu: {record['gpu'].replace('NVIDIA ', '')}, {record['date'][:10]}")
        size = [size] if isinstance(size, int) else list(size)
        counts = [entry['counted'][counter] for entry in record['entries']
                  if entry['step'] == step and entry['size'] == size]
        if not counts:
            raise DeckError(f'{name} at {size}: not counted in the record of {lab}')
        return sum(counts)

    def part(self, lab, name):
        """Seconds of a part of a step (`./lab limits`)."""
        record = self.document(f'solutions/{lab}/measured/h200.limits.jsonl')
        self.note(f"measured: {record['gpu'].replace('NVIDIA ', '')}, {record['date'][:10]}")
        for program in record['entries']:
            if program['part'] == name:
                return program['median_ms'] / 1e3
        raise DeckError(f'{lab} has no part {name!r}')

    def gpu(self, name):
        """A figure of the H200 from `./lab device --measure`, in seconds, bytes/s or operations/s."""
        record = self.document('common/gpus/h200.measured.jsonl')
        scale = {'us': 1e-6, 'ns': 1e-9, 'ms': 1e-3, 'GB/s': 1e9, 'TB/s': 1e12, 'TFLOP/s': 1e12,
                 'GFLOP/s': 1e9}
        for figure in record['entries']:
            if figure['name'] == name:
                self.note(f"measured: {record['gpu'].replace('NVIDIA ', '')}, {record['date'][:10]}")
                return figure['value'] * scale.get(figure['unit'], 1)
        raise DeckError(f'common/gpus/h200.measured.jsonl has no figure {name!r}')

    def attribute(self, gpu, number):
        """cudaDeviceAttr `number` of a described GPU."""
        attributes = next((g['attributes'] for g in self.course()['gpus'] if g['id'] == gpu), {})
        if str(number) not in attributes:
            raise DeckError(f'common/gpus/{gpu}.toml has no attribute {number}')
        self.note(f'common/gpus/{gpu}.toml')
        return attributes[str(number)]

    def published(self, name, version=None, gpu=None):
        """The figure that a lecture published for a step, in its own unit (GB/s, GFLOP/s, ms)."""
        lab, step = self.step(name)
        for lecture in self.document(f'solutions/{lab}/lectures.jsonl')['entries']:
            for figure in lecture['figures']:
                if (figure['step'] == step and (version is None or figure['version'] == version)
                        and (gpu is None or gpu in lecture['gpu'])):
                    card = lecture['gpu'].replace('NVIDIA ', '').replace('GeForce ', '')
                    source = lecture['source']
                    author = (re.match(r'[A-Z]\. \w+', source) or re.match(r'[^,(;]+', source))[0].strip()
                    self.note(f"history: {card}, {author}")
                    scale = {'GB/s': 1e9, 'GFLOP/s': 1e9, 'GFlops': 1e9, 'ms': 1e-3, 'us': 1e-6,
                             's': 1}[lecture['unit']]
                    return figure['published'] * scale
        return None

    def modelled(self, name, *size):
        """Seconds according to the time model."""
        lab, step = self.step(name)
        record = self.document(f'solutions/{lab}/measured/h200.modelled.jsonl')
        for entry in record['entries']:
            if entry['step'] == step and entry['size'] == list(size) and 'modelled_ms' in entry:
                self.note(f"modelled: {record['gpu'].replace('NVIDIA ', '')}")
                return entry['modelled_ms'] / 1e3
        raise DeckError(f'{name} at {size}: not in the modelled times of {lab}')

    def model_error(self, lab):
        """The median of the time model's errors for the steps of a lab, as a fraction."""
        self.note('measured and modelled: H200')
        return self.document(f'solutions/{lab}/measured/h200.modelled.jsonl')['median_error']

    def history(self, figure, source):
        """A published figure as it was published, with its source, or a number that follows from
        such figures."""
        if not source.strip():
            raise DeckError(f'history({figure!r}): a published figure needs its source')
        self.note(f'history: {source}')
        return figure

    def evaluate(self, expression, variables=None):
        names = {name: getattr(self, name) for name in (
            'time', 'warm', 'spread', 'energy', 'watts', 'rate', 'flops', 'speedup', 'ncu', 'part', 'gpu',
            'attribute', 'published', 'modelled', 'model_error', 'largest', 'count', 'mutants', 'history')}
        names.update({'min': min, 'max': max, 'round': round, 'sum': sum, 'range': range,
                      '__builtins__': {}})
        names.update(variables or {})
        try:
            return eval(expression, names)  # pylint: disable=eval-used
        except DeckError:
            raise
        except Exception as error:
            raise DeckError(f'{{{{ {expression} }}}}: {error}') from error


def significant(value, digits=3):
    """1.2192 -> '1.22', 16.3 -> '16.3', 4276.7 -> '4277': digits, but all of an integer part."""
    if value == 0:
        return '0'
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    if whole >= digits:
        return f'{value:.0f}'
    places = digits - whole
    probe = abs(value)
    while probe < 0.1:
        probe *= 10
        places += 1
    return f'{value:.{places}f}'


PREFIXES = {'n': 1e-9, 'u': 1e-6, 'm': 1e-3, '': 1, 'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}


def show(value, form):
    """A value as text: `form` is time, a unit with its prefix (us, GB/s, TFLOP/s, KB), KiB, MiB, x,
    %, M, int, thousands, .2f, or text."""
    if value is None:
        return '-'
    if form in ('', 'text'):
        return str(value)
    if form == 'time':
        form = next((u for u, least in (('s', 1), ('ms', 1e-3), ('us', 1e-6)) if value >= least), 'ns')
    if form == 'x':
        return f'{value:.2f}x' if value < 10 else f'{significant(value)}x'
    if form == '%':
        return f'{significant(value * 100, 2)} %'
    if form == 'int':
        return f'{value:.0f}'
    if form == 'thousands':
        return f'{value:,.0f}'
    if re.fullmatch(r'\.\d+f', form):
        return format(value, form)
    if form in ('KiB', 'MiB', 'GiB'):
        return f"{significant(value / 1024 ** ('KMG'.index(form[0]) + 1))} {form}"
    unit = re.fullmatch(r'([numKMGT]?)(s|B/s|B|FLOP/s|add/s|J|W|)', form)
    if not unit:
        raise DeckError(f'no form is called {form!r}')
    return f'{significant(value / PREFIXES[unit[1]])} {form}'.replace(' us', ' µs')
