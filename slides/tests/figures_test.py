"""Tests the origin of the figures and the code of the decks.

Code      The file of each region is compiled by a target of the build, included by such a file, or
          compiled by a command that a deck captures.
Figures   A deck that is built from changed records shows other figures on exactly the slides that name
          a record. builder_test.py tests the functions that read records.
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
from slides.builder.records import PREFIXES, Records, show  # noqa: E402

FILES = sorted((setting.ROOT / 'slides/decks').glob('*.md'))
DECKS = {}


class Changed(Records):
    """Records in which every figure has changed, by a factor that depends on its place."""

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


def deck(file, kind=Records):
    if (file, kind) not in DECKS:
        DECKS[file, kind] = Deck(setting.ROOT, file, kind(setting.ROOT), capture=False)
    return DECKS[file, kind]


def number(text):
    """Returns the value of a figure on a slide (1.22 ms -> 0.00122), and its precision."""
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
        targets = json.loads((setting.ROOT / 'build/meson-info/intro-targets.json').read_text())
        seen, todo = set(), [s for t in targets for group in t['target_sources'] for s in group.get('sources', [])]
        todo += map(str, setting.ROOT.glob('labs/*/tests/mutants/*.cu'))  # Meson names their lists
        commands = [shlex.split(c) for f in FILES for c in deck(f).commands]
        todo += [str(setting.ROOT / c[c.index('--file') + 1]) for c in commands if '--file' in c]
        while todo:  # and the files that they include
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
