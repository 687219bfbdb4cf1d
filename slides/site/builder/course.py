"""What the course consists of: labs in their order, steps, sources, answers, GPUs."""
import dataclasses
import functools
import re

from .errors import SiteError

PART = re.compile(r'^#include "(solutions/[^"]+)"', re.M)
ANSWER = re.compile(r'^### ([A-Z]\d+)\b.*$', re.M)


@dataclasses.dataclass
class Step:
    name: str  # '03_sequential'
    over: str  # the step it is compared with, '' for the first
    idea: str
    file: str  # from the root
    parts: list  # files that it includes, from the root, each once

    @property
    def number(self):
        return self.name.split('_')[0]


@dataclasses.dataclass
class Lab:
    name: str
    title: str
    order: int
    steps: list
    goal: str  # the handout's first paragraph, Markdown
    hours: str  # 'three hours'; '' if the handout does not say
    needs: str  # Markdown
    deeper: bool
    pictures: bool  # are there pictures of its stages
    figures: bool  # is there a record of sweeps, parts or ragged sizes
    skeleton: str = ''  # the step that the student's file begins as


def parts_of(root, file, seen):
    """The files of solutions/ that `file` includes, those of parts included, in order."""
    for name in PART.findall((root / file).read_text()):
        if name not in seen and (root / name).is_file():
            seen.append(name)
            parts_of(root, name, seen)
    return seen


def steps_of(root, lab):
    listed = root / 'solutions' / lab / 'steps.txt'
    steps = []
    for line in listed.read_text().splitlines():
        words = line.split(None, 3)
        if len(words) != 4 or words[0].startswith('#'):
            continue
        file = f'solutions/{lab}/{words[0]}.cu'
        if not (root / file).is_file():
            raise SiteError(f'solutions/{lab}/steps.txt lists {words[0]}, and {file} is not there')
        steps.append(Step(words[0], '' if words[1] == '-' else words[1], words[3], file,
                          parts_of(root, file, [])))
    return steps


def paragraph(text, label):
    """What follows '**label** ' or '**label:** ' up to a blank line."""
    found = re.search(rf'^\*\*{label}[.:]?\*\*\s*(.*?)\n\s*\n', text, re.M | re.S)
    return found[1].replace('\n', ' ') if found else ''


def read_lab(root, folder):
    toml = (folder / 'lab.toml').read_text()
    title, order = re.search(r'^title = "(.*)"', toml, re.M), re.search(r'^order = (\d+)', toml, re.M)
    if not title or not order:
        raise SiteError(f'{folder.name}/lab.toml has no title or no order')
    text = (folder / 'README.md').read_text()
    return Lab(folder.name, title[1], int(order[1]), steps_of(root, folder.name), paragraph(text, 'Goal'),
               paragraph(text, 'Time'), paragraph(text, 'You need'), (folder / 'deeper.md').is_file(),
               (folder / 'pictures/spheres').is_dir(),
               any(file for kind in ('sweeps', 'limits', 'ragged')
                   for file in (root / 'solutions' / folder.name / 'measured').glob(f'*.{kind}.jsonl')),
               re.search(r'^skeleton = "(\w+)"', toml, re.M)[1])


def labs(root):
    found = [read_lab(root, f.parent) for f in root.glob('labs/*/lab.toml')]
    return sorted(found, key=lambda lab: lab.order)


def answers(root, lab):
    """{'R1': Markdown} of the key, without the blocks that a test computes."""
    file = root / 'solutions' / lab / 'answers.md'
    if not file.is_file():
        return {}
    text = file.read_text()
    result = {}
    for found in ANSWER.finditer(text):
        rest = text[found.end():]
        end = re.search(r'^##+ ', rest, re.M)
        body = rest[:end.start()] if end else rest
        result[found[1]] = re.sub(r'^```checked\n.*?^```\n', '', body, flags=re.M | re.S).strip()
    return result


ATTRIBUTES = {1: 'threads_per_block', 8: 'shared_per_block', 10: 'warp_size', 12: 'registers_per_block',
              39: 'threads', 75: 'major', 76: 'minor', 81: 'shared', 82: 'registers',
              97: 'shared_per_block_optin', 106: 'blocks', 111: 'reserved_shared'}


@functools.lru_cache(maxsize=None)
def gpus(root):
    """[{id, name, and ATTRIBUTES}] of common/gpus, by compute capability; cudaDeviceAttr numbers."""
    result = []
    for file in root.glob('common/gpus/*.toml'):
        text = file.read_text()
        known = {int(n): int(v) for n, v in re.findall(r'^(\d+) = (-?\d+)',
                                                       text.split('[attributes]')[1].split('\n[')[0], re.M)}
        gpu = {'id': file.stem, 'name': re.search(r'^name = "(.*)"', text, re.M)[1]}
        gpu.update({name: known.get(number, 0) for number, name in ATTRIBUTES.items()})
        gpu['clock_hz'] = known.get(13, 0) * 1000
        gpu['multiprocessors'] = known.get(16, 0)
        result.append(gpu)
    return sorted(result, key=lambda g: (-g['major'], -g['minor'], g['name']))
