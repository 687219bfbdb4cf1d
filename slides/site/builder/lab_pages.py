"""The pages of a lab: handout, versions with their figures, differences."""
import html
import math
import re

from slides.builder.records import show

from . import charts, playground, progress, shell, warp_pages
from .measured import short
from .sources import listing
from .text import Renderer


def esc(text):
    return html.escape(str(text))


def handout(site, lab, file, name, warps):
    """The page of README.md or deeper.md, with answers and recorded warps folded behind the questions."""
    answers = {} if site.students else site.answers[lab.name]
    renderer = Renderer(site.links, file, name, answers, lambda question: warp_pages.for_question(question, warps))
    text = (site.root / file).read_text()
    body = renderer.render(text, f'solutions/{lab.name}/answers.md')
    body += warp_pages.files_for(body)
    title = renderer.headings[0][1] if renderer.headings else lab.title
    contents = ''.join(f'<li><a href="#{anchor}">{esc(t.replace("`", ""))}</a></li>'
                       for level, t, anchor in renderer.headings if level == 2)
    nav = ('<details class="contents" open><summary>On this page</summary>'
           f'<nav aria-label="On this page"><ul>{contents}</ul></nav></details>') if contents else ''
    site.found(name, title if title.startswith(lab.title) else f'{lab.title}: {title}', renderer.sections)
    site.answered.setdefault(lab.name, []).extend(renderer.answered)
    if file.endswith('/README.md'):
        first = next(s for s in lab.steps if s.name == lab.skeleton)
        text = playground.skeleton((site.root / first.file).read_text(), first.file)
        body += '<h2 id="try">Your starting file</h2>' + playground.place(lab.name, lab.name, text, listing(text, 'S'))
    site.write(name, shell.page(name, title, body.replace('</h1>', '</h1>' + nav, 1), lab, site.students))


class Figures:
    """The figures of a lab's steps at a size, by series. A series is a GPU, measured or modelled."""

    def __init__(self, records):
        self.times, self.modelled = records['times'], records['modelled']
        self.series = ([(f'{t.gpu}, measured', t, True) for t in self.times]
                       + [(f'{m.gpu}, modelled', m, False) for m in self.modelled])
        self.gpus = list(dict.fromkeys(record.gpu for _, record, _ in self.series))

    def sizes(self):
        """{size: label} of all GPUs, with the smallest work first."""
        found = {}
        for times in self.times:
            for size, label in times.sizes.items():
                found.setdefault(size, label)
        return found

    def looks(self, known):
        """The series with these indices, for a chart: a colour per GPU."""
        return [charts.Series(name, self.gpus.index(record.gpu), not is_measured)
                for name, record, is_measured in (self.series[k] for k in known)]

    def seconds(self, k, step, size):
        entry = self.series[k][1].entries.get((step, size))
        return getattr(entry, 'seconds', entry)

    def gains(self, k, steps, size):
        """{step: factor over the step that it changes} of the steps with both times."""
        both = {s.name: (self.seconds(k, s.over, size), self.seconds(k, s.name, size)) for s in steps if s.over}
        return {name: over / seconds for name, (over, seconds) in both.items() if over and seconds}

    def entry(self, step, size):
        """The measured entry of the first GPU that has one. The work is the same on every GPU."""
        return next((t.entries[step, size] for t in self.times if (step, size) in t.entries), None)


def step_link(step):
    return f'<a href="{step.name}.html"><code>{step.name}</code></a>'


def rate_of(entry, seconds):
    """(value, form) of a call's rate: flop, or bytes that must move, per second."""
    if entry.operations and entry.rate_in == 'flop':
        return entry.operations / seconds, 'TFLOP/s' if entry.operations / seconds > 1e12 else 'GFLOP/s'
    return entry.bytes / seconds, 'GB/s'


def tip_of(name, series, label, seconds, entry):
    text = f'{name}, {label}: {show(seconds, "time")}'
    if entry and entry.bytes:
        text += ', ' + show(*rate_of(entry, seconds))
    return f'{text} ({series})'


def size_block(lab, figures, size, label):
    """Times at one size, as a chart and a table."""
    known = [k for k in range(len(figures.series))
             if any(figures.seconds(k, s.name, size) for s in lab.steps)]
    names = [figures.series[k][0] for k in known]
    rows, table = [], []
    for step in lab.steps:
        entry, marks = figures.entry(step.name, size), []
        cells = [step_link(step), esc(step.idea)]
        for k in known:
            seconds = figures.seconds(k, step.name, size)
            marks.append((seconds, tip_of(step.name, figures.series[k][0], label, seconds, entry)) if seconds else None)
            over = figures.seconds(k, step.over, size) if step.over else None
            cells.append(show(seconds, 'time') if seconds else '–')
            cells.append(show(over / seconds, 'x') if seconds and over else '–')
        rows.append((step_link(step), marks))
        table.append(cells)
    for baseline, times in sorted({(n, t.gpu): t for t in figures.times for (n, s) in t.baselines if s == size}.items()):
        k = next(i for i, n in enumerate(names) if n == f'{baseline[1]}, measured')
        entry = times.baselines[baseline[0], size]
        marks = [None] * len(known)
        marks[k] = (entry.seconds, tip_of(baseline[0], f'measured next to {baseline[1]}', label, entry.seconds, entry))
        if entry.on == 'gpu':  # a CPU is so slow that the marks of all versions would overlap
            rows.append((f'<code>{esc(baseline[0])}</code>', marks))
        cells = [f'<code>{esc(baseline[0])}</code>', f'to compare, on the {entry.on.upper()}'] + ['–'] * (2 * len(known))
        cells[2 + 2 * k] = show(entry.seconds, 'time')
        table.append(cells)
    head = ['Version', 'Idea'] + [h for n in names for h in (esc(n), gain_head(label))]
    full = shell.table(head, table, range(2, len(head)), f'Times at {label}')
    used = [figures.series[k][1] for k in known]
    source = ('Recorded: ' + '; '.join(f'{n}, {r.date}, {r.command}' for n, r in zip(names, used))
              + '. The table also has the CPU, where it is recorded. A gain is relative to the version that the step changes.')
    drawn = charts.dots(rows, figures.looks(known), 'time', f'Times at {label}')
    return charts.figure(f'Time of a call with a cold L2, {label}', drawn, source, full)


def rates(site, lab, figures, size, label):
    """Bars of the measured rates at one size, and the ceiling of each GPU if it is measured."""
    measured = [k for k, s in enumerate(figures.series) if s[2]
                and any(figures.seconds(k, step.name, size) for step in lab.steps)]
    entries = [figures.entry(step.name, size) for step in lab.steps]
    first = next((e for e in entries if e), None)
    if not measured or not first:
        return ''
    flop = first.operations and first.rate_in == 'flop'
    form, ceiling = ('TFLOP/s', 'peak_fma_f32') if flop else ('GB/s', 'dram_copy')
    rows, table = [], []
    for step, entry in zip(lab.steps, entries):
        marks, cells = [], [f'<code>{step.name}</code>']
        for k in measured:
            seconds = figures.seconds(k, step.name, size)
            value = rate_of(entry, seconds)[0] if seconds else None
            marks.append((value, f'{step.name}, {label}: {show(value, form)} ({figures.series[k][0]})') if seconds else None)
            cells.append(show(value, form) if seconds else '–')
        rows.append((step_link(step), marks))
        table.append(cells)
    limits, said = [], []
    for k in measured:
        gpu = site.records.gpu(figures.series[k][1].gpu)
        if gpu and ceiling in gpu.values:
            scale = 1e12 if flop else 1e9
            limits.append((f'{gpu.gpu}, {"multiply-adds" if flop else "a copy"}', gpu.values[ceiling] * scale,
                           figures.gpus.index(figures.series[k][1].gpu)))
            said.append(f'{gpu.gpu}, {ceiling} of {gpu.date}')
    names = [figures.series[k][0] for k in measured]
    what = 'Operations per second' if flop else 'Bytes that must move, per second'
    source = ('The work of the problem over the recorded time. ' +
              (f'Ceiling, measured: {"; ".join(said)}. ' if said else 'No ceiling is recorded. ')
              + ('' if flop else 'If a rate is above that of a copy, the bytes fit into L2, or are only read.'))
    drawn = charts.bars(rows, figures.looks(measured), form, f'Rates at {label}', limits)
    return charts.figure(f'{what}, {label}', drawn, source,
                         shell.table(['Version'] + names, table, range(1, 1 + len(names)), f'Rates at {label}'))


def rooflines(site, lab, records):
    out = []
    for profiles in records['profiles']:
        gpu = site.records.gpu(profiles.gpu)
        described = next((g for g in site.gpus if short(g['name']) == profiles.gpu), None)
        steps = [(s, profiles.steps[s.name]) for s in lab.steps if s.name in profiles.steps]
        steps = [(s, p) for s, p in steps if p.dram_bytes > 0]
        if not gpu or not described or not steps:
            continue
        ceiling = 4 * described['multiprocessors'] * described['clock_hz']
        source = (f'Counted and timed by ncu on {profiles.gpu}, {profiles.date}, {profiles.command}: '
                  'for each version, the kernel that takes most time. '
                  f'DRAM: dram_read, {gpu.date}. ')
        slope = (f'{show(gpu.values["dram_read"] * 1e9, "GB/s")} from DRAM, measured', gpu.values['dram_read'] * 1e9)
        out.append(one_roofline(
            steps, lambda p: p.instructions, slope,
            (f'{show(ceiling / 1e9, ".0f")} G warp instructions/s, theoretical', ceiling),
            ('warp instructions per byte of DRAM', '', 'warp instructions per second'),
            f'Roofline in warp instructions, {profiles.gpu}',
            source + 'Theoretical: 4 instructions per clock and multiprocessor at the boost clock.'))
        work = {s.name: next((t.entries[s.name, p.size].operations for t in records['times']
                              if (s.name, p.size) in t.entries and t.entries[s.name, p.size].rate_in == 'flop'), None)
                for s, p in steps}
        if 'peak_fma_f32' in gpu.values and all(work.values()):
            peak = gpu.values['peak_fma_f32'] * 1e12
            out.append(one_roofline(
                [(s, p._replace(instructions=work[s.name])) for s, p in steps], lambda p: p.instructions, slope,
                (f'{show(peak, "TFLOP/s")} of multiply-adds, measured', peak),
                ('FLOP per byte of DRAM', 'GFLOP/s', 'FLOP per second'),
                f'Roofline in floating-point operations, {profiles.gpu}',
                source + 'Operations are those of the problem.'))
    return ''.join(out)


def one_roofline(steps, work, slope, roof, units, title, source):
    points, table = [], []
    for step, p in steps:
        intensity, rate = work(p) / p.dram_bytes, work(p) / p.seconds
        bound = min(roof[1], intensity * slope[1])
        said = rate_words(rate, units)
        points.append((step.number, intensity, rate,
                       f'{step.name}: {intensity:.3g} {units[0]}, {said}, {rate / bound:.0%} of its limit'))
        table.append([step_link(step), f'{intensity:.3g}', said,
                      f'{rate / bound:.0%}', show(p.seconds, 'time')])
    head = ['Version', esc(units[0]), esc(units[2]), 'of its limit', 'kernel time']
    drawn = charts.roofline(points, slope, roof, (units[0], units[1] or 'G', units[2]), title)
    return charts.figure(title, drawn, source, shell.table(head, table, range(1, 5), title))


def rate_words(rate, units):
    return show(rate, 'GFLOP/s') if units[1] else f'{rate / 1e9:.4g} G/s'


def history(lab, lectures):
    out = []
    names = {s.name for s in lab.steps}
    for lecture in lectures:
        rows, table = [], []
        for f in lecture.figures:
            link = f'<a href="{f["step"]}.html"><code>{f["step"]}</code></a>' if f['step'] in names else esc(f['step'])
            said = f'{f["version"]} ({f["step"]})'
            model = f['modelled']
            rows.append((esc(said), [
                (f['published'], f'{said}: {f["published"]:g} {lecture.unit} (history, {lecture.gpu})'),
                (model, f'{said}: {model:.4g} {lecture.unit} (modelled, {lecture.gpu})') if model else None]))
            table.append([esc(f['version']), link, f'{f["published"]:g}', f'{model:.4g}' if model else '–', esc(f['message'])])
        size = ' x '.join(str(n) for n in lecture.size)
        title = f'History: {lecture.gpu}, {lecture.unit}, size {size}'
        series = [charts.Series('published', 0, False), charts.Series('modelled by this course', 0, True)]
        drawn = charts.bars(rows, series, '', title)
        note = '' if lecture.size_stated else ' The source does not state the size; this size is assumed.'
        out.append(charts.figure(title, drawn, f'History. Source: {lecture.source}.{note} The second bar is modelled.',
                                 shell.table(['Published version', 'Version here', f'published, {esc(lecture.unit)}',
                                              'modelled', ''], table, (2, 3), title)))
    return ''.join(out)


def gain_head(label):
    return f'gain <small>at {esc(label)}</small>'


def gain_cell(gain, largest):
    """The cell of a gain: a bar on a logarithmic scale, and the factor."""
    if not gain:
        return '<td class="gain"></td>'
    share = 100 * abs(math.log(gain)) / math.log(largest) if largest > 1 else 0
    return (f'<td class="gain {progress.direction(gain)}"><span><i style="--w:{min(100, share):.1f}%"></i>'
            f'<b>{show(gain, "x")}</b></span></td>')


def version_row(step, figures, measured, gains, largest, size):
    """A row of the overview: the version, its time and gain on each GPU, its idea."""
    cells = f'<td>{step_link(step)}</td>'
    for k in measured:
        seconds = figures.seconds(k, step.name, size)
        cells += (f'<td class="time r" data-gpu="{esc(figures.series[k][1].gpu)}">'
                  f'{show(seconds, "time") if seconds else "–"}</td>{gain_cell(gains[k].get(step.name), largest)}')
    change = f'<a href="diff.html#{step.over}..{step.name}">from&nbsp;{step.over.split("_")[0]}</a>' if step.over else ''
    return f'<tr>{cells}<td class="idea">{esc(step.idea)}</td><td class="change">{change}</td></tr>'


def versions_table(title, steps, head, row_of):
    heads = ''.join(f'<th scope="col">{h}</th>' for h in head)
    return (f'<div class="scroll versions" tabindex="0" role="group" aria-label="{title}"><table><thead><tr>{heads}</tr>'
            f'</thead><tbody>{"".join(map(row_of, steps))}</tbody></table></div>')


def overview(lab, figures, size, label):
    """The versions with their times and gains on the measured GPUs. The steps of the path come first."""
    measured = [k for k, s in enumerate(figures.series) if s[2]
                and any(figures.seconds(k, step.name, size) for step in lab.steps)]
    gains = {k: figures.gains(k, lab.steps, size) for k in measured}
    largest = max((gain for of_gpu in gains.values() for gain in of_gpu.values()), default=1)
    head = ['Version'] + [h for k in measured for h in (esc(figures.series[k][1].gpu), gain_head(label))]

    def table(title, steps):
        return versions_table(title, steps, head + ['Idea', 'Changes'],
                              lambda step: version_row(step, figures, measured, gains, largest, size))
    case_study = [s for s in lab.steps if s.name in lab.case_study and s.name not in lab.did_not_help]
    did_not_help = [s for s in lab.steps if s.name in lab.did_not_help]
    text = ''
    if measured:
        text = (f'<p class="source">Times of a call with a cold L2, measured, {esc(label)}. The bars of the gains are '
                'logarithmic.</p>')
    text += table('The versions of the path', lab.path)
    if case_study:
        text += ('<h2 id="case-study">Case study</h2><p>These versions tune the lab for one GPU or for special sizes.</p>'
                 + table('Case study', case_study))
    if did_not_help:
        text += ('<h2 id="did-not-help">What did not help</h2><p>These ideas gain nothing on today\'s GPUs.</p>'
                 + table('What did not help', did_not_help))
    return text


def versions(site, lab, records):
    name = f'{lab.name}/versions.html'
    figures = Figures(records)
    sizes = figures.sizes()
    body = ['<link rel="stylesheet" href="../theme/versions.css">'
            f'<h1>{esc(lab.title)}: all versions</h1>', shell.gaps(site.records.gaps_of(lab.name))]
    body.append('<p>Each version changes one thing. <strong>Measured</strong> times are recorded on the named GPU, '
                '<strong>modelled</strong> times follow from counts, and <strong>history</strong> shows figures that '
                'others published. Point at a mark, or reach it with Tab and the arrow keys, to see its value.</p>')
    # The size that is shown first is the largest of those that most GPUs and models have.
    many = {s: sum(any(figures.seconds(k, one.name, s) for one in lab.steps) for k in range(len(figures.series)))
            for s in sizes}
    last = [s for s in sizes if many[s] == max(many.values())][-1] if sizes else None
    body.append(overview(lab, figures, last, sizes.get(last)))
    body.append('<h2 id="times">Times</h2>')
    if sizes:
        options = ''.join(f'<option value="{i}"{" selected" if s == last else ""}>{esc(label)}</option>'
                          for i, (s, label) in enumerate(sizes.items()))
        body.append(f'<p class="choose"><label>Size <select id="size">{options}</select></label></p>')
        body += [f'<section class="size" data-size="{i}" aria-label="{esc(label)}">'
                 f'{size_block(lab, figures, size, label)}</section>'
                 for i, (size, label) in enumerate(sizes.items())]
        body.append(rates(site, lab, figures, last, sizes[last]))
    else:
        body.append('<p class="gap" role="note">No times of this lab can be read.</p>')
    body.append('<h2 id="roofline">Roofline</h2>')
    body.append(rooflines(site, lab, records)
                or '<p class="gap" role="note">No profile of this lab is recorded, so there is no roofline.</p>')
    if records['lectures']:
        body.append('<h2 id="history">History</h2>' + history(lab, records['lectures']))
    site.found(name, f'{lab.title}: all versions', [(lab.title + ': all versions', '', ' '.join(s.idea for s in lab.steps))])
    site.write(name, shell.page(name, f'{lab.title}: all versions', ''.join(body), lab, wide=True))


def counters(step, records):
    out = []
    for counted in records['counted']:
        for label, kernels in counted.steps.get(step.name, [])[-1:]:
            for kernel, grid, block, launches, values in kernels:
                rows = [[esc(n.replace('_', ' ')), span(v)] for n, v in values.items() if v]
                shape = f'{" x ".join(map(str, grid))} blocks of {" x ".join(map(str, block))}'
                many = '' if launches == 1 else f', {launches} launches'
                out.append(f'<h3><code>{esc(readable(kernel))}</code></h3><p>{shape}{many}; {esc(label)}.</p>'
                           + shell.table(['Counter', 'ncu'], rows, (1,), f'Counters of {readable(kernel)}'))
            out.append(f'<p class="source">Counted by ncu on {esc(counted.gpu)}, {counted.date}, '
                       f'{esc(counted.command)}. Counters that are 0 are omitted.</p>')
    return ''.join(out)


def span(value):
    if isinstance(value, list):
        return ' to '.join(f'{v:,.0f}' for v in value)
    return f'{value:,.6g}' if value != int(value) else f'{value:,.0f}'


def readable(mangled):
    """_Z13reduce_kernelPKiPii -> reduce_kernel"""
    found = re.match(r'_ZN?(?:\d+_GLOBAL__N__\w+?)?(\d+)', mangled)
    if not found:
        return mangled
    begin = found.end()
    return mangled[begin:begin + int(found[1])] or mangled


def diff_page(site, lab):
    name = f'{lab.name}/diff.html'

    def choice(which, chosen):
        options = ''.join(f'<option{" selected" if s.name == chosen else ""}>{s.name}</option>' for s in lab.steps)
        return f'<label>{which} <select id="{which.lower()}">{options}</select></label>'
    second = lab.steps[min(1, len(lab.steps) - 1)]
    body = (f'<h1>{esc(lab.title)}: differences</h1><p class="choose">{choice("From", second.over or lab.steps[0].name)} '
            f'{choice("To", second.name)} <button type="button" id="swap">Swap</button></p>'
            '<p id="times" class="times" aria-live="polite"></p><nav class="along" aria-label="Along the path">'
            '<a id="previous" hidden></a><a id="next" hidden></a></nav>'
            '<p id="ideas" aria-live="polite"></p><div class="diff" id="diff"></div>'
            '<noscript><p class="gap">This page needs JavaScript; <code>./lab diff</code> shows the same.</p></noscript>')
    site.write(name, shell.page(name, f'{lab.title}: differences', body, lab, wide=True,
                                scripts=[f'{lab.name}/versions.js', 'theme/diff.js']))
