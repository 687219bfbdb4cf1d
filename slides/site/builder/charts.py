"""Charts as SVG. Horizontal coordinates are percentages, so that text keeps its size on a phone.

A mark is a group that has its value as words in its label, which a screen reader speaks and the hover card shows, and
its value is written next to it. Measured values are solid, modelled values outlined. Each GPU or variant has a shape
and a colour. A missing value is not drawn. Axes have round values, and a logarithmic axis says so.
"""
import collections
import html
import math
import re

from slides.builder.records import show

LEFT, RIGHT = 2.0, 98.0  # positions of the smallest and the largest value, in percent
SHAPES = ('circle', 'square', 'diamond', 'triangle')
LINE = 15  # pixels: the height of a line with marks of one colour

Series = collections.namedtuple('Series', 'name colour modelled')


def measured(names):
    """Series of measured values, each with its colour."""
    return [Series(name, k, False) for k, name in enumerate(names)]


def across(share):
    return f'{LEFT + (RIGHT - LEFT) * share:.3f}%'


def at(x, y, inner):
    """SVG with its origin at x (in percent) and y (in pixels)."""
    return f'<svg x="{x}" y="{y}" overflow="visible">{inner}</svg>'


def shape(colour, x, y):
    """A mark's shape, with its centre at x (in percent) and y (in pixels or percent)."""
    inner = {'circle': '<circle r="5"/>', 'square': '<rect x="-5" y="-5" width="10" height="10"/>',
             'diamond': '<path d="M0 -7L7 0L0 7L-7 0Z"/>',
             'triangle': '<path d="M0 -6L6 5L-6 5Z"/>'}[SHAPES[colour % 4]]
    return at(x, y, inner)


def look(series):
    return f's{series.colour % 4}' + (' modelled' if series.modelled else '')


def mark(css, inner, tip):
    return f'<g class="mark {css}" role="img" tabindex="-1" aria-label="{html.escape(tip)}">{inner}</g>'


def svg(height, parts, label, css='plot'):
    return (f'<svg class="{css}" width="100%" height="{height}" role="group" aria-label="{html.escape(label)}">'
            + ''.join(parts) + '</svg>')


def words(x, y, what, css='', anchor='start'):
    return f'<text x="{x}" y="{y}" class="{css}" text-anchor="{anchor}">{html.escape(what)}</text>'


def legend(series, dots=True, note=''):
    def sign(one):
        inner = shape(one.colour, '9', '9') if dots else '<rect x="1" y="4" width="15" height="10"/>'
        return f'<svg class="{look(one)}" width="18" height="18" aria-hidden="true">{inner}</svg>'
    items = [f'{sign(one)} {html.escape(one.name)}' for one in series]
    if note:
        items.append(f'<span class="dim">{note}</span>')
    return '<ul class="legend">' + ''.join(f'<li>{item}</li>' for item in items) + '</ul>'


def named(rows, top, each, drawn):
    """A chart with the names of its rows, which are HTML, in a column to its left."""
    names = ''.join(f'<li>{name}</li>' for name, _ in rows)
    return f'<div class="named" style="--top:{top}px;--each:{each}px"><ul>{names}</ul>{drawn}</div>'


def figure(title, inner, source, table=''):
    """A chart with its title. `source` names the source of its values, and `table` is HTML of the same values."""
    fold = f'<details class="data"><summary>The figures as a table</summary>{table}</details>' if table else ''
    return (f'<figure class="chart"><figcaption>{html.escape(title)}</figcaption>{inner}'
            f'<p class="source">{html.escape(source)}</p>{fold}</figure>')


def decades(low, high):
    """Powers of ten between two values. If there are fewer than two, also 2 and 5 times powers of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        found = [s * 10.0**e for e in powers for s in steps if low <= s * 10.0**e <= high]
        if len(found) >= 2:
            return found
    return [low, high]


def value_text(value, form):
    return show(value, form) if form else f'{value:.4g}'


def tick_text(value, form):
    """The label of a round value: '10 ms', not '10.0 ms'."""
    return re.sub(r'(\.\d*?)0+(?!\d)', lambda found: found[1].rstrip('.'), value_text(value, form)) if value else '0'


def round_values(most):
    """Three to six round values from 0 to `most`."""
    power = 10.0 ** math.floor(math.log10(most / 2.5))
    step = next(s * power for s in (1, 2, 5, 10) if most / (s * power) <= 5.5)
    return [k * step for k in range(int(most / step * 1.0001) + 1)]


def dots(rows, series, form, label):
    """A row per version on a logarithmic axis, with a line of marks per colour.

    rows: [(name as HTML, [(value, tip) or None])]"""
    values = [m[0] for _, marks in rows for m in marks if m]
    low, high = min(values), max(values)
    low, high = (low / 1.2, high * 1.2) if low == high else (low, high)
    colours = list(dict.fromkeys(one.colour for one in series))
    top, each = 24, 10 + LINE * len(colours)
    bottom = top + each * len(rows)

    def share(value):
        return math.log(value / low) / math.log(high / low)
    parts = []
    for tick in decades(low, high):
        x = across(share(tick))
        anchor = 'start' if share(tick) < 0.08 else 'end' if share(tick) > 0.92 else 'middle'
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="18" y2="{bottom}"/>')
        parts.append(words(x, 12, tick_text(tick, form), 'dim', anchor))
    for i, (_, marks) in enumerate(rows):
        parts.append(f'<line class="rail" x1="0" x2="100%" y1="{top + each * i}" y2="{top + each * i}"/>')
        for line, colour in enumerate(colours):
            y = top + each * i + 5 + LINE * line + LINE / 2
            shown = [(one, m) for one, m in zip(series, marks) if m and one.colour == colour]
            if shown:
                parts += line_of_dots(shown, share, y, form)
    return legend(series, note='logarithmic axis') + named(rows, top, each, svg(bottom, parts, label))


def line_of_dots(shown, share, y, form):
    """The marks of one colour in a row, the modelled one below the measured one, and their values as one text."""
    parts = [mark(look(one), shape(one.colour, across(share(m[0])), y), m[1])
             for one, m in sorted(shown, key=lambda pair: not pair[0].modelled)]
    text = ' '.join(f'({value_text(m[0], form)})' if one.modelled else value_text(m[0], form) for one, m in shown)
    shares = [share(m[0]) for _, m in shown]
    right = max(shares) < 0.5  # there is space for the text to the right
    x = across(max(shares) if right else min(shares))
    return parts + [at(x, f'{y}', words(11 if right else -11, 4, text, 'value', 'start' if right else 'end'))]


def bars(rows, series, form, label, limits=()):
    """Horizontal bars from zero. rows: [(name as HTML, [(value, tip) or None])]; limits: [(name, value, colour)]"""
    most = max([m[0] for _, marks in rows for m in marks if m] + [value for _, value, _ in limits])
    top, each = 20 * len(limits) + 22, 10 + LINE * len(series)
    bottom = top + each * len(rows)
    parts, over = [], []
    for tick in round_values(most):
        x = f'{100 * tick / most:.3f}%'
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{top - 4}" y2="{bottom}"/>')
        parts.append(words(x, top - 8, tick_text(tick, form), 'dim', 'middle' if tick else 'start'))
    for k, (name, value, of) in enumerate(limits):
        x = f'{100 * value / most:.3f}%'
        over.append(f'<line class="limit l{of}" x1="{x}" x2="{x}" y1="{20 * k + 16}" y2="{bottom}"/>')
        over.append(words(x, 20 * k + 12, f'{name}: {value_text(value, form)}', f'limit l{of}',
                          'end' if value > most / 2 else 'start'))
    for i, (_, marks) in enumerate(rows):
        for k, (one, m) in enumerate(zip(series, marks)):
            if m:
                y, wide = top + each * i + 5 + LINE * k, f'{max(0.3, 100 * m[0] / most):.3f}%'
                parts.append(mark(look(one), f'<rect x="0" y="{y + 1}" width="{wide}" height="{LINE - 3}"/>', m[1]))
                over.append(at(wide, y, words(6, 11, value_text(m[0], form), 'value')))
    return ((legend(series, dots=False) if len(series) > 1 or series[0].modelled else '')
            + named(rows, top, each, svg(bottom + 4, parts + over, label, 'plot bars')))


def roofline(points, slope, roof, units, label):
    """points: [(short name, intensity, rate, tip)]; slope: (name, bytes/s); roof: (name, rate).
    units: (of the intensity, form of the rate). Both axes are logarithmic."""
    xs = [p[1] for p in points] + [roof[1] / slope[1]]
    ys = [p[2] for p in points] + [roof[1]]
    x0, x1, y0, y1 = min(xs) / 1.6, max(xs) * 2, min(ys) / 1.6, max(ys) * 1.6
    high = 420

    def place(x, y):
        return (across(math.log(x / x0) / math.log(x1 / x0)),
                f'{20 + (high - 40) * (1 - math.log(y / y0) / math.log(y1 / y0)):.1f}')
    ridge = roof[1] / slope[1]
    foot = max(x0, y0 / slope[1])
    parts = []
    for tick in decades(x0, x1):
        x, _ = place(tick, y0)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="20" y2="{high - 20}"/>')
        parts.append(words(x, high - 5, f'{tick:.3g}', 'dim', 'middle'))
    for tick in decades(y0, y1):
        _, y = place(x0, tick)
        parts.append(f'<line class="grid" x1="{LEFT}%" x2="{RIGHT}%" y1="{y}" y2="{y}"/>')
        parts.append(words(f'{LEFT}%', float(y) - 4, tick_text(tick, units[1]), 'dim'))
    (ax, ay), (bx, by), (cx, _) = place(foot, foot * slope[1]), place(ridge, roof[1]), place(x1, roof[1])
    parts.append(f'<line class="limit" x1="{ax}" y1="{ay}" x2="{bx}" y2="{by}"/>')
    parts.append(f'<line class="limit" x1="{bx}" y1="{by}" x2="{cx}" y2="{by}"/>')
    parts.append(words(cx, float(by) - 7, roof[0], 'limit', 'end'))
    mx, my = place(math.sqrt(foot * ridge), math.sqrt(foot * ridge) * slope[1])
    is_left = float(mx[:-1]) < 30  # there is no space for the name of the slope above its line
    parts.append(at(mx, my, words(12, 14, slope[0], 'limit wide-only') if is_left else
                    words(-10, -6, slope[0], 'limit wide-only', 'end')))
    for name, x, y, tip in points:
        px, py = place(x, y)
        # The number is to the right of its mark, where it rarely hides another mark.
        parts.append(mark('s0', shape(0, px, py) + at(px, py, words(8, 4, name, 'mono small')), tip))
    said = (f'Horizontal axis: {units[0]}, logarithmic. Vertical axis: {units[2]}, logarithmic. '
            f'Sloped limit: {slope[0]}. Flat limit: {roof[0]}.')
    return svg(high, parts, label) + f'<p class="axes">{html.escape(said)}</p>'



def heights(values, pixels):
    """The heights of columns on a logarithmic scale. The smallest value still has a height."""
    low, high = min(values) / 1.5, max(values)
    return [pixels * math.log(value / low) / math.log(high / low) for value in values]


def small_stairs(values, pixels=56):
    """A picture of a lab's times, without words: a column per step, the fastest in the accent colour."""
    wide, fastest = 100 / len(values), values.index(min(values))
    columns = ''.join(
        f'<rect class="{"stair now" if k == fastest else "stair"}" x="{wide * k:.3f}%" width="{0.88 * wide:.3f}%" '
        f'y="{pixels - high:.1f}" height="{high:.1f}"/>' for k, high in enumerate(heights(values, pixels)))
    return f'<svg class="stairs" width="100%" height="{pixels}" aria-hidden="true">{columns}</svg>'


def column(k, count, step, y, bottom, is_now):
    """Column k of `count`, from `y` to `bottom`, above the step's number. step: (number, seconds, tip, address)"""
    number, _, tip, address = step
    x, wide = 100 * k / count, 90 / count
    css = 'dim alternate' if k % 2 and count > 16 else 'dim'  # a phone has no space for all numbers
    return (f'<a class="mark" href="{address}" tabindex="-1" aria-label="{html.escape(tip)}">'
            f'<rect class="stair{" now" if is_now else ""}" x="{x:.3f}%" width="{wide:.3f}%" y="{y:.1f}" '
            f'height="{bottom - y:.1f}"/>{words(f"{x + wide / 2:.3f}%", bottom + 16, number, css, "middle")}</a>')


def stairs(steps, notes, label, pixels=300, limit=None, now=()):
    """Times as columns, which link to their steps, on a logarithmic axis whose labels are in the margin (site.css).

    steps: [(number, seconds, tip, address)]; notes: {place of a step: lines of words above its column}; limit: (name,
    seconds) of a baseline; now: places of the columns in the accent colour."""
    values = [seconds for _, seconds, _, _ in steps]
    every = values + ([limit[1]] if limit else [])
    bottom = 40 + pixels
    ys = {seconds: bottom - high for seconds, high in zip(every, heights(every, pixels))}
    low, high = min(every) / 1.5, max(every)
    axis = f'time on a logarithmic axis, from {show(low, "time")}'
    parts, ticks = [words('100%', 14, axis, 'dim', 'end')], []
    for tick in decades(low, high):
        y = bottom - pixels * math.log(tick / low) / math.log(high / low)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(in_margin(y, tick_text(tick, 'time'), 'dim'))
        ticks.append(y)
    for k, step in enumerate(steps):
        parts.append(column(k, len(steps), step, ys[step[1]], bottom, k in now))
    if limit:
        y = ys[limit[1]]
        parts.append(f'<line class="limit" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        near = next((tick for tick in ticks if abs(tick - y) < 14), None)  # the label of the axis must stay readable
        parts.append(in_margin(y if near is None else near + (14 if near < y else -14), limit[0], 'limit'))
    for k, lines in notes.items():
        parts.append(note_above([ys[v] for v in values], k, lines))
    return svg(bottom + 22, parts, label, 'plot steps')


def in_margin(y, what, css):
    return at('100%', f'{y:.1f}', words(6, 4, what, css))


def note_above(ys, k, lines):
    """Words above column k of a staircase. They extend to the left in the right half, and hide no column."""
    wide, left = 100 / len(ys), k < len(ys) / 2
    under = ys[k:] if left else ys[len(ys) // 2 - 2:k + 1]
    y = min(under) - 8 - 17 * (len(lines) - 1)
    x = f'{wide * k:.3f}%' if left else f'{wide * (k + 0.9):.3f}%'
    leader = ''
    if ys[k] - min(under) > 8:
        leader = f'<line class="leader" x1="{x}" x2="{x}" y1="{min(under) - 4:.1f}" y2="{ys[k]:.1f}"/>'
    return leader + ''.join(words(x, f'{y + 17 * n:.1f}', said, 'note dim' if n else 'note', 'start' if left else 'end')
                            for n, said in enumerate(lines))
