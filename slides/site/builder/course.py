"""The contents of the course: labs in their order, steps, sources, answers, GPUs."""
import dataclasses
import functools
import re

from slides.builder.course import read_course

PART = re.compile(r'^#include "(solutions/[^"]+)"', re.M)
ANSWER = re.compile(r'^### ([A-Z]\d+)\b.*$', re.M)


@dataclasses.dataclass
class Step:
    name: str  # '03_sequential'
    over: str  # the step that it is compared with; '' for the first step
    idea: str
    file: str  # path from the root
    parts: list  # files that it includes, as paths from the root, each once

    @property
    def number(self):
        return self.name.split('_')[0]


@dataclasses.dataclass
class Lab:
    name: str
    title: str
    steps: list
    goal: str  # the handout's first paragraph, Markdown
    hours: str  # 'three hours'; '' if the handout does not say
    deeper: bool
    pictures: bool  # whether there are pictures of its stages
    figures: bool  # whether there is a record of sweeps, parts or ragged sizes
    skeleton: str = ''  # the step from which the student's file is made
    recorded: set = dataclasses.field(default_factory=set)  # names of the steps with a recorded warp
    case_study: list = dataclasses.field(default_factory=list)  # names of the steps that are not on the path
    did_not_help: list = dataclasses.field(default_factory=list)  # those of them that gain nothing

    @property
    def path(self):
        return [step for step in self.steps if step.name not in self.case_study]


def parts_of(root, file, seen):
    """The files of solutions/ that `file` includes directly or through parts, in order."""
    for name in PART.findall((root / file).read_text()):
        if name not in seen and (root / name).is_file():
            seen.append(name)
            parts_of(root, name, seen)
    return seen


def paragraph(text, label):
    """The text after '**label** ' or '**label:** ', up to an empty line."""
    found = re.search(rf'^\*\*{label}[.:]?\*\*\s*(.*?)\n\s*\n', text, re.M | re.S)
    return found[1].replace('\n', ' ') if found else ''


def read_lab(root, entry):
    name = entry['name']
    folder = root / 'labs' / name
    text = (folder / 'README.md').read_text()
    steps = [Step(step['name'], step['over'], step['idea'], step['file'], parts_of(root, step['file'], []))
             for step in entry['steps']]
    recorded = {step['name'] for step in entry['steps'] if 'recording' in step}
    return Lab(name, entry['title'], steps, paragraph(text, 'Goal'),
               re.split('[.,]', paragraph(text, 'Time'))[0], (folder / 'deeper.md').is_file(),
               (folder / 'pictures/spheres').is_dir(),
               any(file for kind in ('sweeps', 'limits', 'ragged')
                   for file in (root / 'solutions' / name / 'measured').glob(f'*.{kind}.jsonl')),
               entry['skeleton'], recorded, entry['case_study'], entry['did_not_help'])


def labs(root):
    """All labs in their order."""
    return [read_lab(root, entry) for entry in read_course(root)['labs']]


def answers(root, lab):
    """{'R1': Markdown}, the answers of the key, without the blocks that a test computes."""
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
    """[{id, name, and ATTRIBUTES}] of common/gpus, by compute capability. ATTRIBUTES has cudaDeviceAttr numbers."""
    result = []
    for described in read_course(root)['gpus']:
        known = described['attributes']
        gpu = {'id': described['id'], 'name': described['name']}
        gpu.update({name: known.get(str(number), 0) for number, name in ATTRIBUTES.items()})
        gpu['clock_hz'] = known.get('13', 0) * 1000
        gpu['multiprocessors'] = known.get('16', 0)
        result.append(gpu)
    return sorted(result, key=lambda g: (-g['major'], -g['minor'], g['name']))
