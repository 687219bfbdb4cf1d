"""The lines that a step changes, in one column, with signs and the changed words marked; and versions.js, the
differences between any two steps.

Neither the header of a step, which the page shows as prose, nor the markers of the student's part are compared.
"""
import collections
import difflib
import html
import json
import re

from slides.builder import records

from .sources import colour

CONTEXT = 3  # unchanged lines that are shown before and after a change
ALIKE = 0.6  # lines with at least this share of common words are compared word by word
WORD = re.compile(r'\w+|\s+|[^\w\s]')
PIECE = re.compile(r'<[^>]*>|&[^;]+;|.', re.S)  # a tag or a character of coloured code

Line = collections.namedtuple('Line', 'number text shown')


def code_lines(text):
    """The lines of a source that are code, each with its number and its coloured HTML."""
    found, in_header, in_todo = [], True, False
    for number, (line, shown) in enumerate(zip(text.expandtabs(4).split('\n'), colour(text)), 1):
        stripped = line.strip()
        in_header = in_header and stripped.startswith('//')
        in_todo = stripped.startswith('//> todo') or in_todo and stripped.startswith('//')
        if not in_header and not in_todo and not stripped.startswith('//<'):
            found.append(Line(number, line.rstrip(), shown))
    return found


def opcodes(old, new):
    """difflib's opcodes, except that a lone brace or an empty line does not separate two changes."""
    found = []
    matcher = difflib.SequenceMatcher(None, [line.text for line in old], [line.text for line in new], autojunk=False)
    for tag, *at in matcher.get_opcodes():
        trivial = tag == 'equal' and all(line.text.strip() in ('', '{', '}') for line in old[at[0]:at[1]])
        inside = trivial and found and at[1] < len(old) and at[3] < len(new)
        if (tag != 'equal' or inside) and found and found[-1][0] == 'change':
            found[-1] = ('change', found[-1][1], at[1], found[-1][3], at[3])
        else:
            found.append(('equal' if tag == 'equal' else 'change', *at))
    return found


def common_share(a, b):
    """The share of words that two lines have in common, from 0 to 1."""
    words = [collections.Counter(w for w in WORD.findall(line) if not w.isspace()) for line in (a, b)]
    both, every = sum((words[0] & words[1]).values()), sum(words[0].values()) + sum(words[1].values())
    return 2 * both / every if every else 0


def similar(gone, new):
    """[(index in gone, index in new)] of similar lines, both in order."""
    found, start = [], 0
    for i, line in enumerate(gone):
        share, j = max(((common_share(line.text, new[j].text), -j) for j in range(start, len(new))), default=(0, 0))
        if share >= ALIKE:
            found.append((i, -j))
            start = 1 - j
    return found


def changed_words(a, b):
    """The sets of the characters of two lines that are in changed words. Indentation is not a word."""
    words = WORD.findall(a), WORD.findall(b)
    starts = [[0] for _ in words]
    for of, all_words in zip(starts, words):
        for word in all_words:
            of.append(of[-1] + len(word))
    marked = set(), set()
    for tag, *at in difflib.SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        for side in (0, 1) if tag != 'equal' else ():
            marked[side].update(range(starts[side][at[2 * side]], starts[side][at[2 * side + 1]]))
    return [of - set(range(len(line) - len(line.lstrip()))) for of, line in zip(marked, (a, b))]


def emphasised(shown, marked):
    """Coloured code with <mark> around the characters at the places in `marked`. Tags stay balanced."""
    out, at, is_open = [], 0, False
    for piece in PIECE.findall(shown):
        wanted = piece[0] != '<' and at in marked
        if wanted != is_open:
            out.append('<mark>' if wanted else '</mark>')
            is_open = wanted
        out.append(piece)
        at += piece[0] != '<'
    return ''.join(out) + ('</mark>' if is_open else '')


def row(tag, line, marked=()):
    shown = emphasised(line.shown, marked) if marked else line.shown
    return f'<{tag} class="row" data-n="{line.number}">{shown}\n</{tag}>'


def changed(gone, new):
    """The removed lines, then the added lines."""
    marks = [{}, {}]
    for i, j in similar(gone, new):
        marks[0][i], marks[1][j] = changed_words(gone[i].text, new[j].text)
    return ''.join(row(tag, line, of.get(k, ())) for tag, lines, of in (('del', gone, marks[0]), ('ins', new, marks[1]))
                   for k, line in enumerate(lines))


def unchanged(lines, is_first, is_last):
    """Context of a change, from the unchanged lines between two changes."""
    before, after = 0 if is_first else CONTEXT, 0 if is_last else CONTEXT
    skipped = len(lines) - before - after
    if skipped <= 1:
        return ''.join(row('span', line) for line in lines)
    gap = '' if is_first or is_last else f'<span class="skipped">{skipped} unchanged lines\n</span>'
    return (''.join(row('span', line) for line in lines[:before]) + gap
            + ''.join(row('span', line) for line in lines[len(lines) - after:]))


def show(old, new):
    """The HTML of the changes from one source to another, both as texts; '' if no code changes."""
    old, new = code_lines(old), code_lines(new)
    codes = opcodes(old, new)
    if all(tag == 'equal' for tag, *_ in codes):
        return ''
    body = ''.join(changed(old[a:b], new[c:d]) if tag == 'change' else
                   unchanged(new[c:d], k == 0, k + 1 == len(codes)) for k, (tag, a, b, c, d) in enumerate(codes))
    return f'<pre class="change" tabindex="0" aria-label="Changed lines"><code>{body}</code></pre>'


def parts(old, new, link):
    """A sentence about the files that only one of two steps includes; `link` makes the link of a new file."""
    said = []
    added, gone = [p for p in new.parts if p not in old.parts], [p for p in old.parts if p not in new.parts]
    if added:
        said.append('It also includes ' + ', '.join(link(part) for part in added) + '.')
    if gone:
        said.append('It no longer includes ' + ', '.join(f'<code>{html.escape(part)}</code>' for part in gone) + '.')
    return f'<p>{" ".join(said)}</p>' if said else ''


class Versions:
    """The code of a lab's steps as lines: the step's own file, then the parts that it includes."""

    def __init__(self, root, lab, times):
        """`times`: the times of progress.every_size."""
        self.path = [step.name for step in lab.path]
        self.times = [{'on': f'{one.gpu}, {one.label}',
                       'seconds': {name: [seconds, records.show(seconds, 'time')] for name, seconds in one.seconds.items()}}
                      for one in times]
        self.over = {step.name: step.over for step in lab.steps}
        self.lines, cache = {}, {}
        for step in lab.steps:
            self.lines[step.name] = lines = []
            for file in [step.file] + step.parts:
                if file not in cache:
                    cache[file] = code_lines((root / file).read_text().rstrip('\n'))
                if file != step.file:
                    lines.append(Line(0, f'// ---- {file}', f'<b>// ---- {html.escape(file)}</b>'))
                lines += cache[file]

    def script(self):
        """versions.js: every line once, and the differences between any two steps, the earlier step first."""
        table, shown = {}, {}
        for name, lines in self.lines.items():
            shown[name] = [table.setdefault(line.shown, len(table)) for line in lines]
        names = list(self.lines)
        pairs = {f'{a}|{b}': [[int(tag == 'equal'), *at] for tag, *at in opcodes(self.lines[a], self.lines[b])]
                 for i, a in enumerate(names) for b in names[i + 1:]}
        numbers = {name: [line.number for line in lines] for name, lines in self.lines.items()}
        data = {'names': names, 'over': self.over, 'table': list(table), 'lines': shown, 'numbers': numbers,
                'pairs': pairs, 'path': self.path, 'times': self.times}
        return 'const VERSIONS = ' + json.dumps(data, separators=(',', ':')) + ';\n'
