"""Checks that the profiles shown in questions are records of real profiles.

In the key, `*Profile:* `STEP`, SIZE, in [FILE](measured/FILE).` names the records of a question, one per column of the
question's table in deeper.md. The question itself does not name the steps.
"""
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIELDS = {'time': 'us', 'warp instructions': 'instructions', 'occupancy, achieved': 'occupancy',
          'L1 hit rate': 'l1_hit_rate', 'bytes that pass L2': 'l2_bytes', 'bytes from and to DRAM': 'dram_bytes',
          'compute throughput': 'compute', 'memory throughput': 'memory'}
UNITS = {'us': 1, 'M': 1e6, 'MB': 1e6, '%': 0.01}


def read(file):
    return (ROOT / file).read_text(encoding='utf-8')


def records(lab, text):
    """The records that a line of the key names, in the same order."""
    file = re.search(r'\]\((measured/[\w.]+)\)', text)[1]
    known = [json.loads(line) for line in read(f'solutions/{lab}/{file}').splitlines() if line.strip()]
    for step, size in re.findall(r'`(\w+)`, (\d+(?:x\d+)?)', text):
        wanted = [int(number) for number in size.split('x')]
        yield [entry for entry in known if entry.get('step') == step and entry.get('size') == wanted]


def profiles():
    """(lab, question's id, its records, the rows of its table)"""
    for key in sorted(ROOT.glob('solutions/*/answers.md')):
        lab = key.parent.name
        for answer in re.split(r'^### ', key.read_text(encoding='utf-8'), flags=re.M)[1:]:
            named = re.search(r'^\*Profile:\* (.*?)\n\n', answer, re.M | re.S)
            if not named:
                continue
            question = answer.split()[0]
            asked = read(f'labs/{lab}/deeper.md').split(f'* **{question}** ')[1].split('\n* **')[0].split('\n## ')[0]
            rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in asked.splitlines()
                    if line.startswith('|')]
            yield lab, question, list(records(lab, named[1])), rows[2:]


class Profiles(unittest.TestCase):
    def test_figures_are_those_of_the_records(self):
        found = list(profiles())
        self.assertGreaterEqual(len(found), 6)
        for lab, question, entries, rows in found:
            self.assertTrue(entries and all(len(entry) == 1 for entry in entries), f'{question}: not one record per profile')
            compared = [row for row in rows if row[0] in FIELDS]
            self.assertGreaterEqual(len(compared), 6, f'{question}: too few figures of a profile')
            for name, *shown in compared:
                self.assertEqual(len(shown), len(entries), f'{question}: {name}: one column per record')
                for text, (entry,) in zip(shown, entries):
                    number, unit = text.split()
                    decimals = len(number.partition('.')[2])
                    self.assertLessEqual(abs(entry[FIELDS[name]] / UNITS[unit] - float(number)), 0.5 * 10 ** -decimals * 1.000001,
                                         f'{lab} {question}: {name} is {entry[FIELDS[name]]}, not {text}')

    def test_a_question_does_not_name_the_step(self):
        for lab, question, entries, _ in profiles():
            asked = read(f'labs/{lab}/deeper.md').split(f'* **{question}** ')[1].split('\n\n')[0]
            for (entry,) in entries:
                self.assertNotIn(entry['step'], asked, question)


if __name__ == '__main__':
    unittest.main()
