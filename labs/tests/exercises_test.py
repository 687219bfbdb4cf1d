"""Tests a lab's exercises: the students' file is the solution without the parts to write, the solution is right
and has no findings, and the students' file compiles but is not right yet.

The environment names the source folder, the runtime's folder, and both programs.
"""
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ['STEPWISE_SOURCE'])
SOLUTION = SOURCE / 'solutions/scan/exercises/exercises.cu'
OPEN = SOURCE / 'labs/scan/exercises.cu'


def without_solution(text):
    return re.sub(r'//> todo: (.*)\n(?:.*\n)*?.*//<\n', r'// TODO: \1\n', text)


def run(program):
    environment = {**os.environ, 'LD_LIBRARY_PATH': os.environ['STEPWISE_RUNTIME'], 'STEPWISE_CHECK': '1'}
    return subprocess.run([os.environ[program]], env=environment, capture_output=True, text=True)


class Exercises(unittest.TestCase):
    def test_students_file_is_the_solution_without_the_parts_to_write(self):
        due = without_solution(SOLUTION.read_text(encoding='utf-8'))
        self.assertIn('// TODO: ', due)
        self.assertEqual(OPEN.read_text(encoding='utf-8'), due)

    def test_solution_is_right(self):
        done = run('STEPWISE_EXERCISES')
        self.assertEqual(done.stdout, 'all three exercises are right\n', done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_students_file_is_not_right_yet(self):
        done = run('STEPWISE_OPEN_EXERCISES')
        self.assertNotEqual(done.returncode, 0)
        for name in ('exclusive scan', 'stream compaction', 'sort by one bit'):
            self.assertIn(name, done.stdout)


unittest.main()
