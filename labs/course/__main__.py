"""Reads what the course consists of, checks it, and writes it down for all other parts.

    labs/course ROOT --json FILE [--depfile FILE]     everything: build/course.json, which programs and pages read
    labs/course ROOT --lists FILE [--depfile FILE]    the lists by which Meson names programs: KEY = VALUE

It reads labs/LAB/lab.toml and tests/mutants.txt, solutions/LAB/steps.txt with the first line of each step, baselines.txt,
limits.txt, recorded.txt and lectures.toml (in a student copy labs/LAB/given/steps.txt), labs/calendar.toml,
labs/glossary.md and common/gpus/*.toml. No other part reads these files, except that labs/tests/join_variants reads
what a mutant is made of.
"""
from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any, Dict, List, Optional

from glossary import read_glossary
from lab_file import check_steps, read_lab_file
from lectures import read_lectures
from lists import read_idea, read_limits, read_mutants, read_baselines, read_recorded, read_steps
from toml_file import CourseError, fail, read_toml


class Course:
    """The files of the course at `root`; `seen` are those that were read, and the reader's own."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.seen = sorted(pathlib.Path(__file__).resolve().parent.glob('*.py'))

    def optional(self, file: str) -> Optional[str]:
        path = self.root / file
        if not path.is_file():
            return None
        self.seen.append(path)
        return path.read_text(encoding='utf-8')

    def read(self, file: str) -> str:
        text = self.optional(file)
        if text is None:
            fail(file, 'is not there')
        return text

    def names(self) -> List[str]:
        return sorted(file.parent.name for file in self.root.glob('labs/*/lab.toml'))

    def labs(self, ideas: bool = True) -> List[Dict[str, Any]]:
        """All labs by order, then name. Without `ideas` the steps' files are not read."""
        return sorted((self.lab(name, ideas) for name in self.names()), key=lambda lab: (lab['order'], lab['name']))

    def lab(self, name: str, ideas: bool) -> Dict[str, Any]:
        file, given = f'labs/{name}/lab.toml', f'labs/{name}/given'
        lab = read_lab_file(self.read(file), file, name)
        lab['is_worked'] = not (self.root / given / 'steps.txt').is_file()
        folder = f'solutions/{name}' if lab['is_worked'] else given
        origin = f'{folder}/steps.txt'
        lab['steps'] = read_steps(self.read(origin), origin, with_idea=not lab['is_worked'])
        for step in lab['steps']:
            step['file'] = f"{folder}/{step['name']}.cu"
            if lab['is_worked'] and ideas:
                step['idea'] = read_idea(self.read(step['file']), step['file'], name, step['name'])
        origin = f'{folder}/baselines.txt'
        lab['baselines'] = read_baselines(self.optional(origin) or '', origin)
        origin = f'{folder}/limits.txt'
        lab['limits'] = read_limits(self.optional(origin) or '', origin, f'{folder}/limits')
        origin = f'labs/{name}/tests/mutants.txt'
        lab['mutants'] = read_mutants(self.optional(origin) or '', origin)
        origin = f'solutions/{name}/recorded.txt'
        read_recorded(self.optional(origin) or '', origin, lab['steps'])
        origin = f'solutions/{name}/lectures.toml'
        text = self.optional(origin)
        dimensions = len(lab['sizes']['check'][0])
        names = [step['name'] for step in lab['steps']]
        lab['lectures'] = read_lectures(text, origin, names, dimensions) if text is not None else []
        check_steps(lab, file)
        return lab

    def coming(self) -> List[List[str]]:
        """[name, day] of the labs that are not in a student copy yet."""
        text = self.optional('labs/calendar.toml')
        labs = read_toml(text or '', 'labs/calendar.toml').optional(dict, 'labs', {})
        return [[name, entry.get('opens', '')] for name, entry in labs.items() if name not in self.names()]

    def gpus(self) -> List[Dict[str, Any]]:
        """The descriptions in common/gpus; their attributes by number, as cudaDeviceAttr has them."""
        gpus = []
        for file in sorted(self.root.glob('common/gpus/*.toml')):
            table = read_toml(self.read(f'common/gpus/{file.name}'), f'common/gpus/{file.name}')
            attributes = table.take(dict, 'attributes')
            for number, value in attributes.items():
                if not number.isdigit() or type(value) is not int:
                    fail(table.place('attributes', number), 'an attribute is a number = an integer')
            gpus.append({'id': file.stem, 'name': table.take(str, 'name'),
                         'memory_bytes': table.take(int, 'memory_bytes'), 'attributes': attributes})
        return gpus

    def everything(self) -> Dict[str, Any]:
        return {'labs': self.labs(), 'coming': self.coming(),
                'terms': read_glossary(self.read('labs/glossary.md'), 'labs/glossary.md'), 'gpus': self.gpus()}

    def lists(self) -> str:
        labs = self.labs(ideas=False)
        self.read('README.md')  # links every lab, so it changes when one is added
        lines = [f"labs = {' '.join(lab['name'] for lab in labs)}"]
        for lab in labs:
            lists = {'contract': [lab['contract']], 'function': [lab['function']],
                     'steps': [step['name'] for step in lab['steps']],
                     'baselines': [':'.join([baseline['name'], 'cpu' if baseline['on_cpu'] else 'gpu',
                                         ','.join(baseline['libraries'])]) for baseline in lab['baselines']],
                     'limits': [f"{part['step']}.{part['part']}" for part in lab['limits']],
                     'hopper': lab['hopper']}
            lines += [f"{lab['name']} {key} = {' '.join(words)}" for key, words in lists.items()]
        return '\n'.join(lines) + '\n'


def main() -> None:
    parser = argparse.ArgumentParser(prog='labs/course')
    parser.add_argument('root', type=pathlib.Path)
    parser.add_argument('--json', type=pathlib.Path)
    parser.add_argument('--lists', type=pathlib.Path)
    parser.add_argument('--depfile', type=pathlib.Path)
    arguments = parser.parse_args()
    course = Course(arguments.root)
    try:
        text = course.lists() if arguments.lists else \
            json.dumps(course.everything(), ensure_ascii=False, indent=1) + '\n'
    except CourseError as error:
        if not arguments.lists:
            sys.exit(str(error))
        text = f'error = {error}\n'  # Meson hides what a command that fails prints
    out = arguments.lists or arguments.json
    if not out.is_file() or out.read_text(encoding='utf-8') != text:
        out.write_text(text, encoding='utf-8')
    if arguments.depfile:
        names = [str(file).replace(' ', '\\ ') for file in course.seen]
        arguments.depfile.write_text(f"{out.name}: {' '.join(names)}\n", encoding='utf-8')


if __name__ == '__main__':
    main()
