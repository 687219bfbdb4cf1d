"""Builds all pages of one course into a folder."""
import pathlib
import shutil

from . import (changes, common_pages, course, figures_page, home_page, lab_pages, lectures_page, live_pages, measured,
               playground, progress, stages_page, step_page, warp_pages)
from .errors import SiteError
from .text import Links, read_terms

THEME = pathlib.Path(__file__).parent.parent / 'theme'


class Site:
    def __init__(self, root, out, students=False):
        self.root, self.out, self.students = root, out, students
        self.labs = course.labs(root)
        if not self.labs:
            raise SiteError(f'{root}/labs has no lab')
        self.records = measured.Records(root)
        self.gpus = course.gpus(root)
        self.answers = {} if students else {lab.name: course.answers(root, lab.name) for lab in self.labs}
        self.links = Links(root, self.labs, students)
        self.links.terms = read_terms(root)
        self.written = []
        self.notes = []  # parts of pages that are missing, with the reasons
        self.sections = []  # (page, its title, section, anchor, words) for the search
        self.answered = {}  # lab: the questions whose answers are on a page

    def write(self, name, text):
        file = self.out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.written.append(name)

    def found(self, page, title, sections):
        """Adds the sections [(title, anchor, words)] of a page to the search."""
        self.sections += [(page, title, section, anchor, words) for section, anchor, words in sections]

    def build(self):
        kinds, warps = {}, {}
        for lab in self.labs:
            kinds[lab.name] = {} if self.students else self.records.of_lab(lab.name)
            warps[lab.name] = {} if self.students else warp_pages.recordings(self, lab)
        for lab in self.labs:
            self._lab(lab, kinds[lab.name], warps[lab.name])
        common_pages.glossary(self)
        for name in ('method', 'limits'):
            common_pages.text_page(self, f'labs/{name}.md', f'{name}.html')
        common_pages.occupancy(self)
        if not self.students:
            lectures_page.lectures(self)
        home_page.index(self, kinds, warps)
        done = 0
        while done < len(self.links.wanted):  # the page of a file may link to more files
            common_pages.file_page(self, self.links.wanted[done])
            done += 1
        common_pages.search(self)
        for file, target in self.links.copied.items():
            (self.out / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / file, self.out / target)
            self.written.append(target)
        for file in sorted(THEME.iterdir()):
            self.write(f'theme/{file.name}', file.read_text())

    def _lab(self, lab, records, warps):
        lab_pages.handout(self, lab, f'labs/{lab.name}/README.md', f'{lab.name}/index.html', warps)
        if lab.deeper:
            lab_pages.handout(self, lab, f'labs/{lab.name}/deeper.md', f'{lab.name}/deeper.html', warps)
        playground.build(self, lab)
        if lab.pictures:
            stages_page.stages(self, lab)
        if self.students:
            return
        self.write(f'{lab.name}/versions.js', changes.Versions(self.root, lab, progress.every_size(lab, records)).script())
        lab_pages.versions(self, lab, records)
        lab_pages.diff_page(self, lab)
        if lab.figures:
            figures_page.figures(self, lab, records)
        for at in range(len(lab.steps)):
            links = warp_pages.link(lab.steps[at], warps) + live_pages.link(self, lab, lab.steps[at])
            step_page.step_page(self, lab, at, records, links)
        warp_pages.build(self, lab, warps)
        live_pages.build(self, lab)
