"""Code in slides. It is always a region of a real file, never a copy.

A block is ```code FILE REGION [mark "TEXT"]...```. FILE is a path from the root, or a step as
solutions/reduction/03. REGION is one of
  todo [N]              between "//> todo" and "//<", the part that a student writes
  function NAME         from the line that defines it to its closing brace
  "FIRST" .. "LAST"     from the line that holds FIRST to the next one that holds LAST
A region that does not exist, or does not fit on the slide, is an error.
"""
import html
import re
import shlex
import textwrap

from .errors import DeckError

MOST_COLUMNS, MOST_LINES = 83, 17


def find_file(root, name):
    file = root / name
    if file.is_file():
        return file
    found = sorted(root.glob(name + '_*.cu'))
    if len(found) == 1:
        return found[0]
    raise DeckError(f'{name}: there is no such file')


def find_region(lines, words, shown):
    """The region's first and last line, counted from 0."""
    if words[0] == 'todo':
        wanted = int(words[1]) if len(words) > 1 else 1
        starts = [i for i, line in enumerate(lines) if line.lstrip().startswith('//> todo')]
        if len(starts) < wanted:
            raise DeckError(f'{shown}: the region todo {wanted} is gone')
        first = starts[wanted - 1]
        last = next(i for i in range(first, len(lines)) if lines[i].lstrip().startswith('//<'))
        while lines[first].lstrip().startswith('//'):
            first += 1
        return first, last - 1
    if words[0] == 'function':
        for first, line in enumerate(lines):
            if re.search(rf'\b{re.escape(words[1])}\(', line) and not line.startswith((' ', '//')):
                last = next((i for i in range(first, len(lines)) if lines[i].startswith('}')), None)
                if last is not None and not line.rstrip().endswith(';'):
                    return (first - 1 if lines[first - 1].startswith('template') else first), last
        raise DeckError(f'{shown}: the function {words[1]} is gone')
    if len(words) == 3 and words[1] == '..':
        first = next((i for i, line in enumerate(lines) if words[0] in line), None)
        if first is None:
            raise DeckError(f'{shown}: no line holds "{words[0]}" any more')
        last = next((i for i in range(first, len(lines)) if words[2] in lines[i]), None)
        if last is None:
            raise DeckError(f'{shown}: no line after "{words[0]}" holds "{words[2]}" any more')
        return first, last
    raise DeckError(f'{shown}: {" ".join(words)} is not a region; builder/code.py lists them')


def opening(comment):
    """The text before a comment's own text: "//", spaces, and a tag, as in "// ties      "."""
    return re.match(r'\s*//\s*(?:\w+\s{2,})?', comment)[0]


def joined(lines, longest):
    """The lines, with each paragraph of a comment joined into one line if a line of it exceeds `longest` columns."""
    out, open_text = [], None  # where the text of the unfinished paragraph begins
    for line in lines:
        if not line.lstrip().startswith('//'):
            open_text = None
        elif open_text is not None and re.match(r'\s*//\s', line) and len(opening(line)) == open_text \
                and opening(line).strip() == '//':
            out[-1].append(line)
            continue
        else:
            open_text = len(opening(line))
        out.append([line])
    result = []
    for group in out:
        if max(map(len, group)) > longest:
            group = [' '.join([group[0]] + [line[len(opening(line)):] for line in group[1:]])]
        result += group
    return result


def wrapped(comment):
    """Breaks a comment into lines that fit. Continuation lines are indented like its text."""
    before = opening(comment)
    after = before[:before.index('//') + 2].ljust(len(before))
    return textwrap.wrap(comment, MOST_COLUMNS, subsequent_indent=after, break_long_words=False)


def behind_condition(line):
    """Breaks a long "if (...) statement;" into two lines."""
    head = re.match(r'(\s*)(if|for) \(', line)
    depth, at = 0, head.end() - 1 if head else len(line)
    for at in range(at, len(line)):
        depth += {'(': 1, ')': -1}.get(line[at], 0)
        if depth == 0:
            break
    rest = line[at + 1:].strip()
    return [line[:at + 1], head[1] + '  ' + rest] if head and rest and rest != '{' else [line]


def behind_comma(line):
    """Breaks a long list of arguments into two lines, like the course's formatter."""
    at = line.rfind(', ', 0, MOST_COLUMNS)
    indent = len(line) - len(line.lstrip()) + 4
    return [line[:at + 1], ' ' * indent + line[at + 2:]] if at > 0 else [line]


def fit(lines, shown, first):
    """Removes common indentation and markers. Moves a comment that makes a line too long above the line."""
    kept = [line for line in lines if not line.lstrip().startswith(('//>', '//<'))]
    indent = min((len(s) - len(s.lstrip()) for s in kept if s.strip()), default=0)
    result = []
    for number, line in enumerate(joined([line[indent:].rstrip() for line in kept], MOST_COLUMNS)):
        if len(line) > MOST_COLUMNS:
            code, slashes, comment = line.partition('  //')
            if slashes and code.strip():
                result += wrapped(' ' * (len(code) - len(code.lstrip())) + '//' + comment)
                line = code.rstrip()
            elif line.lstrip().startswith('//'):
                result += wrapped(line)
                continue
            else:
                broken = behind_condition(line) if line.lstrip().startswith(('if (', 'for (')) else behind_comma(line)
                result += broken[:-1]
                line = broken[-1]
        if len(line) > MOST_COLUMNS:
            raise DeckError(f'{shown}:{first + number + 1}: {len(line)} columns do not fit a slide '
                            f'({MOST_COLUMNS}); choose a smaller region')
        result.append(line)
    if len(result) > MOST_LINES:
        raise DeckError(f'{shown}: {len(result)} lines do not fit a slide ({MOST_LINES}); '
                        'choose a smaller region')
    return result


def highlight(text, marked):
    from pygments import lex
    from pygments.lexers import CudaLexer
    from pygments.token import Comment, Keyword, Name, Number, String
    kinds = [(Comment, 'c'), (Keyword, 'k'), (Name.Builtin, 'b'), (String, 's'), (Number, 'n')]
    out = []
    for kind, word in lex(text, CudaLexer(stripnl=False)):
        name = next((css for group, css in kinds if kind in group), '')
        for i, piece in enumerate(word.split('\n')):
            out.append('\n' if i else '')
            if piece:
                piece = html.escape(piece)
                out.append(f'<span class="{name}">{piece}</span>' if name else piece)
    lines = ''.join(out).rstrip('\n').split('\n')
    return '\n'.join(f'<mark>{line}</mark>' if i in marked else line for i, line in enumerate(lines))


def render(root, info, note):
    """The HTML of a block. `info` is the text after ```code."""
    try:
        words = shlex.split(info)
    except ValueError as error:
        raise DeckError(f'code {info}: {error}') from error
    marks = []
    while 'mark' in words:
        at = words.index('mark')
        marks.append(words[at + 1])
        del words[at:at + 2]
    file = find_file(root, words[0])
    shown = file.relative_to(root).as_posix()
    lines = file.read_text().splitlines()
    first, last = find_region(lines, words[1:] or ['todo'], shown)
    fitted = fit(lines[first:last + 1], shown, first)
    marked = set()
    for text in marks:
        at = [i for i, line in enumerate(fitted) if text in line]
        if not at:
            raise DeckError(f'{shown}: the region has no "{text}" to mark')
        marked.update(at)
    note(f'{file.parent.name}/{file.name}')
    return f'<pre class="code"><code>{highlight(chr(10).join(fitted), marked)}</code></pre>'
