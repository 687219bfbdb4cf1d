"""LAB/figures: measurements other than the steps, namely sweeps with a slider, parts of a step, ragged sizes.

A slider moves along the recorded points. The text of each point is written here, and theme/sliders.js
shows it. Without scripts, all texts and tables are visible.
"""
import html

from slides.builder.records import show

from . import charts, shell, sweep_words

HIGH, TOP = 190, 22  # pixels: the height of a panel, and the space above its curves


def esc(text):
    return html.escape(str(text))


def axes_of(sweep):
    """The slider's axis, the axis of the series or None, and {axis: its only value}."""
    fixed = {name: values[0] for name, values in sweep.axes.items() if len(values) == 1}
    varied = [name for name in sweep.axes if name not in fixed]
    return varied[0] if varied else list(sweep.axes)[0], varied[1] if len(varied) > 1 else None, fixed


def point_at(sweep, values):
    return sweep.points.get(tuple(values[name] for name in sweep.axes))


class Panel:
    """One chart over the slider's axis: a value per series and place, from zero."""

    def __init__(self, title, values, form, tips):
        self.title, self.values, self.form, self.tips = title, values, form, tips  # [series][place]

    def draw(self, places, first):
        most = max(v for of_series in self.values for v in of_series if v is not None) or 1
        count, bottom = len(places), TOP + HIGH

        def x(at):
            return charts.across((at + 0.5) / count)

        def y(value):
            return f'{bottom - HIGH * value / most:.1f}'
        parts = []
        for at in range(count):
            seen = 'visible' if at == first else 'hidden'
            parts.append(f'<rect class="picked" data-at="{at}" visibility="{seen}" x="{charts.across(at / count)}" '
                         f'width="{96 / count:.3f}%" y="{TOP - 6}" height="{HIGH + 6}"/>')
        for tick in charts.round_values(most):
            parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y(tick)}" y2="{y(tick)}"/>')
            parts.append(charts.in_margin(float(y(tick)), charts.tick_text(tick, self.form), 'dim'))
        for at, place in enumerate(places):
            parts.append(charts.words(x(at), bottom + 17, place, 'dim', 'middle'))
        marks = []
        for k, values in enumerate(self.values):
            known = [at for at in range(count) if values[at] is not None]
            parts += [f'<line class="curve c{k % 4}" x1="{x(a)}" y1="{y(values[a])}" x2="{x(b)}" y2="{y(values[b])}"/>'
                      for a, b in zip(known, known[1:])]
            marks += [charts.mark(f's{k % 4}', charts.shape(k, x(at), y(values[at])), self.tips[k][at]) for at in known]
            if len(self.values) == 1:  # the values of several curves would overlap; the text below has them
                marks += [charts.words(x(at), float(y(values[at])) - 9,
                                       charts.tick_text(values[at], self.form).split(' ')[0], 'value small', 'middle')
                          for at in known]
        drawn = charts.svg(bottom + 24, parts + marks, self.title, 'plot margin')
        return f'<p class="paneltitle">{esc(self.title)}</p>{drawn}'


def said(values, names, forms, place, before, after):
    """A point in words: [(series, text)], and its ratio to the neighbouring points."""
    lines = []
    for name, value, text, less, more in zip(names, values, forms, before, after):
        near = [f'{show(value / other, "x")} of {where}' for other, where in ((less[0], less[1]), (more[0], more[1]))
                if value is not None and other is not None]
        shown = text if value is not None else 'not recorded'
        lines.append(f'<li>{esc(name + ": " if name else "")}<strong>{esc(shown)}</strong>'
                     + (f' <span class="dim">({esc("; ".join(near))})</span>' if near else '') + '</li>')
    return f'<p class="placed">{esc(place)}</p><ul>{"".join(lines)}</ul>'


def sweep_block(site, lab, of, sweep):
    title, kind, rule = sweep_words.of(lab.name, sweep.name)
    axis, over, fixed = axes_of(sweep)
    places = sweep.axes[axis]
    series = sweep.axes[over] if over else ['']
    names = [sweep_words.series_name(over, v) if over else '' for v in series]
    grid = [[point_at(sweep, {**fixed, axis: p, **({over: v} if over else {})}) for p in places] for v in series]
    form = 'GB/s' if kind == 'rate' else 'time'

    def value(p):
        return None if p is None else p.bytes / p.seconds if kind == 'rate' else p.seconds

    def label(k, at):
        return f'{axis} = {places[at]}' + (f', {names[k]}' if over else '')

    def words(p):
        return (f'{show(p.seconds, "time")}, {show(p.bytes / p.seconds, "GB/s")}' if kind == 'rate' else show(p.seconds, 'time'))
    tips = [[p and f'{label(k, at)}: {words(p)} ({of.gpu}, measured)' for at, p in enumerate(row)] for k, row in enumerate(grid)]
    panels = [Panel('Bytes that must move, per second' if kind == 'rate' else 'Time of a call, cold L2',
                    [[value(p) for p in row] for row in grid], form, tips)]
    second = None
    if sweep.counter:
        second = sweep.counter.replace('_percent', ', %').replace('_', ' '), 'counted', 'counted by the emulator'
    elif len({p.occupancy for p in sweep.points.values()}) > 1:
        second = 'theoretical occupancy, %', 'occupancy', f'computed for {of.gpu}'
    if second:
        of_second = [[p and getattr(p, second[1]) for p in row] for row in grid]
        panels.append(Panel(f'{second[0]} ({second[2]})', of_second, '.1f', [
            [p and f'{label(k, at)}: {getattr(p, second[1]):.4g} {second[0]} ({second[2]})' for at, p in enumerate(row)]
            for k, row in enumerate(grid)]))
    first = len(places) // 2
    readouts = []
    for at, place in enumerate(places):
        column = [row[at] for row in grid]
        near = [[(value(row[other]), f'{axis} = {places[other]}') if 0 <= other < len(places) else (None, '') for row in grid]
                for other in (at - 1, at + 1)]
        texts = [p and words(p) + (f'; {getattr(p, second[1]):.4g} {second[0]}' if second else '') for p in column]
        body = said([value(p) for p in column], names, texts, f'{axis} = {place}', *near)
        if rule:
            body += f'<p>{esc(rule({**fixed, axis: place}))}</p>'
        readouts.append(f'<div class="readout" data-at="{at}">{body}</div>')
    ident = f'sweep-{sweep.name}'
    slider = (f'<p class="slide"><label for="{ident}-at">{esc(axis)}</label> <input type="range" id="{ident}-at" min="0" '
              f'max="{len(places) - 1}" value="{first}" data-places="{esc("|".join(places))}"> '
              f'<output for="{ident}-at">{esc(places[first])}</output></p>')
    head = [esc(axis)] + [h for name in names for h in [esc(name) or ('rate' if kind == 'rate' else 'time')]
                          + ([esc(second[0])] if second else [])]
    rows = []
    for at, place in enumerate(places):
        cells = [esc(place)]
        for row in grid:
            p = row[at]
            cells.append(show(p.seconds, 'time') + (f', {show(value(p), form)}' if kind == 'rate' else '') if p else '–')
            if second:
                cells.append(f'{getattr(p, second[1]):.4g}' if p else '–')
        rows.append(cells)
    legend = charts.legend(charts.measured(names)) if over else ''
    inner = (legend + ''.join(p.draw(places, first) for p in panels) + slider
             + f'<div class="readouts" aria-live="polite">{"".join(readouts)}</div>')
    only = ''.join(f' {name} = {v}.' for name, v in fixed.items())
    source = (f'Measured on {of.gpu}, cold L2, median: {sweep.date}, {sweep.command}.{only} In brackets: the ratio to the value at '
              'the neighbouring point.')
    return (f'<h3 id="{ident}">{esc(title)}</h3><section class="sweep" aria-label="{esc(title)}">'
            + charts.figure(of.gpu + ', ' + sweep.command.split(' --record')[0], inner, source, shell.table(head, rows, range(1, len(head)), title))
            + '</section>')


PARTS = {'full': 'the step itself', 'memory': 'its loads and stores alone', 'shared': 'its reads of shared memory alone',
         'compute': 'its arithmetic alone'}


def parts_block(site, lab, p):
    whole = p.times['full']
    rows, table = [], []
    for name, seconds in p.times.items():
        tip = (f'{name}, {PARTS.get(name, "")}: {show(seconds, "time")}, {seconds / whole:.0%} of the whole '
               f'({p.gpu}, measured)')
        rows.append((f'<code>{esc(name)}</code>', [(seconds, tip)]))
        file = f'solutions/{lab.name}/limits/{p.step}.{name}.cu'
        page = site.links.page_of(file) if name != 'full' else f'{lab.name}/{p.step}.html'
        shown = f'<code>{esc(name)}</code>'
        if page:
            shown = f'<a href="{shell.relative(page, lab.name + "/figures.html")}">{shown}</a>'
        table.append([shown, esc(PARTS.get(name, '')), show(seconds, 'time'), f'{seconds / whole:.0%}'])
    longest = max((t, n) for n, t in p.times.items() if n != 'full') if len(p.times) > 1 else None
    summary = (f'<p>The longest part is <strong>{esc(longest[1])}</strong>, with {longest[0] / whole:.0%} of the whole. Making '
               'another part faster gains at most the time that does not overlap with it. <a href="../limits.html">How to read '
               'this</a>.</p>' if longest else '')
    title = f'{p.step} and its parts, {p.gpu}, {p.label}'
    return summary + charts.figure(title, charts.bars(rows, charts.measured(['time']), 'time', title),
                                   f'Measured: {p.gpu}, cold L2, median, {p.date}, {p.command}.',
                                   shell.table(['Part', 'What remains', 'Time', 'of the whole'], table, (2, 3), title))


def ragged_block(lab, r):
    names = list(r.baselines)
    labels = list(dict.fromkeys(one[0] for of in r.baselines.values() for one in of))
    found = {(name, one[0]): one for name, of in r.baselines.items() for one in of}
    rows, table = [], []
    for label in labels:
        marks, cells = [], [esc(label), esc(next(found[n, label][1] for n in names if (n, label) in found)),
                            show(next(found[n, label][3] for n in names if (n, label) in found), 'time')]
        for name in names:
            one = found.get((name, label))
            marks.append(one and (one[4], f'{label}, {one[1]}: {show(one[4], "x")} as fast as {name}, '
                                          f'{one[5]:.3f} to {one[6]:.3f} ({r.gpu}, measured)'))
            cells.append(f'{one[4]:.3f} ({one[5]:.3f} to {one[6]:.3f})' if one else '–')
        rows.append((esc(label), marks))
        table.append(cells)
    title = f'{r.step} at random sizes, {r.gpu}'
    drawn = charts.bars(rows, charts.measured([f'speedup over {n}' for n in names]), 'x', title, [('as fast', 1.0, 0)])
    return ('<p>A seed draws the sizes; most are not multiples of anything that suits the hardware.</p>'
            + charts.figure(title, drawn, f'Measured: {r.gpu}, {r.date}, {r.command}; medians of alternating calls, with '
                            '95 % intervals in the table.',
                            shell.table(['Size', 'Kind', 'the step'] + [f'over {esc(n)}' for n in names], table,
                                        range(2, 3 + len(names)), title)))


def figures(site, lab, records):
    """Writes LAB/figures.html."""
    name = f'{lab.name}/figures.html'
    body = [f'<link rel="stylesheet" href="../theme/sliders.css"><h1>{esc(lab.title)}: sweeps and parts</h1>',
            shell.gaps(site.records.gaps_of(lab.name)),
            '<p>A sweep changes one constant of a kernel and keeps everything else. Move a slider, with the pointer '
            'or the arrow keys, through the measured values.</p>']
    listed = list(sweep_words.SWEEPS)
    sections = []
    for of in records['sweeps']:
        sweeps = sorted(of.sweeps, key=lambda s: listed.index((lab.name, s.name)) if (lab.name, s.name) in listed else 99)
        body += ['<h2 id="sweeps">Sweeps</h2>'] + [sweep_block(site, lab, of, s) for s in sweeps]
        sections += [(sweep_words.of(lab.name, s.name)[0], f'sweep-{s.name}', f'{s.name} {" ".join(s.axes)} {s.command}')
                     for s in sweeps]
    if records['parts']:
        body.append('<h2 id="parts">A step and its parts</h2>')
        body += [parts_block(site, lab, p) for p in records['parts']]
        sections.append(('A step and its parts', 'parts', 'limits memory compute part whole'))
    if records['ragged']:
        body.append('<h2 id="ragged">Ragged sizes</h2>')
        body += [ragged_block(lab, r) for r in records['ragged']]
        sections.append(('Ragged sizes', 'ragged', 'sizes seed baselines ratio'))
    title = f'{lab.title}: sweeps and parts'
    site.found(name, title, sections)
    site.write(name, shell.page(name, title, ''.join(body), lab, wide=True, scripts=['theme/sliders.js']))
