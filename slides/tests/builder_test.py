"""Tests the builder: the content that a deck may have, refused content, and figures from the records."""
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import setting
setting.need()
from slides.builder import check, code, figures, page, tables, terminal, tools  # noqa: E402
from slides.builder.deck import Deck  # noqa: E402
from slides.builder.errors import DeckError  # noqa: E402
from slides.builder.records import Records, show  # noqa: E402

KERNEL = '''// a kernel
__global__ void twice(int* a) {
  //> todo: double it
  a[threadIdx.x] *= 2;
  //<
}
'''
COURSE = {'labs': [{'name': 'toy', 'steps': [{'name': '01_slow', 'idea': 'the loop'},
                                             {'name': '02_fast', 'idea': 'in parallel'}]}],
          'gpus': [{'id': 'h200', 'attributes': {'16': 132}}]}


def record(ms):
    lines = [{'lab': 'toy', 'gpu': 'NVIDIA H200', 'date': '2026-11-23T00:00:00Z'}, {'describes': [1024], 'bytes': 8e6}]
    lines += [{'step': n, 'size': [1024], 'cold': {'median_ms': t}} for n, t in zip(('01_slow', '02_fast'), ms)]
    return '\n'.join(map(json.dumps, lines))


class Course(unittest.TestCase):
    """A course of one lab in a separate folder, where a test may break it."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        lab = self.root / 'solutions/toy'
        (lab / 'measured').mkdir(parents=True)
        (self.root / 'build').mkdir()
        (self.root / 'build/course.json').write_text(json.dumps(COURSE))
        (lab / '02_fast.cu').write_text(KERNEL)
        self.record = lab / 'measured/h200.jsonl'
        self.record.write_text(record([4.0, 1.0]))

    def build(self, body, notes='??? 1\nSay it.\n'):
        file = self.root / 'deck.md'
        file.write_text(f'---\ntitle: A deck\n---\n# A slide?\n{body}\n{notes}')
        return Deck(self.root, file, Records(self.root))

    def refuses(self, body, words):
        with self.assertRaises(DeckError) as caught:
            self.build(body)
        self.assertIn(words, str(caught.exception))
        self.assertIn('deck.md:4', str(caught.exception))

    def test_figures_follow_the_record(self):
        text = "{{ speedup('toy/02', 'toy/01', 1024) | x }} in {{ time('toy/02', 1024) | time }}"
        self.assertIn('4.00x in 1.00\u00a0ms', self.build(text).slides[0].html)
        self.record.write_text(record([5.0, 2.0]))
        self.assertIn('2.50x in 2.00\u00a0ms', self.build(text).slides[0].html)
        self.assertEqual(self.build(text).slides[0].sources, ['measured: H200, 2026-11-23'])

    def write(self, file, *lines):
        file = self.root / file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('\n'.join(json.dumps({'gpu': 'NVIDIA H200', 'date': '2026-11-23', **line}) for line in lines))

    def test_figures_are_in_seconds_bytes_and_joules(self):
        step = {'step': '02_fast', 'size': [1024]}
        times = {'cold': {'median_ms': 1.0, 'low_ms': 0.9, 'high_ms': 1.2}, 'warm': {'median_ms': 0.5},
                 'energy': {'joules_per_call': 0.25, 'average_watts': 300.0}}
        self.write('solutions/toy/measured/h200.jsonl', {}, {'describes': [1024], 'bytes': 8e6}, {**step, **times},
                   {'step': '01_slow', 'size': [1024], 'cold': {'median_ms': 4.0}},
                   {'baseline': 'rival', 'size': [1024], 'cold': {'median_ms': 2.0}})
        self.write('solutions/toy/measured/h200.counters.jsonl', {}, {**step, 'counted': {'sectors': 5}},
                   {**step, 'counted': {'sectors': 2}}, {'step': '01_slow', 'size': [1024], 'counted': {'sectors': 9}})
        self.write('solutions/toy/measured/h200.limits.jsonl', {}, {'part': 'full', 'median_ms': 3.0},
                   {'part': 'memory', 'median_ms': 2.0})
        self.write('solutions/toy/measured/h200.modelled.jsonl', {'median_error': 0.1},
                   {'step': '01_slow', 'size': [1024], 'modelled_ms': 6.0}, {**step, 'modelled_ms': 1.5})
        self.write('common/gpus/h200.measured.jsonl', {}, {'name': 'dram', 'unit': 'TB/s', 'value': 4.2},
                   {'name': 'wait', 'unit': 'cycles', 'value': 30}, {'name': 'launch', 'unit': 'us', 'value': 2.5})
        self.write('solutions/toy/lectures.jsonl', {}, *(
            {'gpu': gpu, 'source': 'A. Teacher, 2014', 'unit': unit,
             'figures': [{'version': version, 'step': '02_fast', 'published': value * n}
                         for n, version in ((1, 'first'), (3, 'last'))]}
            for gpu, unit, value in (('GTX 280', 'GB/s', 37.0), ('GTX 980', 'ms', 12.0))))
        for expression, value in (
                ("time('toy/02', 1024)", 1e-3), ("time('toy/rival', 1024)", 2e-3), ("warm('toy/02', 1024)", 0.5e-3),
                ("spread('toy/02', 1024)", 0.3), ("energy('toy/02', 1024)", 0.25), ("watts('toy/02', 1024)", 300),
                ("rate('toy/02', 1024)", 8e9), ("flops('toy/02', 1024)", 2 * 1024**3 * 1e3),
                ("largest('toy', 1024)[1]", 4), ("ncu('toy/02', 1024, 'sectors')", 7), ("part('toy', 'memory')", 2e-3),
                ("modelled('toy/02', 1024)", 1.5e-3), ("model_error('toy')", 0.1), ("gpu('dram')", 4.2e12),
                ("gpu('wait')", 30), ("gpu('launch')", 2.5e-6), ("attribute('h200', 16)", 132),
                ("published('toy/02', 'last')", 111e9), ("published('toy/02', gpu='980')", 12e-3),
                ("count('solutions/toy/*.cu')", 1)):
            with self.subTest(expression=expression):
                self.assertAlmostEqual(Records(self.root).evaluate(expression) / value, 1)

    def test_typed_figures_are_refused(self):
        for typed in ('4.2 ms', '366 GB/s', '87 %', '2x faster', '3.5 TFLOP/s', '16 KB', '300 cycles'):
            self.refuses(f'It takes {typed}.', 'typed by hand')
        for fine in ('a 32 x 32 tile', '256 threads', '`2 ms`', "{{ history('37 GB/s', 'Who, 2014') }}",
                     'n = 2^28', '4 bytes'):
            self.build(f'Here is {fine}.')
        self.refuses('It takes {{ 4.2e-3 | ms }}, {{ 2.5 | x }}.', 'that no record has')
        self.refuses('An average of 3.9 wavefronts.', 'typed by hand')
        self.build('{{ 4 * 2**20 | MiB }}, {{ 1 / 6 | % }}, {{ history(2 * 40e9, "Who, 2016") | GB/s }}')
        with self.assertRaises(DeckError):
            self.build('Fine.', '??? 1\nSay that it takes 5 ms.\n')
        self.refuses("{{ history('37 GB/s', ' ') }}", 'needs its source')

    def test_unknown_names_are_refused(self):
        self.refuses("{{ time('toy/07', 1024) | time }}", 'no such step')
        self.refuses("{{ time('toy/02', 999) | time }}", 'not in the record')
        self.refuses("{{ nonsense(3) }}", 'nonsense')
        self.refuses('{{ 3.0 | parsecs }}', 'no form is called')
        self.refuses('::: dance\n:::', 'not a container')
        self.refuses('```cuda\nint x;\n```', 'code is taken from files')

    def test_code_is_a_region_of_a_file(self):
        html = self.build('```code solutions/toy/02 todo mark "*= 2"\n```').slides[0].html
        shown = re.sub('<[^>]+>', '', html)
        self.assertIn('a[threadIdx.x] *= 2;', shown)
        self.assertNotIn('todo', shown)
        self.assertIn('<mark>', html)
        whole = self.build('```code solutions/toy/02 function twice\n```').slides[0].html
        self.assertIn('__global__', whole)
        self.refuses('```code solutions/toy/02 todo 2\n```', 'solutions/toy/02_fast.cu: the region todo 2 is gone')
        self.refuses('```code solutions/toy/02 function thrice\n```', 'the function thrice is gone')
        self.refuses('```code solutions/toy/02 "a" .. "zzz"\n```', 'any more')
        self.refuses('```code solutions/toy/09 todo\n```', 'no such file')

    def test_code_that_does_not_fit_is_refused(self):
        file = self.root / 'solutions/toy/02_fast.cu'
        file.write_text(KERNEL.replace('*= 2;', '*= 2;  // ' + 'w' * 60))
        lines = code.fit(file.read_text().splitlines()[3:4], 'x', 3)
        self.assertEqual([line[:3] for line in lines], ['// ', 'a[t'])
        file.write_text(KERNEL.replace('*= 2;', '*= 2' + ' + 2' * 30 + ';'))
        self.refuses('```code solutions/toy/02 todo\n```', 'columns do not fit')
        with self.assertRaises(DeckError):
            code.fit(['x;'] * 18, 'x', 0)

    def test_tables_and_charts(self):
        body = "rows toy 01-02\nrate = rate(step, 1024) | GB/s\ngain = speedup(step, before, 1024) | x"
        html = self.build(f'```table\n{body}\n```').slides[0].html
        self.assertIn('<td class="r">4.00x</td>', html)
        self.assertIn('<td class="r">-</td>', html)
        chart = self.build(f'```chart\n{body.rsplit(chr(10), 1)[0]}\n```').slides[0].html
        bars = [int(w) for w in re.findall(r'class="bar0" [^>]*width="(\d+)"', chart)]
        self.assertAlmostEqual(bars[1] / bars[0], 4, delta=0.05)
        self.refuses('```table\nrows toy 09\n```', 'no step 09')

    def test_figures_must_be_readable(self):
        folder = self.root / 'labs/figures'
        folder.mkdir(parents=True)
        (folder / 'f.svg').write_text('<svg viewBox="0 0 360 400" width="9" height="9"><text x="9" y="9" '
                                      'font-size="11">small</text></svg>')
        self.refuses('![a figure](f.svg)', '24 at least')
        html = self.build('![a figure](f.svg "0 0 360 200")').slides[0].html
        self.assertIn('alt="a figure"', html)
        self.assertEqual(figures.LEAST_TEXT, 24)

    def test_fragments_and_notes(self):
        slide = self.build('::: ask\nHow many?\n:::\n\n::: answer\nFour.\n:::\n').slides[0]
        self.assertIn('<div class="fragment answer">', slide.html)
        self.assertEqual((slide.minutes, slide.notes_html), (1.0, '<p>Say it.</p>\n'))
        self.assertIn('<div class="fragment"><p>two', self.build('one\n\n. . .\n\ntwo').slides[0].html)

    def test_what_follows_a_question_waits_for_the_answer(self):
        table = '```table\nrows toy 01-02\nrate = rate(step, 1024) | GB/s\n```\n'
        ask, answer, later = '::: ask\nHow many?\n:::\n', '::: answer\nFour.\n:::\n', '. . .\n\n'
        for body, early in ((table + ask + answer, 0), (ask + answer + 'Five.', 1), (ask + answer + later + 'Five.', 0),
                            (ask + table, 4), (ask + later + table, 0), (ask + answer + answer, 0)):
            self.assertEqual(bool(self.build(body).slides[0].early), bool(early), body)
        self.assertIn('shown before the room', ' '.join(check.format_of(self.build(ask + table))))

    def test_page_needs_nothing_else(self):
        target = self.root / 'out/deck.html'
        page.write(self.build('Is <it> so?'), target)
        text = target.read_text()
        self.assertNotIn('http://', text.replace('http://www.w3.org', ''))
        self.assertNotIn('https://', text)
        self.assertNotIn('src="/', text)

    def test_numbers_as_people_write_them(self):
        self.assertEqual(show(1.2192e-3, 'time'), '1.22 ms')
        self.assertEqual(show(16.34e9, 'GB/s'), '16.3 GB/s')
        self.assertEqual(show(4276.7e9, 'GB/s'), '4277 GB/s')
        self.assertEqual(show(0.0654, '%'), '6.5 %')
        self.assertEqual(show(2.752e-6, 'us'), '2.75 µs')
        self.assertEqual(show(9509256, 'M'), '9.51 M')
        self.assertEqual(show(49152, 'KiB'), '48.0 KiB')

    def test_comments_are_wrapped_as_paragraphs(self):
        long = ['// what  ' + 'w' * 40 + ' ' + 'v' * 40, '//       and on', '// more  text', 'int x;']
        self.assertEqual(code.fit(long, 'x', 0), ['// what  ' + 'w' * 40, '//       ' + 'v' * 40 + ' and on',
                                                  '// more  text', 'int x;'])
        self.assertEqual(code.fit(long[1:], 'x', 0), long[1:])

    def test_long_commands_continue_in_the_next_line(self):
        self.assertEqual(terminal.prompted('run reduction'), '$ ./lab run reduction')
        lines = terminal.prompted('run reduction --file ' + 'labs/reduction/tests/mutants/' + 'x' * 40).split('\n')
        self.assertEqual([line.endswith('\\') for line in lines], [True, False])
        self.assertLessEqual(max(map(len, lines)), terminal.MOST_COLUMNS)

    def test_options_of_commands(self):
        self.assertEqual(terminal.options_of('from "x y" lines 3'), {'from': 'x y', 'lines': '3'})
        with self.assertRaises(DeckError):
            terminal.options_of('colour red')
        self.assertEqual(tables.parse_rows(Records(self.root), ['toy', '02'])[0][1], '02_fast')


class Packages(unittest.TestCase):
    def test_pip_is_the_launchers_own_and_is_fetched_where_there_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            self.assertEqual(tools.own_pip(root), [sys.executable, '-m', 'pip'])  # no .venv
            for name in '.venv', '.lab':
                (root / name).mkdir()
            (root / '.lab/fetch_wheels.py').write_text(
                'import sys\nopen(sys.argv[1] + "/" + sys.argv[2] + "-1-py3-none-any.whl", "w")\n')
            wheel = root / '.venv/pip-1-py3-none-any.whl'
            self.assertEqual(tools.own_pip(root), [sys.executable, str(wheel / 'pip')])
            (root / '.lab/fetch_wheels.py').unlink()  # the wheel exists by now
            self.assertEqual(tools.own_pip(root), [sys.executable, str(wheel / 'pip')])


unittest.main()
