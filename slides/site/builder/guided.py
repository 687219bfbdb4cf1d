"""The guided analysis on a step's page, which `lab profile` makes, and the cost of each line. recorder.py records both.

theme/heat.js sorts the table of lines by a column, and colours the source by that column. Without scripts, the table is
in the order of the lines. All figures are modelled, and the page says so.
"""
import html

from slides.builder.records import show

from . import charts, shell
from .recorder import digest

PART = {'issue': 'issue slots', 'alu': 'ALU pipe', 'fma': 'FMA pipe', 'port': 'L1/shared-memory pipe', 'l2': 'L2', 'dram': 'DRAM',
        'atomics': 'atomics'}
LEVEL = {'global': 'global memory, requested from L1', 'shared': 'shared memory', 'l2': 'L2', 'dram': 'DRAM'}
BUSY = 0.6  # from this value on, a part is a limit; see grader/model/analysis


def esc(text):
    return html.escape(str(text))


def extent(of):
    return ' x '.join(str(n) for n in of[:max(1, max((i + 1 for i, n in enumerate(of) if n > 1), default=1))])


def anchors(step):
    """{file: prefix of the ids of its lines}, for the sources that the page shows."""
    return {step.file: 'L', **{part: f'P{i}L' for i, part in enumerate(step.parts)}}


def line_link(site, page, step, file, number):
    """A line's number, as a link to the line on this page or on the file's own page."""
    known = anchors(step)
    shown = str(number) if file == step.file else f'{file.split("/")[-1]}:{number}'
    if file in known:
        return f'<a href="#{known[file]}{number}">{esc(shown)}</a>'
    there = site.links.page_of(file)
    return f'<a href="{shell.relative(there, page)}#L{number}">{esc(shown)}</a>' if there else esc(shown)


def source_of(site, file, number):
    path = site.root / file
    lines = path.read_text().splitlines() if path.is_file() else []
    return f'<code>{esc(lines[number - 1].strip()[:90])}</code>' if number <= len(lines) else ''


def entry_of(site, lab, step, records):
    """(the record, the step's entry in it), or (None, the reason why there is none)."""
    for guided in records['guided']:
        entry = guided.steps.get(step.name)
        if entry and entry['source'] == digest(site.root, step):
            return guided, entry
        if entry:
            return None, (f'The recorded analysis of this version is from another source; ./lab dev site --record {lab.name} '
                          'records it again.')
    return None, f'No analysis of this version is recorded; ./lab dev site --record {lab.name} records it.'


def gpu_of(records):
    return records['guided'][0].gpu


def limit_of(entry):
    """What limits the step's slowest kernel: 'DRAM', 'the issue slots', 'latency', 'compute and memory'."""
    a = entry['analysis']
    if a['limiter'] == 'both':
        return 'compute and memory'
    part = a.get(f'{a["limiter"]}_part')
    if not part:
        return a['limiter']
    return PART.get(part, part) if part in ('l2', 'dram', 'atomics') else f'the {PART.get(part, part)}'


def limit_with_share(entry):
    """'DRAM, busy for 79%'"""
    a = entry['analysis']
    if a['limiter'] in ('compute', 'memory'):
        return f'{limit_of(entry).replace("the ", "")}, busy for {a[a["limiter"]]:.0%}'
    both = f'compute busy for {a["compute"]:.0%}, memory for {a["memory"]:.0%}'
    return f'latency: {both}' if a['limiter'] == 'latency' else both


def wasted_share(entry, used, ideal):
    """The share of wavefronts or sectors beyond the ideal. `used` and `ideal`: columns of the counts of a line"""
    lines = [counts for of_file in entry['lines'].values() for counts in of_file]
    every = sum(counts[used] for counts in lines)
    return sum(max(0, counts[used] - counts[ideal]) for counts in lines) / every if every else 0


def solved(before, after):
    """Causes in the step before that the step removes, in words.

    An analysis lists only the main causes, so a cause that is not listed may still be there, and counts decide."""
    causes = [{cause for cause, _ in entry['causes']} for entry in (before, after)]
    words = []
    for cause, used, ideal, what in (('bank_conflicts', 7, 8, 'bank conflicts'),
                                     ('uncoalesced_accesses', 5, 6, 'wasted sectors')):
        wasted = [wasted_share(entry, used, ideal) for entry in (before, after)]
        if cause in causes[0] and wasted[0] >= 0.05 and wasted[1] < 0.005:
            words.append(f'no more {what}')
    idle = [32 - entry['analysis']['lanes'] for entry in (before, after)]
    if 2 <= idle[0] < 31 and idle[1] < idle[0] / 2:
        words.append('fewer idle lanes')
    for cause, what in (('one_thread', 'no longer one thread alone'), ('one_block', 'no longer one block alone'),
                        ('short_blocks', 'no more short blocks')):
        if cause in causes[0] - causes[1]:
            words.append(what)
    return words


def term(site, anchor, shown):
    card = html.escape(site.links.terms.get(anchor, ''))
    return f'<a href="../glossary.html#{anchor}" data-card="{card}">{shown}</a>'


def why_wasteful(site, waste):
    """A sentence about the recorded kind of waste, `waste`."""
    return {
        'bank_conflicts': f'These are {term(site, "bank-conflict", "bank conflicts")}: lanes of a warp need different words of one '
                          f'{term(site, "bank", "bank")}, which serves one word at a time.',
        'uncoalesced': f'The access is not {term(site, "coalescing", "coalesced")}: it uses only a part of the sectors that it touches.',
        'same_address': f'Lanes use the same address, so each {term(site, "atomic", "atomic")} waits for the previous one: '
                        'combine their values first.',
        'local_memory': f'The values are in {term(site, "local-memory", "local memory")}: registers would need no access.',
    }[waste]


def accesses(site, page, step, entry):
    rows = []
    for file, number, access, per, ideal, share, waste in entry['accesses']:
        unit = 'wavefronts' if access.startswith('shared') else 'sectors'
        said = f'{per:.1f} {unit}'
        rows.append([line_link(site, page, step, file, number), esc(access.replace('_', ' ')),
                     f'<strong>{said}</strong>' if waste else said, f'{ideal:.1f}', f'{share:.0%}' if share else '',
                     source_of(site, file, number)])
    if not rows:
        return ''
    worst = next((a for a in entry['accesses'] if a[6]), None)
    summary = '<p>Every access costs its minimum. Try fewer or wider accesses.</p>'
    if worst:
        unit = 'wavefronts' if worst[2].startswith('shared') else 'sectors'
        ideal = 0 if worst[6] == 'local_memory' else worst[4]
        summary = (f'<p><strong>Line {line_link(site, page, step, *worst[:2])} first</strong>: {worst[3]:.1f} {unit} '
                   f'per {esc(worst[2].replace("_", " "))}, where {ideal:.1f} would do. {why_wasteful(site, worst[6])}</p>')
    return summary + shell.table(['Line', 'Access', 'per request', 'ideal', 'share of waste', 'Source'], rows, (2, 3, 4),
                                 'Accesses, the most wasteful first')


def figure_text(unit, value):
    if unit.startswith('Time'):
        return show(value / 1e6, 'time') if value else 'none'
    return show(value, 'MB') if unit.startswith('Bytes') else count_text(value)


def advice(site, lab, page, guided, entry):
    items = []
    for cause, gain in entry['causes']:
        faster = f' Without it, the modelled kernel is {show(gain, "x")} as fast.' if gain and gain > 1 else ''
        items.append(f'<li>{esc(guided.words[cause])}{faster}</li>')
    names = {s.name: s for s in lab.steps}
    after = ''
    if entry['next'] in names:
        following = names[entry['next']]
        after = (f'<p>Next: <a href="{following.name}.html"><code>{following.name}</code></a>, {esc(following.idea)} (<a '
                 f'href="diff.html#{entry["step"]}..{following.name}">what changes</a>).')
        if entry['fixed'] and entry['fixed'][0] in names:
            name, cause, unit, before, then = entry['fixed']
            who = 'It' if name == following.name else f'<a href="{name}.html"><code>{name}</code></a>'
            after += (f' {who} addresses {esc(cause.replace("_", " "))}: {esc(unit[0].lower() + unit[1:])} '
                      f'{figure_text(unit, before)}, then {figure_text(unit, then)}.')
        after += '</p>'
    return f'<h3>What to try</h3><ul>{"".join(items)}</ul>{after}'


def analysis(site, lab, step, page, guided, entry):
    a, all_us = entry['analysis'], 1e3 * entry['ms']
    size = ' x '.join(str(n) for n in entry['size'])
    rows = [[f'<code>{esc(k)}</code>', extent(grid), extent(block), f'{launches:,}', show(us / 1e6, 'time'), f'{us / all_us:.0%}']
            for k, grid, block, launches, us in entry['kernels']]
    out = [f'<p>The output of <code>./lab profile {lab.name} {step.number}</code> for one call at size {size}. <strong>Modelled</strong>: '
           f'{esc(guided.gpu)}, {show(entry["ms"] / 1e3, "time")}.</p><h3>Where the time goes</h3>',
           shell.table(['Kernel', 'grid', 'block', 'launches', 'time', 'share'], rows, (1, 2, 3, 4, 5), 'Kernels'),
           f'<h3>What limits <code>{esc(a["kernel"])}</code></h3>']
    bars = []
    for name in ('compute', 'memory'):
        part = PART.get(a[f'{name}_part'], a[f'{name}_part'])
        tip = f'{name}, {part}: busy for {a[name]:.0%} of the time ({guided.gpu}, modelled)'
        if a[name]:
            bars.append((f'{name}: {esc(part)}', [(a[name], tip)]))
    if bars:
        series = [charts.Series('busy, modelled', 0, True)]
        out.append(charts.bars(bars, series, '%', f'How busy {a["kernel"]} keeps the GPU',
                               [('limits from', BUSY, 0), ('always busy', 1, 0)]))
    out.append(f'<p><strong>{esc(a["says"])}</strong></p>')
    levels = ', '.join(f'{LEVEL[level]} {show(n, "MB")}' for level, n in entry['bytes'].items() if n)
    part = f' (estimated from the {entry["counted"]:.2%} of the launch that ran)' if entry['counted'] < 1 else ''
    waits = ', '.join(f'{why.replace("_", " ")} {share:.0%}' for why, share in
                      sorted(entry['stalled'].items(), key=lambda w: -w[1])[:4])
    out.append(f'<ul><li>Bytes{part}: {levels}.</li><li>{a["lanes"]:.1f} of 32 lanes are active; {a["divergent"]:.1%} of the branches '
               f'diverge.</li><li>Occupancy: {a["theoretical_occupancy"]:.0%} theoretical, {a["achieved_occupancy"]:.0%} achieved.'
               '</li>' + (f'<li>Warps wait for: {waits}.</li>' if waits else '') + '</ul>')
    out.append(accesses(site, page, step, entry))
    out.append(advice(site, lab, page, guided, entry))
    return ''.join(out)


# name of the column, its meaning, its value from a line's counts
COLUMNS = (('instructions', 'PTX instructions that warps execute', lambda c: c[1]),
           ('idle lanes', 'inactive lanes per instruction', lambda c: max(0, round(32 - c[2] / c[1], 2)) if c[1] else 0),
           ('sectors', 'sectors of 32 bytes', lambda c: c[5]),
           ('wasted sectors', 'sectors beyond the ideal', lambda c: max(0, c[5] - c[6])),
           ('bank conflicts', 'shared-memory wavefronts beyond the ideal', lambda c: max(0, c[7] - c[8])),
           ('stalls', 'share of all warp stalls, %', lambda c: c[9] / 1e4))


def count_text(value):
    if value and value < 100:
        return f'{value:.1f}'.replace('.0', '')
    for least, unit in ((1e9, 'G'), (1e6, 'M'), (1e3, 'K')):
        if value >= least:
            return f'{value / least:.3g} {unit}'
    return f'{value:.0f}'


def heat(site, step, page, guided, entry):
    """The table of all lines that have a cost."""
    known = anchors(step)
    lines = [(file, c) for file in sorted(entry['lines'], key=lambda f: list(known).index(f) if f in known else 99)
             for c in entry['lines'][file]]
    columns = [k for k, (_, _, of) in enumerate(COLUMNS) if any(of(c) > 0 for _, c in lines)]
    most = {k: max(COLUMNS[k][2](c) for _, c in lines) for k in columns}
    rows = []
    for file, c in lines:
        cells = [f'<th scope="row">{line_link(site, page, step, file, c[0])}</th>']
        for k in columns:
            value = COLUMNS[k][2](c)
            cells.append(f'<td class="r heat" data-v="{value:.6g}" style="--w:{100 * value / most[k]:.1f}%">{count_text(value)}</td>')
        cells.append(f'<td>{source_of(site, file, c[0])}</td>')
        target = f'{known[file]}{c[0]}' if file in known else ''
        rows.append(f'<tr data-line="{target}">{"".join(cells)}</tr>')
    heads = '<th scope="col" class="r" aria-sort="ascending"><button type="button" class="sort">line</button></th>' + ''.join(
        f'<th scope="col" class="r" title="{COLUMNS[k][1]}"><button type="button" class="sort">{COLUMNS[k][0]}</button></th>'
        for k in columns)
    about = ', scaled up from the part of each launch that ran' if entry['counted'] < 1 else ''
    return (f'<p>Counted by the emulator for the call above{about}; stalls are modelled. Click a heading to sort by its column; the source '
            'below then shows that column next to each line.</p><div class="scroll" tabindex="0" role="group" aria-label="Cost of each '
            f'line"><table id="heat"><thead><tr>{heads}<th scope="col">Source</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
            f'</div><p id="heat-now" class="source" aria-live="polite"></p><p class="source">{esc(guided.gpu)}, {guided.date}, '
            f'{esc(guided.command)}. A line of an inlined function counts at its own place in the source.</p>')
