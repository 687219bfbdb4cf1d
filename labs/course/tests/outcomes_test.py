"""Checks that labs/outcomes.md names a section for every outcome, question and goal, and that all of them exist."""
import pathlib
import re
import sys
import unittest

READER = pathlib.Path(__file__).resolve().parents[1]
LABS = READER.parents[0]
sys.path.insert(0, str(READER))

from lab_file import read_lab_file  # noqa: E402

PAGE = (LABS / 'outcomes.md').read_text(encoding='utf-8')
KIT = (LABS / 'README.md').read_text(encoding='utf-8')
NAMES = [file.parent.name for file in sorted(LABS.glob('*/lab.toml'))]
QUESTION = re.compile(r'^\* \*\*([A-Z]+\d+)\*\* ', re.M)


def prose(text):
    return re.sub(r'^```.*?^```', '', text, flags=re.M | re.S)


def section(text, heading):
    """The text after `## heading`, up to the next heading of that level."""
    found = re.search(rf'^## {re.escape(heading)}\n(.*?)(?=^## |\Z)', prose(text), re.M | re.S)
    return found[1] if found else ''


def table(text):
    """The cells of a table's rows, without the header."""
    rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in text.splitlines() if line.startswith('|')]
    return rows[2:]


def anchors(file):
    """The anchors of a page's headings, as GitHub generates them."""
    for heading in re.findall(r'^#+ +(.+?) *$', prose(file.read_text(encoding='utf-8')), re.M):
        yield re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def links(cell):
    return re.findall(r'\]\(([^()\s]+)\)', cell)


def pages(lab):
    return [file.read_text(encoding='utf-8') for file in (LABS / lab / 'README.md', LABS / lab / 'deeper.md')
            if file.is_file()]


def asked(lab):
    return [name for page in pages(lab) for name in QUESTION.findall(prose(page))]


def goals(lab):
    file = LABS / lab / 'lab.toml'
    return [goal['name'] for goal in read_lab_file(file.read_text(encoding='utf-8'), str(file), lab)['goals']]


class Outcomes(unittest.TestCase):
    def rows(self, lab):
        rows = table(section(PAGE, lab))
        self.assertGreaterEqual(len(rows), 4, f'{lab}: no table of outcomes')
        for row in rows:
            self.assertEqual(len(row), 4, f'{lab}: {row}: expected | outcome | taught in | questions | goals |')
        return rows

    def check_sections(self, lab, cell):
        self.assertTrue(links(cell), f'{lab}: no section in: {cell}')
        for target in links(cell):
            name, _, anchor = target.partition('#')
            self.assertTrue(anchor, f'{lab}: {target} names a page, not a section')
            self.assertTrue((LABS / name).is_file(), f'{lab}: there is no page {target}')
            self.assertIn(anchor, set(anchors(LABS / name)), f'{lab}: there is no section {target}')

    def test_every_lab_has_one_table(self):
        self.assertEqual(sorted(re.findall(r'^## (\w+)$', PAGE, re.M)), NAMES)

    def test_outcomes_are_those_of_the_handout(self):
        for lab in NAMES:
            named = [row[0] for row in self.rows(lab) if row[0] != '-']
            promised = re.search(r'\*\*Afterwards you can\*\* (.*?)\.\n\n', pages(lab)[0], re.S)
            self.assertEqual(f"{', '.join(named[:-1])}, and {named[-1]}", ' '.join(promised[1].split()), lab)

    def test_every_outcome_is_taught_and_assessed(self):
        for lab in NAMES:
            for outcome, taught, questions, judged in self.rows(lab):
                self.check_sections(lab, taught)
                self.assertNotEqual((questions, judged), ('-', '-'), f'{lab}: no question or goal assesses: {outcome}')

    def test_every_question_and_goal_is_listed_and_exists(self):
        for lab in NAMES:
            rows = self.rows(lab)
            for what, cells, form, known in (('question', [row[2] for row in rows], r'[A-Z]+\d+', asked(lab)),
                                             ('goal', [row[3] for row in rows], r'(?<=\*)[^*;]+(?=\*)', goals(lab))):
                named = {name for cell in cells for name in re.findall(form, cell)}
                self.assertFalse(set(known) - named, f'{lab}: labs/outcomes.md lacks a {what}')
                self.assertFalse(named - set(known), f'{lab}: labs/outcomes.md names a {what} that does not exist')

    def test_every_question_of_the_exam_names_its_sections(self):
        exam = section(KIT, 'Exam').split('### Answers')[0]
        due = re.findall(r'^(\d+)\. \(\d+\) ', exam, re.M)
        self.assertGreaterEqual(len(due), 10)
        rows = table(section(PAGE, 'The exam'))
        self.assertEqual([number for number, _ in rows], due)
        for number, taught in rows:
            self.check_sections(f'exam, question {number}', taught)

    def test_points_of_the_exam_are_what_it_is_worth(self):
        exam = section(KIT, 'Exam').split('### Answers')[0]
        points = sum(int(n) for n in re.findall(r'^\d+\. \((\d+)\) ', exam, re.M))
        self.assertIn(f'is worth {points} points', ' '.join(exam.split()))


if __name__ == '__main__':
    unittest.main()
