"""Tables and charts in slides, computed from the records when the deck is built.

  ```table                         ```chart                          ```lines
  rows reduction 01-07             rows reduction 01-10              sizes 2**20 2**22 2**24
  idea = idea                      H200 = rate(step, 2**28) | GB/s   09 = rate('reduction/09', size) | GB/s
  H200 = rate(step, ...) | GB/s    limit read = gpu('dram_read')     cub = rate('reduction/cub', size) | GB/s
  ```                              ```                               limit copy = gpu('dram_copy')

A row stands for a step. Expressions can use `step` ('reduction/03_sequential'), `name`, `idea`, `first`
and `before` (the row's predecessor; a cell that needs it is "-" in the first row). There may be several
lines `rows`, and a single step may have a label: rows reduction cub "CUB".
"""
import html
import re
import shlex

from .errors import DeckError
from .records import show


def parse_rows(records, words):
    lab, *wanted = words
    if len(wanted) == 2 and not re.fullmatch(r'[\d-]+', wanted[1]):
        return [(f'{lab}/{wanted[0]}', wanted[1], '')]
    names = records.steps(lab)
    rows = []
    for word in wanted:
        low, _, high = word.partition('-')
        for name, idea in names:
            if low <= name.split('_')[0] <= (high or low):
                rows.append((f'{lab}/{name}', name, idea))
        if not rows:
            raise DeckError(f'rows {" ".join(words)}: {lab} has no step {word}')
    return rows


def parse(records, body):
    """The parsed rows, columns [(title, expression, form)], limits and sizes."""
    rows, columns, limits, sizes = [], [], [], []
    for line in body.splitlines():
        if not line.strip():
            continue
        if line.startswith('rows '):
            rows += parse_rows(records, shlex.split(line)[1:])
            continue
        if line.startswith('sizes '):
            sizes = [records.evaluate(w) for w in line.split()[1:]]
            continue
        title, equals, rest = line.partition(' = ')
        if not equals:
            raise DeckError(f'{line!r}: expected "title = expression | form"')
        expression, _, form = rest.rpartition(' | ') if ' | ' in rest else (rest, '', '')
        entry = (title.strip(), expression.strip(), form.strip())
        if title.startswith('limit '):
            limits.append((entry[0][6:], *entry[1:]))
        else:
            columns.append(entry)
    return rows, columns, limits, sizes


def variables_of(rows, i):
    step, name, idea = rows[i]
    return {'step': step, 'name': name, 'idea': idea, 'first': rows[0][0],
            'before': rows[i - 1][0] if i else None}


def cell(records, rows, i, expression):
    if i == 0 and re.search(r'\bbefore\b', expression):
        return None
    return records.evaluate(expression, variables_of(rows, i))


def table(records, body, note):
    rows, columns, _, _ = parse(records, body)
    out = ['<table><thead><tr><th></th>']
    out += [f'<th class="{"r" if form not in ("", "text") else ""}">{html.escape(title)}</th>'
            for title, _, form in columns]
    out.append('</tr></thead><tbody>')
    for i, (_, name, _) in enumerate(rows):
        out.append(f'<tr><td><code>{html.escape(name)}</code></td>')
        for _, expression, form in columns:
            text = show(cell(records, rows, i, expression), form)
            out.append(f'<td class="{"r" if form not in ("", "text") else ""}">{html.escape(text)}</td>')
        out.append('</tr>')
    out.append('</tbody></table>')
    for source in records.sources:
        note(source)
    return ''.join(out)


def svg(width, height, parts, title):
    return (f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{html.escape(title)}">{"".join(parts)}</svg>')


def text(x, y, what, css='', anchor='start'):
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{css}" text-anchor="{anchor}">{html.escape(what)}</text>'


def chart(records, body, note):
    """Horizontal bars, one per row and column, on one scale, with the value at the end."""
    rows, columns, limits, _ = parse(records, body)
    values = [[cell(records, rows, i, e) for _, e, _ in columns] for i in range(len(rows))]
    bounds = [(title, records.evaluate(e), form or columns[0][2]) for title, e, form in limits]
    most = max([v for row in values for v in row if v is not None] + [v for _, v, _ in bounds])
    longest = max(len(show(v, f)) for row in values for v, (_, _, f) in zip(row, columns))
    left, right, width = 305, 34 + 14 * longest, 1160
    each = min(36, max(26, int((500 - 34 * (len(columns) > 1 or bool(bounds))) / len(rows) / len(columns))))
    scale = (width - left - right) / most
    parts, y = [], 0
    if len(columns) > 1 or bounds:
        x = left
        for k, (title, _, _) in enumerate(columns if len(columns) > 1 else []):
            parts.append(f'<rect class="bar{k}" x="{x}" y="8" width="22" height="18"/>')
            parts.append(text(x + 32, 25, title))
            x += 70 + 14 * len(title)
        y = 34
    bottom = y + each * len(rows) * len(columns)
    over = []  # lines of limits lie over the bars
    for title, value, form in bounds:
        x = left + value * scale
        over.append(f'<line class="limit" x1="{x:.0f}" y1="{y}" x2="{x:.0f}" y2="{bottom}"/>')
        parts.append(text(x + 8, 25, f'{title}: {show(value, form)}', 'limit', 'end'))
    for i, (_, name, _) in enumerate(rows):
        parts.append(text(left - 12, y + each * len(columns) / 2 + 8, name, 'mono', 'end'))
        for k, (_, _, form) in enumerate(columns):
            if values[i][k] is not None:
                wide = max(2, values[i][k] * scale)
                parts.append(f'<rect class="bar{k}" x="{left}" y="{y + 2}" width="{wide:.0f}" height="{each - 4}"/>')
                label = show(values[i][k], form)
                at = left + wide + 8
                for _, value, _ in bounds:  # not through a limit's line
                    line = left + value * scale
                    if at - 4 < line < at + 13 * len(label):
                        at = line + 8
                parts.append(text(at, y + each / 2 + 8, label))
            y += each
    for source in records.sources:
        note(source)
    return svg(width, max(y, bottom) + 4, parts + over, '; '.join(t for t, _, _ in columns))


def lines(records, body, note):
    """Rates against sizes, both on logarithmic axes."""
    import math
    _, columns, limits, sizes = parse(records, body)
    series = [(t, [records.evaluate(e, {'size': s}) for s in sizes], f) for t, e, f in columns]
    bounds = [(t, records.evaluate(e), f or columns[0][2]) for t, e, f in limits]
    every = [v for _, vs, _ in series for v in vs] + [v for _, v, _ in bounds]
    low, high = min(every), max(every)
    left, right, width, top, bottom = 110, 330, 1160, 10, 430

    def across(i):
        return left + (width - left - right) * i / (len(sizes) - 1)

    def up(v):
        return bottom - (bottom - top) * math.log(v / low) / math.log(high / low)
    parts = [f'<path class="axis" d="M{left} {top} V{bottom} H{width - right}"/>']
    for i, s in enumerate(sizes):
        power = math.log2(s)
        parts.append(text(across(i), bottom + 34, f'2^{power:.0f}' if power == int(power) else f'{s}',
                          '', 'middle'))
    for v in (low, high):
        parts.append(text(left - 10, up(v) + 8, show(v, columns[0][2]).split()[0], '', 'end'))
    parts.append(text(left + 8, top + 24, columns[0][2], 'dim'))
    places = sorted([(up(vs[-1]), t, f'line{k}') for k, (t, vs, _) in enumerate(series)]
                    + [(up(v), t, 'limit') for t, v, _ in bounds])
    free = top
    for y, t, css in places:  # labels at the right, none over another
        y = max(y, free)
        free = y + 30
        parts.append(text(width - right + 14, y + 8, t, css))
    for k, (_, vs, _) in enumerate(series):
        points = ' '.join(f'{across(i):.0f},{up(v):.0f}' for i, v in enumerate(vs))
        parts.append(f'<polyline class="line{k}" points="{points}"/>')
    for _, v, _ in bounds:
        parts.append(f'<line class="limit" x1="{left}" x2="{width - right}" y1="{up(v):.0f}" y2="{up(v):.0f}"/>')
    for source in records.sources:
        note(source)
    return svg(width, max(bottom + 44, int(free)), parts, '; '.join(t for t, _, _ in columns))
