"""Tests the reader of the course's files: the values that it reads, and its messages about mistakes."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

READER = pathlib.Path(__file__).resolve().parents[1]
ROOT = READER.parents[1]
sys.path.insert(0, str(READER))

from glossary import read_glossary, term_key  # noqa: E402
from lab_file import read_lab_file  # noqa: E402
from lectures import read_lectures  # noqa: E402
from lists import read_idea, read_limits, read_mutants, read_baselines, read_recorded, read_steps  # noqa: E402
from toml_file import CourseError  # noqa: E402

GOOD = '''title = "T"
order = 2
function = "f"
contract = "t.hpp"
skeleton = "00_a"
[sizes]
check = [[1], [33]]
bench = [[100]]
emulated = [[10]]
[[goals]]
name = "right"
kind = "correct"
points = 40
[[goals]]
name = "fast"
kind = "speedup"
over = "00_a"
at_least = 1.5
points = 2.5
'''


def lab(text):
    return read_lab_file(text, 'lab.toml', 't')


class Reader(unittest.TestCase):
    def refuses(self, words, read, *arguments):
        with self.assertRaises(CourseError) as caught:
            read(*arguments)
        self.assertIn(words, str(caught.exception))

    def refuses_lab(self, words, text):
        self.refuses(words, lab, text)

    def replaced(self, what, by):
        self.assertIn(what, GOOD)
        return GOOD.replace(what, by, 1)


class LabFile(Reader):
    def test_a_missing_key_has_its_default(self):
        read = lab(GOOD)
        self.assertEqual((read['title'], read['order'], read['contract']), ('T', 2, 't.hpp'))
        self.assertEqual(read['sizes'], {
            'check': [[1], [33]], 'bench': [[100]], 'emulated': [[10]], 'modelled': [[10]], 'hidden': [], 'ragged': [],
            'promised': [[100]], 'multiple_of': 1})
        self.assertEqual((read['time_limit_s'], read['timing_s'], read['host_bytes']), (10, 20, 0))
        self.assertTrue(read['tensor_cores'] and read['published_steps_earn'] and read['library_kernels_earn'])
        self.assertEqual((read['least_capability'], read['hopper']), (0, []))
        self.assertEqual((read['own_input'], read['sweep'], read['experiments']), ('', None, []))
        fast = read['goals'][1]
        self.assertEqual((fast['kind'], fast['over'], fast['limit'], fast['points']), ('speedup', '00_a', 1.5, 2.5))
        self.assertEqual(fast['place'], 'lab.toml:14')

    def test_mistakes_are_reported_with_file_line_and_key(self):
        for words, text in (
                ('lab.toml: missing key `order`', self.replaced('order = 2\n', '')),
                ('lab.toml:2: `order` has the wrong type', self.replaced('order = 2', 'order = "2"')),
                ('lab.toml:2: `order` has the wrong type', self.replaced('order = 2', 'order = true')),
                ('lab.toml: unknown key `tensorcores`; known are title, ', 'tensorcores = false\n' + GOOD),
                ('lab.toml:1: `tensor_cores` is true or false', 'tensor_cores = 1\n' + GOOD),
                ('lab.toml: `own_input` is "image" or "points", not "x"', 'own_input = "x"\n' + GOOD),
                ('lab.toml:14: goal "fast": unknown kind "speed"; known are correct, checks, ',
                 self.replaced('"speedup"', '"speed"')),
                ('lab.toml:7: a size is a list of integers', self.replaced('[[1], [33]]', '[1, 33]')),
                ('lab.toml:8: a size is a list of integers', self.replaced('[[1], [33]]', '[[1],\n"a"]')),
                ('lab.toml:6: sizes.bench must be a list', self.replaced('[[100]]', '[]')),
                ('lab.toml: sizes: unknown key `hiden`', self.replaced('bench', 'hiden = [[1], [2]]\nbench')),
                ('lab.toml: missing table `sizes`', GOOD[:GOOD.index('[sizes]')]),
                ('lab.toml: needs at least one [[goals]]', GOOD[:GOOD.index('[[goals]]')]),
                ('goals are tables: [[goals]]', 'goals = [1]\n' + GOOD[:GOOD.index('[[goals]]')]),
                ("a goal's points must be positive", self.replaced('points = 40', 'points = 0')),
                ('lab.toml:1: ', 'title = \n'),
                ('lab.toml:1: ', '[sweep\n')):
            with self.subTest(words):
                self.refuses_lab(words, text)

    def test_a_range_has_a_smallest_and_a_largest_size(self):
        ranged = lab(self.replaced('[[goals]]', 'ragged = [[3], [99]]\n[[goals]]'))
        self.assertEqual(ranged['sizes']['ragged'], [[3], [99]])
        for wrong in ('[[99], [3]]', '[[3]]', '[[3], [9, 9]]'):
            self.refuses_lab('lab.toml: sizes.ragged is the smallest and the largest size to draw: [[2], [1000]]',
                             self.replaced('[[goals]]', f'ragged = {wrong}\n[[goals]]'))
        self.refuses_lab('lab.toml: sizes.hidden and sizes.ragged have as many numbers as sizes.check',
                         self.replaced('[[goals]]', 'hidden = [[3, 3], [9, 9]]\n[[goals]]'))

    def test_goals_are_in_the_order_in_which_they_are_judged(self):
        counter = '[[goals]]\nname = "few"\nkind = "counter"\npoints = 5\nsize = [10]\ncounter = "c"\nat_most = 2\n'
        reach = '[[goals]]\nname = "near"\nkind = "reach"\npoints = 5\nstep = "00_a"\nfraction = 0.9\n'
        checks = '[[goals]]\nname = "clean"\nkind = "checks"\npoints = 5\n'
        goals = lab(self.replaced('[[goals]]', reach + counter + '[[goals]]') + checks)['goals']
        self.assertEqual([goal['name'] for goal in goals], ['right', 'clean', 'few', 'fast', 'near'])
        self.assertEqual((goals[2]['side'], goals[2]['limit'], goals[2]['size']), ('at_most', 2, [10]))
        self.assertEqual((goals[4]['over'], goals[4]['limit']), ('00_a', 0.9))

    def test_mistakes_in_a_goal_name_the_goal(self):
        reach, counter = 'kind = "reach"\nstep = "00_a"\n', 'kind = "counter"\ncounter = "c"\n'
        cases = [('kind = "reach"\nfraction = 0.9', 'missing key `step`'), (reach, 'missing key `fraction`'),
                 (reach + 'fraction = "1"', '`fraction` has the wrong type'),
                 (reach + 'fraction = 1\nat_least = 2', 'unknown key `at_least`; a goal of kind reach has name, kind, '
                                                        'points, hint, step, fraction, modelled'),
                 (reach + 'fraction = 1\nmodelled = 0', '`modelled` must be positive'),
                 ('kind = "speedup"\nover = "00_a"\nat_least = 0', '`at_least` must be positive'),
                 ('kind = "checks"\nsize = [10]', 'unknown key `size`'),
                 (counter + 'size = [10]', 'needs one of `at_most` and `at_least`'),
                 (counter + 'size = [10]\nat_most = 1\nat_least = 1', 'needs one of `at_most` and `at_least`'),
                 (counter + 'at_most = 1', 'missing key `size`'),
                 (counter + 'size = [10, 10]\nat_most = 1', "size has 2 numbers, the lab's sizes have 1"),
                 (counter + 'size = [10]\nat_most = -1', "a counter's limit must not be negative"),
                 (counter + 'size = [10]\nat_most = 1\nleast_shared = 2', '`least_shared` must lie in (0, 1]'),
                 (counter + 'size = [10]\nat_most = 1\nmost_active = 0', '`most_active` must be positive'),
                 (counter + 'size = [10]\nat_most = 1\nmost_active = 9',
                  '`most_active` is a key of the counter warp_execution_efficiency_percent')]
        cases += [(reach + f'fraction = {wrong}', '`fraction` must lie in (0, 1.5]')
                  for wrong in ('0', '-0.5', '1.51', 'nan', 'inf')]
        for goal, words in cases:
            with self.subTest(goal):
                self.refuses_lab(f'lab.toml:20: goal "g": {words}', f'{GOOD}[[goals]]\nname = "g"\npoints = 5\n{goal}\n')
        lab(f'{GOOD}[[goals]]\nname = "g"\npoints = 5\n{reach}fraction = 1.5\n')
        self.refuses_lab('goal "g" needs "other", which must be a counter goal without `needs`',
                         f'{GOOD}[[goals]]\nname = "g"\npoints = 5\n{counter}size = [10]\nat_most = 1\nneeds = "other"\n')

    def test_a_sweep_and_experiments(self):
        read = lab(GOOD + '[sweep]\nstep = "00_a"\nover = ["threads=32..1024", "items=1,2"]\ncounter = "c"\n'
                          '[[experiments]]\nname = "divergence"\nover = ["ways=1..32"]\ntitle = "One warp"\n'
                          '[[experiments]]\nname = "stride"\nover = ["stride=1..32"]\ngiven = false\n')
        self.assertEqual(read['sweep'], {'place': 'lab.toml:20', 'step': '00_a',
                                         'over': ['threads=32..1024', 'items=1,2'], 'counter': 'c'})
        first, second = read['experiments']
        self.assertEqual((first['place'], first['title'], first['given']), ('lab.toml:24', 'One warp', True))
        self.assertEqual((second['counter'], second['given']), ('', False))

    def test_mistakes_in_a_sweep_name_their_lines(self):
        experiment = '[[experiments]]\nname = "a"\nover = ["a=1"]\n'
        for words, text in (
                ('lab.toml:20: [sweep]: needs `step`, a text', '[sweep]\nover = ["a=1"]'),
                ('lab.toml:20: [sweep]: needs `over`, a list', '[sweep]\nstep = "a"'),
                ('lab.toml:23: `over` holds texts', '[sweep]\nstep = "a"\nover = ["a=1",\n2]'),
                ('unknown key `n`; known are step, over, counter', '[sweep]\nstep = "a"\nover = ["a=1"]\nn = 3'),
                ('lab.toml:23: experiment a is listed twice', experiment * 2),
                ('lab.toml:20: experiment: needs `name`', '[[experiments]]\nover = ["a=1"]'),
                ('lab.toml:20: experiment: `given` is true or false', experiment + 'given = 1'),
                ('lab.toml:20: experiment: unknown key `ovr`', experiment + 'ovr = 1')):
            with self.subTest(words):
                self.refuses_lab(words, GOOD + text)
        self.refuses_lab('[sweep]: is a table', 'sweep = 3\n' + GOOD)
        self.refuses_lab('experiments are tables: [[experiments]]', 'experiments = [1]\n' + GOOD)


class Lists(Reader):
    def test_steps(self):
        first, second, third = read_steps('# comment\n\n00_a  -  -\n01_b  00_a  1.15\n02_c 01_b ?\n', 'steps.txt', False)
        self.assertEqual((first['over'], first['at_least'], first['unmeasured']), ('', None, False))
        self.assertEqual((second['over'], second['at_least'], second['promised']), ('00_a', 1.15, []))
        self.assertTrue(third['unmeasured'])
        sized = read_steps('00_a - -\n01_b 00_a 1.5@1920x1080,2^5\n', 'steps.txt', False)[1]
        self.assertEqual((sized['at_least'], sized['promised']), (1.5, [[1920, 1080], [32]]))
        given = read_steps('00_a - - the idea: one\n', 'steps.txt', True)
        self.assertEqual(given[0]['idea'], 'the idea: one')

    def test_mistakes_in_steps_name_the_line(self):
        for text, words in (('00_a -\n', 'steps.txt:1: expected three columns: name over at_least'),
                            ('00_a - - an idea\n', 'steps.txt:1: expected three columns: name over at_least'),
                            ('00_a - -\n00_a - -\n', 'steps.txt:2: step 00_a is listed twice'),
                            ('00_a 01_b -\n', 'which is not listed before it'),
                            ('# nothing\n', 'steps.txt: lists no step'),
                            *((f'00_a - {wrong}\n', f'found "{wrong}"')
                              for wrong in ('fast', '0', '-1', 'inf', '1.5@', '1.5@1x', '1.5@8,'))):
            with self.subTest(text):
                self.refuses(words, read_steps, text, 'steps.txt', False)
        self.refuses('steps.txt:1: expected four columns: name over at_least idea', read_steps, '00_a - -\n', 'steps.txt', True)

    def test_the_idea_is_the_first_line_of_a_step(self):
        self.assertEqual(read_idea('// t 00_a: add. Twice.\nint x;\n', 'a.cu', 't', '00_a'), 'add. Twice')
        for text in ('', '// t 00_b: add.\n', '// t 00_a: add\n', '// t 00_a: .\n'):
            self.refuses('a.cu:1: the first line must be "// t 00_a: IDEA."', read_idea, text, 'a.cu', 't', '00_a')

    def test_baselines_limits_and_mutants(self):
        copy, blas, other = read_baselines('# x\n\ncopy  gpu  -  other  moves as much\nblas gpu cublas right a library: its\n'
                                       'cv cpu a,b other another\n', 'baselines.txt')
        self.assertEqual((copy['on_cpu'], copy['is_right'], copy['libraries']), (False, False, []))
        self.assertEqual((blas['is_right'], blas['what'], blas['libraries']), (True, 'a library: its', ['cublas']))
        self.assertEqual((other['on_cpu'], other['libraries']), (True, ['a', 'b']))
        for line in ('copy gpu - right', 'copy gpu - wrong x', 'copy - right what moves'):
            self.refuses('baselines.txt:1: expected five columns: name gpu|cpu libraries right|other what', read_baselines, line,
                         'baselines.txt')
        part = read_limits('01_a memory  loads, and\n', 'limits.txt', 'solutions/x/limits')[0]
        self.assertEqual(part, {'step': '01_a', 'part': 'memory', 'what': 'loads, and',
                                'file': 'solutions/x/limits/01_a.memory.cu'})
        self.refuses('limits.txt:1: expected three columns: step part what', read_limits, '01_a memory', 'limits.txt', '')
        mutants = read_mutants('[base]\nendless TIMEOUT  time limit\n  // it waits\n  - int b;\n  +\n', 'mutants.txt')
        self.assertEqual(mutants, [{'name': 'endless', 'verdict': 'TIMEOUT', 'says': 'time limit'}])
        self.refuses('mutants.txt:2: expected three columns', read_mutants, '  - int b;\nendless TIMEOUT', 'mutants.txt')
        self.refuses('mutants.txt:1: expected three columns', read_mutants, 'endless TIMEOUT', 'mutants.txt')

    def test_recorded_steps(self):
        steps = read_steps('00_a - -\n01_b 00_a -\n02_c 01_b -\n', 'steps.txt', False)
        read_recorded('# x\n00_a\n02_c launch=2 steps=160\n', 'recorded.txt', steps)
        self.assertEqual([step.get('recording') for step in steps], ['', None, 'launch=2 steps=160'])
        self.refuses('recorded.txt:1: there is no step 03_d', read_recorded, '03_d\n', 'recorded.txt', steps)


class Lectures(Reader):
    HEAD = '[[lectures]]\ngpu = "gtx280"\nsource = "a talk"\nunit = "GB/s"\nsize = [64]\n'

    def read(self, text):
        return read_lectures(text, 'lectures.toml', ['00_first'], 1)

    def test_figures(self):
        lecture = self.read(self.HEAD + 'size_stated = false\nfigures = [\n'
                            '  { version = "1", step = "00_first", value = 3.77 },\n'
                            '  { version = "2", step = "00_first", with = ["tile=16"], kernel = "k", value = 8 },\n]\n')[0]
        self.assertEqual((lecture['gpu'], lecture['size'], lecture['size_stated']), ('gtx280', [64], False))
        self.assertEqual([figure['value'] for figure in lecture['figures']], [3.77, 8])
        self.assertEqual((lecture['figures'][1]['with'], lecture['figures'][1]['kernel']), (['tile=16'], 'k'))

    def test_mistakes_name_their_lines(self):
        good = '{ version = "1", step = "00_first", value = 1 }'
        head = self.HEAD + 'size_stated = true\nfigures = '
        for text, words in (('', 'there is no [[lectures]]'), ('[[lectures', 'lectures.toml:1: '),
                            ('lectures = 1', 'lectures are tables'),
                            (self.HEAD + f'figures = [{good}]', 'size_stated: expected true or false'),
                            (head + '[]', 'figures: expected a list'),
                            (head + '[{ version = "1", step = "x" }]', 'lectures.toml:7: there is no step x'),
                            (head + '[{ version = "1", step = "00_first" }]', 'value: expected a positive number'),
                            (head + f'[\n{good},\n{{ version = "2" }}\n]', 'lectures.toml:9: needs `step`, a text'),
                            (self.HEAD.replace('GB/s', 'km'), 'unit: expected ms'),
                            (self.HEAD.replace('[64]', '[1, 2]'), 'size: expected a list'),
                            (self.HEAD.replace('source', 'sauce'), 'lectures.toml:1: unknown key `sauce`'),
                            ('[[lectures]]\nsource = "s"', 'lectures.toml:1: needs `gpu`, a text')):
            with self.subTest(words):
                self.refuses(words, self.read, text)


class Glossary(Reader):
    TEXT = '''# Glossary

An introduction.

## Memory

### bank conflict

Lanes want different words
of the same bank.

A second paragraph.

```text
### no heading
    in a picture
```

Also called: conflict, banks that meet.
Taught in: [transpose](transpose/README.md#banks) `06_padded`,
[reduction](reduction/README.md).
See also: [grid](#grid), [a metric](../grader/GLOSSARY.md).

## Threads

### grid

All blocks.

Taught in: [launch](launch/README.md).
'''

    def test_a_term_has_text_picture_places_and_relations(self):
        conflict, grid = read_glossary(self.TEXT, 'g.md')
        self.assertEqual(conflict, {
            'name': 'bank conflict', 'group': 'Memory', 'aliases': ['conflict', 'banks that meet'],
            'text': ['Lanes want different words', 'of the same bank.', '', 'A second paragraph.'],
            'picture': ['### no heading', '    in a picture'],
            'taught': [{'lab': 'transpose', 'target': 'transpose/README.md#banks', 'step': '06_padded'},
                       {'lab': 'reduction', 'target': 'reduction/README.md', 'step': ''}],
            'related': ['grid', 'a metric']})
        self.assertEqual((grid['group'], grid['aliases']), ('Threads', []))

    def test_mistakes_name_the_line_of_the_term(self):
        place = '\n\nTaught in: [l](l/README.md).\n'
        for text, words in (('## G\n### a' + place, 'g.md:2: "a" has no text'),
                            ('## G\n### a\ntext\n', 'g.md:2: "a" lacks a line "Taught in: ..."'),
                            (f'### tile\ntext{place}### Tiles\ntext{place}',
                             'g.md:5: "Tiles" names "tile" as well as this term')):
            with self.subTest(words):
                self.refuses(words, read_glossary, text, 'g.md')

    def test_a_student_copy_may_lack_the_place(self):
        term = read_glossary('### tile\ntext\n\nTaught in: matmul `03_tiled`.\n', 'g.md')[0]
        self.assertEqual(term['taught'], [])

    def test_spellings_of_a_name(self):
        self.assertEqual({term_key(name) for name in ('bank conflict', 'Bank-Conflicts', 'BANK_CONFLICT')}, {'bankconflict'})
        self.assertEqual((term_key('latencies'), term_key('address')), ('latency', 'address'))


class Program(unittest.TestCase):
    """Runs the reader as Meson does, on a course with one lab."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for file, text in {
                'README.md': '', 'labs/glossary.md': '# G\n', 'labs/t/lab.toml': GOOD,
                'labs/t/tests/mutants.txt': 'endless TIMEOUT time limit\n',
                'solutions/t/steps.txt': '00_a - -\n', 'solutions/t/00_a.cu': '// t 00_a: add.\n',
                'solutions/t/baselines.txt': 'cpu cpu - right a loop\ncub gpu a,b right cub\n',
                'common/gpus/g.toml': 'name = "G"\nmemory_bytes = 5\n[attributes]\n10 = 32\n'}.items():
            self.write(file, text)

    def write(self, file, text):
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text)

    def run_reader(self, *words):
        return subprocess.run([sys.executable, '-B', READER, self.root, *words], cwd=self.root, capture_output=True, text=True)

    def course(self):
        ran = self.run_reader('--json', 'out.json', '--depfile', 'out.d')
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads((self.root / 'out.json').read_text())

    def refused(self):
        ran = self.run_reader('--json', 'out.json')
        self.assertEqual(ran.returncode, 1)
        return ran.stderr

    def test_everything(self):
        course = self.course()
        step = course['labs'][0]['steps'][0]
        self.assertEqual((step['idea'], step['file']), ('add', 'solutions/t/00_a.cu'))
        self.assertTrue(course['labs'][0]['is_worked'])
        self.assertEqual(course['gpus'], [{'id': 'g', 'name': 'G', 'memory_bytes': 5, 'attributes': {'10': 32}}])
        seen = (self.root / 'out.d').read_text()
        for file in ('lab.toml', '00_a.cu', 'steps.txt', 'glossary.md', 'g.toml'):
            self.assertIn(file, seen)

    def test_a_student_copy(self):
        self.write('labs/t/given/steps.txt', '00_a - - the idea\n')
        self.write('labs/calendar.toml', '[labs.t]\n[labs.later]\nopens = "2026-10-15"\n')
        course = self.course()
        self.assertFalse(course['labs'][0]['is_worked'])
        self.assertEqual(course['labs'][0]['steps'][0]['file'], 'labs/t/given/00_a.cu')
        self.assertEqual(course['labs'][0]['steps'][0]['idea'], 'the idea')
        self.assertEqual(course['coming'], [['later', '2026-10-15']])

    def test_names_of_steps_are_checked(self):
        self.write('labs/t/lab.toml', GOOD.replace('over = "00_a"', 'over = "00_b"'))
        self.assertIn('labs/t/lab.toml: goal "fast": over = "00_b" is not a step of steps.txt; did you mean "00_a"?',
                      self.refused())
        self.write('labs/t/lab.toml', GOOD.replace('skeleton = "00_a"', 'skeleton = "none"'))
        self.assertIn('labs/t/lab.toml: skeleton = "none" is not a step of steps.txt', self.refused())
        self.write('labs/t/lab.toml', 'case_study = ["00_a"]\n' + GOOD)  # the first step is on the path
        self.assertIn('labs/t/lab.toml: case_study: "00_a" is not a step of steps.txt after the first', self.refused())
        self.write('labs/t/lab.toml', GOOD + '[sweep]\nstep = "02"\nover = ["a=1"]\n')
        self.assertIn('labs/t/lab.toml: [sweep]: step = "02" is not a step of steps.txt', self.refused())
        self.write('labs/t/lab.toml', GOOD)
        self.write('solutions/t/limits.txt', '01_b memory loads\n')
        self.assertIn('solutions/t/limits/01_b.memory.cu: step "01_b" is not a step of steps.txt', self.refused())

    def test_steps_that_did_not_help_are_the_last_and_in_the_case_study(self):
        self.write('solutions/t/steps.txt', '00_a - -\n01_b 00_a -\n02_c 00_a -\n')
        for name in ('01_b', '02_c'):
            self.write(f'solutions/t/{name}.cu', f'// t {name}: add.\n')
        self.write('labs/t/lab.toml', 'case_study = ["01_b"]\ndid_not_help = ["02_c"]\n' + GOOD)
        lab = self.course()['labs'][0]
        self.assertEqual((lab['case_study'], lab['did_not_help']), (['01_b', '02_c'], ['02_c']))
        self.write('labs/t/lab.toml', 'did_not_help = ["01_b"]\n' + GOOD)
        self.assertIn('labs/t/lab.toml: did_not_help does not name the last steps of steps.txt, which are 02_c', self.refused())

    def test_a_missing_file_is_named(self):
        (self.root / 'solutions/t/00_a.cu').unlink()
        self.assertIn('solutions/t/00_a.cu: is not there', self.refused())

    def test_lists_for_meson(self):
        self.assertEqual(self.run_reader('--lists', 'out.txt').returncode, 0)
        self.assertEqual((self.root / 'out.txt').read_text(), 'labs = t\nt contract = t.hpp\nt function = f\nt steps = 00_a\n'
                         't baselines = cpu:cpu: cub:gpu:a,b\nt limits = \nt hopper = \n')

    def test_meson_reports_a_mistake(self):
        self.write('labs/t/lab.toml', GOOD.replace('order = 2', 'order = "2"'))
        self.assertEqual(self.run_reader('--lists', 'out.txt').returncode, 0)
        self.assertEqual((self.root / 'out.txt').read_text(), 'error = labs/t/lab.toml:2: `order` has the wrong type\n')

    def test_an_unchanged_course_is_not_written_again(self):
        self.course()
        file = self.root / 'out.json'
        text, time = file.read_bytes(), file.stat().st_mtime_ns
        self.course()
        self.assertEqual((file.read_bytes(), file.stat().st_mtime_ns), (text, time))


if __name__ == '__main__':
    unittest.main()
