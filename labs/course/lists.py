"""The lists of a lab, a line per entry: steps.txt, baselines.txt, limits.txt, recorded.txt, mutants.txt."""
from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Tuple

from toml_file import CourseError, fail

Entries = List[Dict[str, Any]]


def lines_of(text: str, origin: str) -> Iterator[Tuple[str, str]]:
    """('steps.txt:3', the line) of each line that is neither empty nor a comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith('#'):
            yield f'{origin}:{number}', line.strip()


def columns(line: str, where: str, wanted: str, count: int, sentence: bool = True) -> List[str]:
    """The columns of a line, whose last one may be a sentence."""
    words = line.split(None, count - 1 if sentence else -1)
    if len(words) != count:
        fail(where, f'expected {wanted}')
    return words


def parse_number(text: str) -> int:
    """'1024', '2^20'"""
    base, power, exponent = text.partition('^')
    return int(base) ** int(exponent) if power else int(text)


def read_promise(text: str, where: str) -> Dict[str, Any]:
    """The column at_least: '1.5', '1.5@1024,512x256' (sizes), '-' (nothing), '?' (not measured yet)."""
    promise: Dict[str, Any] = {'at_least': None, 'promised': [], 'unmeasured': text == '?'}
    if text in ('-', '?'):
        return promise
    number, at, sizes = text.partition('@')
    try:
        if not re.fullmatch(r'[0-9.]+', number) or not float(number) > 0:
            raise ValueError
        promise['at_least'] = float(number)
        if at:
            promise['promised'] = [[parse_number(n) for n in size.split('x')] for size in sizes.split(',')]
    except ValueError:
        fail(where, f'at_least is a positive number, as 1.5 or 1.5@1024,2048 (sizes), or - or ?, found "{text}"')
    return promise


def read_steps(text: str, origin: str, with_idea: bool) -> Entries:
    """steps.txt; `with_idea`: of a student copy, whose steps' files are not there to state their ideas."""
    form = 'four columns: name over at_least idea' if with_idea else 'three columns: name over at_least'
    steps: Entries = []
    for where, line in lines_of(text, origin):
        name, over, at_least, *idea = columns(line, where, form, 4 if with_idea else 3, with_idea)
        names = [step['name'] for step in steps]
        if name in names:
            fail(where, f'step {name} is listed twice')
        if over != '-' and over not in names:
            fail(where, f'step {name} is over {over}, which is not listed before it')
        steps.append({'name': name, 'over': '' if over == '-' else over, **read_promise(at_least, where),
                      'idea': idea[0] if idea else ''})
    if not steps:
        raise CourseError(f'{origin}: lists no step')
    return steps


def read_idea(text: str, file: str, lab: str, step: str) -> str:
    """The idea of a step: the sentence on the first line of its file, without the full stop."""
    start, line = f'// {lab} {step}: ', text.partition('\n')[0]
    if not line.startswith(start) or not line.endswith('.') or len(line) <= len(start) + 1:
        fail(f'{file}:1', f'the first line must be "{start}IDEA."')
    return line[len(start):-1]


def read_baselines(text: str, origin: str) -> Entries:
    baselines: Entries = []
    for where, line in lines_of(text, origin):
        form = 'five columns: name gpu|cpu libraries right|other what'
        name, on, libraries, result, what = columns(line, where, form, 5)
        if on not in ('gpu', 'cpu') or result not in ('right', 'other'):
            fail(where, f'expected {form}')
        baselines.append({'name': name, 'on_cpu': on == 'cpu', 'is_right': result == 'right',
                      'libraries': [] if libraries == '-' else libraries.split(','), 'what': what})
    return baselines


def read_limits(text: str, origin: str, folder: str) -> Entries:
    parts: Entries = []
    for where, line in lines_of(text, origin):
        step, part, what = columns(line, where, 'three columns: step part what', 3)
        parts.append({'step': step, 'part': part, 'what': what, 'file': f'{folder}/{step}.{part}.cu'})
    return parts


def read_mutants(text: str, origin: str) -> Entries:
    """mutants.txt without what each is made of, which labs/tests/join_variants reads."""
    mutants: Entries = []
    for where, line in lines_of(re.sub(r'^[ [].*', '', text, flags=re.M), origin):
        name, verdict, says = columns(line, where, 'three columns: name class says', 3)
        mutants.append({'name': name, 'verdict': verdict, 'says': says})
    return mutants


def read_recorded(text: str, origin: str, steps: Entries) -> None:
    """Gives each step that is listed its `recording`: the words for STEPWISE_RECORD_OF."""
    for where, line in lines_of(text, origin):
        name, _, words = line.partition(' ')
        found = [step for step in steps if step['name'] == name]
        if not found:
            fail(where, f'there is no step {name}')
        found[0]['recording'] = words.strip()
