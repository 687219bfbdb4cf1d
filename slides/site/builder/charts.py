"""Charts as SVG. Horizontal coordinates are percentages, so that text keeps its size on a phone.

A mark is a group that has its value as words: in `data-tip` for the hover card, and as its label for
a screen reader. Each series has a shape and a colour. A missing value is not drawn.
"""
import html
import math
import re

from slides.builder.records import show

LEFT, RIGHT = 2.0, 98.0  # positions of the smallest and the largest value, in percent
SHAPES = ('circle', 'square', 'diamond', 'triangle')


def across(share):
    return f'{LEFT + (RIGHT - LEFT) * share:.3f}%'


def shape(series, x, y):
    """A mark's shape, with its centre at x (in percent) and y (in pixels or percent)."""
    inner = {'circle': '<circle r="5"/>', 'square': '<rect x="-5" y="-5" width="10" height="10"/>',
             'diamond': '<path d="M0 -7L7 0L0 7L-7 0Z"/>',
             'triangle': '<path d="M0 -6L6 5L-6 5Z"/>'}[SHAPES[series % 4]]
    return f'<svg x="{x}" y="{y}" overflow="visible">{inner}</svg>'


def mark(series, inner, tip):
    tip = html.escape(tip)
    return f'<g class="mark s{series}" role="img" tabindex="-1" aria-label="{tip}" data-tip="{tip}">{inner}</g>'


def svg(height, parts, label):
    return (f'<svg class="plot" width="100%" height="{height}" role="group" aria-label="{html.escape(label)}">'
            + ''.join(parts) + '</svg>')


def words(x, y, what, css='', anchor='start'):
    return f'<text x="{x}" y="{y}" class="{css}" text-anchor="{anchor}">{html.escape(what)}</text>'


def legend(series, dots=True):
    def sign(k):
        inner = shape(k, '8', '8') if dots else '<rect x="1" y="3" width="14" height="10"/>'
        return f'<svg class="s{k}" width="16" height="16" aria-hidden="true">{inner}</svg>'
    return ('<ul class="legend">' + ''.join(f'<li>{sign(k)} {html.escape(name)}</li>'
                                            for k, name in enumerate(series)) + '</ul>')


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


def tick_text(value, form):
    """The label of a round value: '10 ms', not '10.0 ms'."""
    return re.sub(r'(\.\d*?)0+(?!\d)', lambda found: found[1].rstrip('.'), show(value, form))


def values_of(marks, form):
    """The values of a row as words, in the order of the series."""
    return ' · '.join(show(m[0], form) if form else f'{m[0]:.4g}' for m in marks if m) or 'not recorded'


def dots(rows, series, form, label):
    """One row per version, with a mark per series, on a logarithmic axis. rows: [(name, [(value, tip) or None])]"""
    values = [m[0] for _, marks in rows for m in marks if m]
    low, high = min(values), max(values)
    low, high = (low / 1.2, high * 1.2) if low == high else (low, high)

    def place(value):
        return across(math.log(value / low) / math.log(high / low))
    each = 26 + 13 * len(series)  # a line per series, so that no mark hides another
    bottom = 26 + each * len(rows)
    parts = []
    for tick in decades(low, high):
        x = place(tick)
        share = math.log(tick / low) / math.log(high / low)
        anchor = 'start' if share < 0.08 else 'end' if share > 0.92 else 'middle'
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="20" y2="{bottom}"/>')
        parts.append(words(x, 13, show(tick, form), 'dim', anchor))
    for i, (name, marks) in enumerate(rows):
        y = 26 + each * i
        parts.append(words('0', y + 14, name, 'mono'))
        parts.append(words('100%', y + 14, values_of(marks, form), 'dim values', 'end'))
        parts.append(f'<line class="rail" x1="0" x2="100%" y1="{y + each}" y2="{y + each}"/>')
        for k, m in enumerate(marks):
            if m:
                parts.append(mark(k, shape(k, place(m[0]), y + 26 + 13 * k), m[1]))
    return legend(series) + svg(bottom, parts, label)


def bars(rows, series, form, label, limits=()):
    """Horizontal bars from zero. rows: [(name, [(value, tip) or None])]; limits: [(name, value, series)]"""
    values = [m[0] for _, marks in rows for m in marks if m] + [value for _, value, _ in limits]
    most = max(values)
    each = 26 + 13 * len(series)
    top = 22 * len(limits) + 6
    bottom = top + each * len(rows)
    parts, over = [], []
    for k, (name, value, of) in enumerate(limits):
        x = across(value / most)
        over.append(f'<line class="limit l{of}" x1="{x}" x2="{x}" y1="{22 * k + 18}" y2="{bottom}"/>')
        over.append(words(x, 22 * k + 14, f'{name}: {show(value, form)}', f'limit l{of}', 'end'))
    for i, (name, marks) in enumerate(rows):
        y = top + each * i
        parts.append(words('0', y + 18, name, 'mono'))
        over.append(words('100%', y + 18, values_of(marks, form), 'dim values', 'end'))
        for k, m in enumerate(marks):
            if m:
                wide = max(0.3, (RIGHT - LEFT) * m[0] / most)
                parts.append(mark(k, f'<rect x="{LEFT}%" y="{y + 24 + 13 * k}" width="{wide:.3f}%" height="11"/>', m[1]))
    return (legend(series, dots=False) if len(series) > 1 else '') + svg(bottom + 4, parts + over, label)


def roofline(points, slope, roof, units, label):
    """points: [(short name, intensity, rate, tip)]; slope: (name, bytes/s); roof: (name, rate).
    units: (of the intensity, form of the rate). Both axes are logarithmic."""
    xs = [p[1] for p in points] + [roof[1] / slope[1]]
    ys = [p[2] for p in points] + [roof[1]]
    x0, x1, y0, y1 = min(xs) / 1.6, max(xs) * 2, min(ys) / 1.6, max(ys) * 1.6
    high = 420

    def at(x, y):
        return (across(math.log(x / x0) / math.log(x1 / x0)),
                f'{20 + (high - 40) * (1 - math.log(y / y0) / math.log(y1 / y0)):.1f}')
    ridge = roof[1] / slope[1]
    foot = max(x0, y0 / slope[1])
    parts = []
    for tick in decades(x0, x1):
        x, _ = at(tick, y0)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="20" y2="{high - 20}"/>')
        parts.append(words(x, high - 5, f'{tick:.3g}', 'dim', 'middle'))
    for tick in decades(y0, y1):
        _, y = at(x0, tick)
        parts.append(f'<line class="grid" x1="{LEFT}%" x2="{RIGHT}%" y1="{y}" y2="{y}"/>')
        parts.append(words(f'{LEFT}%', float(y) - 4, show(tick, units[1]), 'dim'))
    (ax, ay), (bx, by), (cx, _) = at(foot, foot * slope[1]), at(ridge, roof[1]), at(x1, roof[1])
    parts.append(f'<line class="limit" x1="{ax}" y1="{ay}" x2="{bx}" y2="{by}"/>')
    parts.append(f'<line class="limit" x1="{bx}" y1="{by}" x2="{cx}" y2="{by}"/>')
    for name, x, y, tip in points:
        px, py = at(x, y)
        # The number is to the right of its mark, where it rarely hides another mark.
        parts.append(mark(0, shape(0, px, py) + f'<svg x="{px}" y="{py}" overflow="visible">'
                          f'<text x="8" y="4" class="mono small">{html.escape(name)}</text></svg>', tip))
    said = (f'<p class="axes">Horizontal axis: {html.escape(units[0])}. Vertical axis: {html.escape(units[2])}. '
            f'Sloped limit: {html.escape(slope[0])}. Flat limit: {html.escape(roof[0])}. Both axes are '
            'logarithmic.</p>')
    return svg(high, parts, label) + said



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


def stairs(steps, notes, label, pixels=300, limit=None, now=()):
    """Times as columns, which link to their steps, on a logarithmic axis whose labels are in the margin (site.css).

    steps: [(number, seconds, tip, address)]; notes: {place of a step: lines of words above its column}; limit: (name,
    seconds) of a baseline; now: places of the columns in the accent colour."""
    values = [seconds for _, seconds, _, _ in steps]
    every = values + ([limit[1]] if limit else [])
    top, bottom, wide = 40, 40 + pixels, 100 / len(steps)
    ys = {seconds: bottom - high for seconds, high in zip(every, heights(every, pixels))}
    parts, ticks = [words('100%', 14, 'time, logarithmic', 'dim', 'end')], []
    low, high = min(every) / 1.5, max(every)
    for tick in decades(low, high):
        y = bottom - pixels * math.log(tick / low) / math.log(high / low)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(in_margin(y, tick_text(tick, 'time'), 'dim'))
        ticks.append(y)
    for k, (number, seconds, tip, address) in enumerate(steps):
        x, said = wide * k, html.escape(tip)
        css = 'dim alternate' if k % 2 and len(steps) > 16 else 'dim'  # a phone has no space for all numbers
        parts.append(f'<a class="mark" href="{address}" tabindex="-1" aria-label="{said}" data-tip="{said}">'
                     f'<rect class="stair{" now" if k in now else ""}" x="{x:.3f}%" width="{0.9 * wide:.3f}%" y="{ys[seconds]:.1f}" '
                     f'height="{bottom - ys[seconds]:.1f}"/>{words(f"{x + 0.45 * wide:.3f}%", bottom + 16, number, css, "middle")}</a>')
    if limit:
        y = ys[limit[1]]
        parts.append(f'<line class="limit" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        near = next((tick - y for tick in ticks if abs(tick - y) < 14), None)  # its label must not cover that of the axis
        parts.append(in_margin(y if near is None else y + near + (14 if near < 0 else -14), limit[0], 'limit'))
    for k, lines in notes.items():
        parts.append(note_above([ys[v] for v in values], k, lines))
    return svg(bottom + 22, parts, label).replace('"plot"', '"plot steps"')


def in_margin(y, what, css):
    return f'<svg x="100%" y="{y:.1f}" overflow="visible">{words(6, 4, what, css)}</svg>'


def note_above(ys, k, lines):
    """Words above column k of a staircase. They extend to the left in the right half, and hide no column."""
    wide, left = 100 / len(ys), k < len(ys) / 2
    under = ys[k:] if left else ys[len(ys) // 2 - 2:k + 1]
    y = min(under) - 8 - 17 * (len(lines) - 1)
    x = f'{wide * k:.3f}%' if left else f'{wide * (k + 0.9):.3f}%'
    leader = (f'<line class="leader" x1="{x}" x2="{x}" y1="{min(under) - 4:.1f}" y2="{ys[k]:.1f}"/>' if ys[k] - min(under) > 8 else '')
    return leader + ''.join(words(x, f'{y + 17 * n:.1f}', said, 'note dim' if n else 'note', 'start' if left else 'end')
                            for n, said in enumerate(lines))
