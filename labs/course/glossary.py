"""labs/glossary.md, term by term.

A term is a heading of level 3, its text and example, and the fields "Also called:", "Taught in:" and "See also:".
"""
from __future__ import annotations

import re
from typing import Any, Dict, List

from toml_file import fail

FIELDS = ('Also called', 'Taught in', 'See also')
LINK = re.compile(r'\[([^\]]*)\]\(([^)]*)\)')


def term_key(name: str) -> str:
    """'Bank-Conflicts' -> 'bankconflict': what two spellings of one name have in common."""
    key = re.sub('[^a-z0-9]', '', name.lower())
    if len(key) > 4 and key.endswith('ies'):
        return key[:-3] + 'y'
    if len(key) > 2 and key.endswith('s') and not key.endswith('ss'):
        return key[:-1]
    return key


def read_term(name: str, group: str, lines: List[str], where: str) -> Dict[str, Any]:
    text: List[str] = []
    picture: List[str] = []
    fields: Dict[str, str] = {}
    field, in_code = '', False
    for line in lines:
        begun = [known for known in FIELDS if line.startswith(known + ': ')]
        if line.startswith('```'):
            in_code = not in_code
        elif in_code:
            picture.append(line)
        elif begun:
            field = begun[0]
            fields[field] = line[len(field) + 2:]
        elif line and field:
            fields[field] += ' ' + line
        else:
            field = ''
            text.append(line)
    taught = fields.get('Taught in', '')  # without links where a student copy lacks the lab
    links = list(LINK.finditer(taught))
    ends = [link.start() for link in links[1:]] + [len(taught)]
    steps = [re.search('`([^`]*)`', taught[link.end():end]) for link, end in zip(links, ends)]
    aliases = fields.get('Also called', '')
    if not any(text):
        fail(where, f'"{name}" has no text')
    if not taught:
        fail(where, f'"{name}" lacks a line "Taught in: ..."')
    return {'name': name, 'group': group,
            'aliases': [alias.strip() for alias in re.sub(r'\.$', '', aliases).split(', ') if alias],
            'text': '\n'.join(text).strip('\n').split('\n'), 'picture': picture,
            'taught': [{'lab': link[1], 'target': link[2], 'step': step[1] if step else ''}
                       for link, step in zip(links, steps)],
            'related': [link[1] for link in LINK.finditer(fields.get('See also', ''))]}


def read_glossary(text: str, origin: str) -> List[Dict[str, Any]]:
    terms: List[Dict[str, Any]] = []
    owners: Dict[str, str] = {}  # of the keys of names
    group, in_code = '', False
    headings: List[Any] = []  # (line number, its name, its group, the lines below it)
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.startswith('```')
        if not in_code and line.startswith('## '):
            group = line[3:].strip()
            headings.append(None)
        elif not in_code and line.startswith('### '):
            headings.append((number, line[4:].strip(), group, []))
        elif headings and headings[-1]:
            headings[-1][3].append(line)
    for number, name, of_group, lines in filter(None, headings):
        where = f'{origin}:{number}'
        term = read_term(name, of_group, lines, where)
        for one in term['aliases'] + [name]:
            owner = owners.setdefault(term_key(one), name)
            if owner != name:
                fail(where, f'"{one}" names "{owner}" as well as this term')
        terms.append(term)
    return terms
