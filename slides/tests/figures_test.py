"""Where the figures and the code of the decks come from.

Code      the file of each region is compiled by a target of the build, included by such a file, or
          compiled by a command that a deck captures.
Figures   each expression is computed once more, here, from the records' JSON alone; a deck that is
          built from other records shows other figures on exactly the slides that name a record.
"""
import json
import re
import shlex
import unittest
import zlib

import setting
setting.need()
from slides.builder import code  # noqa: E402
from slides.builder.deck import Deck  # noqa: E402
from slides.builder.records import PREFIXES, Records, read_record, show  # noqa: E402

FILES = sorted((setting.ROOT / 'slides/decks').glob('*.md'))
DECKS = {}
COURSE = json.loads((setting.ROOT / 'build/course.json').read_text())


class Noted(Records):
    """Records that keep what was asked: (expression, variables, value)."""

    def __init__(self, root):
        super().__init__(root)
        self.asked = []

    def evaluate(self, expression, variables=None):
        value = super().evaluate(expression, variables)
        self.asked.append((expression, variables or {}, value))
        return value


class Changed(Records):
    """Records in which every figure is another one: a factor for each place where one stands."""

    def document(self, path):
        def change(value, where):
            if isinstance(value, dict):
                return {k: v if k in ('size', 'bytes', 'operations') else change(v, f'{where}/{k}')
                        for k, v in value.items()}
            if isinstance(value, list):
                return [change(v, f'{where}/{k}') for k, v in enumerate(value)]
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return value
            return value * (2 + zlib.crc32(where.encode()) % 1000 / 50)
        return change(super().document(path), path)

    def attribute(self, gpu, number):
        return super().attribute(gpu, number) * 3


def deck(file, kind=Noted):
    if (file, kind) not in DECKS:
        DECKS[file, kind] = Deck(setting.ROOT, file, kind(setting.ROOT), capture=False)
    return DECKS[file, kind]


def read(path):
    file = setting.ROOT / path
    return read_record(file) if file.suffix == '.jsonl' else json.loads(file.read_text())


def names(lab):
    return next([step['name'] for step in entry['steps']] for entry in COURSE['labs'] if entry['name'] == lab)


def full(name):
    lab, what = name.split('/')
    return lab, next((n for n in names(lab) if n == what or n.startswith(what + '_')), what)


def entry(name, size):
    lab, what = full(name)
    entries = read(f'solutions/{lab}/measured/h200.jsonl')['entries']
    return next(e for e in entries if what in (e.get('step'), e.get('baseline')) and tuple(e['size']) == size)


def counted(name, size, counter):
    lab, what = full(name)
    size = [size] if isinstance(size, int) else list(size)
    return sum(e['counted'][counter] for e in read(f'solutions/{lab}/measured/h200.counters.jsonl')['entries']
               if e['step'] == what and e['size'] == size)


UNIT = {'us': 1e-6, 'ns': 1e-9, 'ms': 1e-3, 's': 1, 'GB/s': 1e9, 'TB/s': 1e12, 'TFLOP/s': 1e12, 'GFLOP/s': 1e9,
        'GFlops': 1e9}


def gpu(name):
    figure = next(f for f in read('common/gpus/h200.measured.jsonl')['entries'] if f['name'] == name)
    return figure['value'] * UNIT.get(figure['unit'], 1)


def attribute(name, number):
    return next(described['attributes'][str(number)] for described in COURSE['gpus'] if described['id'] == name)


def published(name, version=None, gpu=''):
    lab, what = full(name)
    for lecture in read(f'solutions/{lab}/lectures.jsonl')['entries']:
        for figure in lecture['figures']:
            if figure['step'] == what and gpu in lecture['gpu'] and version in (None, figure['version']):
                return figure['published'] * UNIT[lecture['unit']]
    return None


def modelled(name, *size):
    lab, what = full(name)
    times = read(f'solutions/{lab}/measured/h200.modelled.jsonl')['entries']
    return next(t['modelled_ms'] for t in times if t['step'] == what and tuple(t['size']) == size) / 1e3


def part(lab, what):
    programs = read(f'solutions/{lab}/measured/h200.limits.jsonl')['entries']
    return next(p['median_ms'] for p in programs if p['part'] == what) / 1e3


def seconds(name, *size):
    return entry(name, size)['cold']['median_ms'] / 1e3


def largest(lab, *size):
    recorded = [e.get('step') for e in read(f'solutions/{lab}/measured/h200.jsonl')['entries']
                if tuple(e['size']) == size]
    steps = [name for name in names(lab) if name in recorded]
    gains = [(seconds(f'{lab}/{a}', *size) / seconds(f'{lab}/{b}', *size), b)
             for a, b in zip(steps, steps[1:])]
    return max(gains)[1], max(gains)[0]


ONCE_MORE = {
    'time': seconds, 'gpu': gpu, 'attribute': attribute, 'published': published, 'modelled': modelled,
    'part': part, 'ncu': counted, 'largest': largest, 'history': lambda figure, source: figure,
    'warm': lambda name, *size: entry(name, size)['warm']['median_ms'] / 1e3,
    'energy': lambda name, *size: entry(name, size)['energy']['joules_per_call'],
    'watts': lambda name, *size: entry(name, size)['energy']['average_watts'],
    'spread': lambda name, *size: ((entry(name, size)['cold']['high_ms'] - entry(name, size)['cold']['low_ms'])
                                   / entry(name, size)['cold']['median_ms']),
    'rate': lambda name, *size: entry(name, size)['bytes'] / seconds(name, *size),
    'flops': lambda name, n: 2 * n**3 / seconds(name, n),
    'speedup': lambda name, over, *size: seconds(over, *size) / seconds(name, *size),
    'model_error': lambda lab: read(f'solutions/{lab}/measured/h200.modelled.jsonl')['median_error'],
    'count': lambda pattern: len(list(setting.ROOT.glob(pattern))),
    'mutants': lambda: sum(len(re.findall(r'^\w', file.read_text(), re.M))
                           for file in setting.ROOT.glob('labs/*/tests/mutants.txt')),
}


def number(text):
    """1.22 ms -> 0.00122: what a reader takes from the slide, and how exact it is."""
    found = re.fullmatch(r'(-?[\d.,]+)(?:x| ?(%|[numµKMGT]?(?:i?B|s|B/s|FLOP/s|add/s|J|W)?))', text)
    if not found:
        return None
    digits, unit = found[1].replace(',', ''), (found[2] or '').replace('µ', 'u')
    scale = 0.01 if unit == '%' else 1.0
    if re.match('[KMG]i', unit):
        scale = 1024.0 ** ('KMG'.index(unit[0]) + 1)
    elif unit and unit != '%' and unit[0] in 'numKMGT' and unit != 'm':
        scale = PREFIXES[unit[0]]
    places = len(digits.partition('.')[2])
    return float(digits) * scale, 0.5001 * 10.0**-places * scale


class Figures(unittest.TestCase):
    def test_the_file_of_each_region_is_compiled(self):
        targets = read('build/meson-info/intro-targets.json')
        seen, todo = set(), [s for t in targets for group in t['target_sources'] for s in group.get('sources', [])]
        todo += map(str, setting.ROOT.glob('labs/*/tests/mutants/*.cu'))  # Meson names their lists
        commands = [shlex.split(c) for f in FILES for c in deck(f).commands]
        todo += [str(setting.ROOT / c[c.index('--file') + 1]) for c in commands if '--file' in c]
        while todo:  # and what they include
            file = todo.pop()
            path = setting.ROOT / file
            if file in seen or not path.is_file() or not path.is_relative_to(setting.ROOT):
                continue
            seen.add(file)
            if path.suffix in ('.cu', '.cpp', '.hpp', '.cuh'):
                todo += [str(setting.ROOT / i) for i in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)]
        shown = set()
        for file in FILES:
            for words in re.findall(r'^```code (.+)$', file.read_text(), re.M):
                shown.add(str(code.find_file(setting.ROOT, shlex.split(words)[0])))
        self.assertGreater(len(shown), 40)
        self.assertEqual(sorted(shown - seen), [])

    def test_figures_are_what_the_records_say(self):
        compared = 0
        for file in FILES:
            for expression, variables, value in deck(file).records.asked:
                scope = dict(ONCE_MORE, min=min, max=max, round=round, sum=sum, range=range, **variables)
                again = eval(expression, {'__builtins__': {}, **scope})  # pylint: disable=eval-used
                with self.subTest(deck=file.name, expression=expression):
                    if isinstance(value, (int, float)) and value:
                        # A rate in a record has four digits, and so has what is computed of it.
                        self.assertAlmostEqual(again / value, 1, delta=2e-3)
                    else:
                        self.assertEqual(again, value)
                compared += 1
        self.assertGreater(compared, 500)

    def test_a_reader_takes_the_figure_from_the_slide(self):
        forms = ('time', 'us', 'ms', 'GB/s', 'TFLOP/s', 'x', '%', 'int', 'thousands', '.2f', 'MiB', 'J', 'M', 'T')
        for value in (1.2192e-3, 0.0654, 37.68, 1050.4, 4276.7e9, 6.60085e13, 9509256.0):
            for form in forms:
                with self.subTest(value=value, form=form):
                    read_value, half = number(show(value, form))
                    self.assertLessEqual(abs(read_value - value), half)

    def test_slides_that_name_a_record_follow_it_and_others_do_not(self):
        for file in FILES:
            for now, then in zip(deck(file).slides, deck(file, Changed).slides):
                of_record = [s for s in now.sources if s.startswith(('measured', 'counted by ncu', 'modelled', 'common/gpus'))]
                published_there = 'published(' in '\n'.join(now.body + now.notes)
                with self.subTest(deck=file.name, slide=now.title):
                    if of_record or published_there:
                        self.assertNotEqual(now.html + now.notes_html, then.html + then.notes_html)
                    else:
                        self.assertEqual(now.html + now.notes_html, then.html + then.notes_html)
                    for _, form in re.findall(r'\{\{(.*?) \| ([^|}]+)\}\}', '\n'.join(now.body)):
                        if form.strip() in ('x', 'GB/s', 'us', 'ms', 'time'):
                            self.assertTrue(now.sources, 'a figure without its source')


unittest.main()
