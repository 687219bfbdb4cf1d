"""LAB/NN_step: a step as a chapter. Its gain, its idea, the lines that it changes, its time among others, details."""
import html
import re

from slides.builder.records import show

from . import changes, charts, guided, lab_pages, playground, progress, shell
from .sources import listing

FIELD = re.compile(r'// ([a-z]+) {2,}(.*)')
TITLES = {'watch': 'Notice', 'gain': 'Gain', 'needs': 'Needs'}  # fields of a header that follow the idea


def esc(text):
    return html.escape(str(text))


def sentence(text):
    return text[0].upper() + text[1:] + ('' if text.endswith('.') else '.')


def header(text):
    """{field: text} of the comment at the top of a step: idea, watch, needs, source, and sometimes gain."""
    fields, last = {}, None
    for line in text.split('\n#include')[0].splitlines()[1:]:
        found = FIELD.match(line)
        if found:
            last = found[1]
            fields[last] = found[2]
        elif last and line.startswith('//'):
            fields[last] += ' ' + line.lstrip('/ ')
    return fields


def prose(text):
    """The text of a field, with its commands and names in backticks as code."""
    return re.sub(r'`([^`]+)`', r'<code>\1</code>', re.sub(r'(?<!`)(\./lab [\w ]+\w)', r'`\1`', esc(text)))


def idea(text):
    fields = header(text)
    more = ''.join(f'<dt>{title}</dt><dd>{prose(sentence(fields[name]))}</dd>'
                   for name, title in TITLES.items() if fields.get(name))
    source = f'<p class="source">Source: {prose(fields["source"])}</p>' if fields.get('source') else ''
    return f'<p class="idea">{prose(fields.get("idea", ""))}</p><dl class="fields">{more}</dl>{source}'


def bar_lengths(lab, times):
    """{step: length in percent} of the rail's bars, on the logarithmic scale of the chart of times."""
    seconds = {s.name: times.seconds[s.name] for s in lab.steps if s.name in times.seconds} if times else {}
    return dict(zip(seconds, charts.heights(seconds.values(), 100))) if seconds else {}


def time_bar(step, current, times, lengths):
    """An item of the rail: a bar of the step's time."""
    seconds = times.seconds.get(step.name) if times else None
    number, _, name = step.name.partition('_')
    share = f' style="--w:{lengths[step.name]:.1f}%"' if seconds else ''
    value = show(seconds, 'time') if seconds else '–'
    here = ' aria-current="page"' if step is current else ''
    return (f'<li><a href="{step.name}.html"{share}{here}><span class="number">{number}</span> <span class="name">'
            f'{esc(name.replace("_", " "))}</span> <span class="value">{value}</span></a></li>')


def rail(lab, current, times):
    """All steps of the lab as bars of time: the path, the case study, and what did not help."""
    case_study = [s for s in lab.steps if s.name in lab.case_study and s.name not in lab.did_not_help]
    did_not_help = [s for s in lab.steps if s.name in lab.did_not_help]
    lists, lengths = '', bar_lengths(lab, times)
    for title, steps in (('', lab.path), ('<p>Case study</p>', case_study), ('<p>Did not help</p>', did_not_help)):
        if steps:
            lists += f'{title}<ol>{"".join(time_bar(s, current, times, lengths) for s in steps)}</ol>'
    said = 'No time is recorded'
    if times:
        said = f'Shorter is faster. Time on {times.gpu} at {times.label}, logarithmic'
    return (f'<nav class="rail" aria-label="Versions of this lab"><p><a href="versions.html">All {len(lab.steps)} '
            f'versions</a></p><div class="rail-steps">{lists}</div><p class="source">{esc(said)}. Keys: ← →</p></nav>')


def gain_words(step, times):
    """(the gain as a factor, the words that follow it); ('', '') if the step or the step before it is not measured."""
    before, after = (times.seconds.get(step.over), times.seconds.get(step.name)) if times else (None, None)
    if not before or not after:
        return '', ''
    factor = before / after
    meaning = {'gain': ' faster than', 'loss': ', slower than', 'none': ', no gain over'}[progress.direction(factor)]
    return progress.factor(factor), f'{meaning} {step.over} at {times.label}'


def step_before(lab, step):
    return next((s for s in lab.steps if s.name == step.over), None)


def limits(site, lab, step, records):
    """The recorded analyses of the step before and of the step itself; None for those that are missing."""
    found = []
    for one in (step_before(lab, step), step):
        guided_record, entry = guided.entry_of(site, lab, one, records) if one else (None, None)
        found.append(entry if guided_record else None)
    return found


def verdict_words(before, after):
    """'no more bank conflicts, now limited by latency', from the recorded analyses; '' without them."""
    words = guided.solved(before, after) if before and after else []
    if after:
        limit = guided.limit_of(after)
        same = before and guided.limit_of(before) == limit
        words.append(f'{"still" if same else "now" if before else "it is"} limited by {limit}')
    return ', '.join(words)


def side(name, times, entry):
    """One side of the comparison with the step before: time and limit."""
    seconds = times.seconds.get(name) if times else None
    time = show(seconds, 'time') if seconds else 'not measured'
    busy = esc(guided.limit_with_share(entry)) if entry else 'no analysis recorded'
    return f'<div><code>{esc(name)}</code><strong>{time}</strong><span>{busy}</span></div>'


def verdict(site, lab, step, records, times):
    """The gain over the step before, and what limits both."""
    before, after = limits(site, lab, step, records)
    factor, meaning = gain_words(step, times) if step.over else ('', 'The lab begins here')
    says = ': '.join(words for words in (meaning, verdict_words(before, after)) if words)
    big = f'<strong>{factor}</strong>' if factor else ''
    sides = side(step.name, times, after)
    if step.over:
        sides = side(step.over, times, before) + '<span class="arrow" aria-label="then">→</span>' + sides
    sources = [f'Times: measured on {times.gpu}, {times.label}.'] if times else []
    if after:
        size = ' x '.join(map(str, after['size']))
        sources.append(f'Limits: modelled for {guided.gpu_of(records)}, size {size}.')
    return (f'<p class="verdict">{big}{esc(says)}.</p><div class="sides">{sides}</div>'
            f'<p class="source">{esc(" ".join(sources))}</p>')


def change(site, lab, step):
    """The changed lines, and the files that are added or dropped."""
    over = step_before(lab, step)
    if not over:
        return ''
    lines = changes.show((site.root / over.file).read_text(), (site.root / step.file).read_text())

    def link(part):
        return f'<a href="#P{step.parts.index(part)}L1"><code>{esc(part)}</code></a>'
    files = changes.parts(over, step, link)
    return (f'<h2 id="change">What changes</h2>{lines or "<p>No line of the code changes.</p>"}{files}'
            f'<p><a href="diff.html#{over.name}..{step.name}">Side by side, or with any other version</a></p>')


def place(lab, step, times):
    """The step's time among those of the lab."""
    if not times or step.name not in times.seconds:
        return '<p class="gap" role="note">No time of this version is recorded.</p>'
    shown = lab.path if step in lab.path else lab.steps
    steps = [(s, times.seconds[s.name]) for s in shown if s.name in times.seconds]
    at = [s for s, _ in steps].index(step)
    limit = min(times.baselines.items(), key=lambda named: named[1], default=None)
    columns = [(s.number, seconds, f'{s.name}: {show(seconds, "time")}. {sentence(s.idea)}', f'{s.name}.html')
               for s, seconds in steps]
    title = f'Time of {step.name} among the versions of the lab'
    dashed = f' Dashed: {limit[0]}, {show(limit[1], "time")}.' if limit else ''
    drawn = charts.stairs(columns, {at: [f'{step.number}: {show(steps[at][1], "time")}']}, title, 170, limit, [at])
    return (f'<figure class="chart">{drawn}<p class="source">Time of a call with a cold L2, measured on {times.gpu}, '
            f'{esc(times.label)}, {times.date}.{esc(dashed)}</p></figure>')


def all_times(step, figures):
    rows = []
    for size, label in figures.sizes().items():
        for k, (series, _, _) in enumerate(figures.series):
            seconds = figures.seconds(k, step.name, size)
            over = figures.seconds(k, step.over, size) if step.over else None
            entry = figures.entry(step.name, size)
            if seconds:
                rate = show(*lab_pages.rate_of(entry, seconds)) if entry else '–'
                rows.append([esc(label), esc(series), show(seconds, 'time'), rate,
                             show(over / seconds, 'x') if over else '–'])
    head = ['Size', 'GPU', 'Time', 'Rate', f'over {step.over or "-"}']
    return shell.table(head, rows, (2, 3, 4), 'Times') if rows else ''


def fold(ident, title, fact, body):
    """A folded section, whose summary has the most important fact."""
    return (f'<details class="fold" id="{ident}"><summary><h2>{title}</h2> <span>{fact}</span></summary>'
            f'<div class="folded">{body}</div></details>')


def source(site, lab, step, text):
    """The step's own file, which the playground edits, and the files that it includes."""
    parts = ''.join(f'<h3><code>{esc(part)}</code></h3>' + listing((site.root / part).read_text(), f'P{i}L')
                    for i, part in enumerate(step.parts))
    place = playground.place(lab.name, step.name, text, listing(text))
    return f'<p class="file"><code>{step.file}</code></p>{place}{parts}'


def details(site, lab, step, name, text, records):
    """The folded sections: all times, analysis, cost of the lines and source, counters."""
    figures = lab_pages.Figures(records)
    times, counts = all_times(step, figures), lab_pages.counters(step, records)
    found, entry = guided.entry_of(site, lab, step, records)
    analysis, costs, limit = f'<p class="gap" role="note">{esc(entry)}</p>', '', 'not recorded'
    if found:
        analysis = guided.analysis(site, lab, step, name, found, entry)
        costs = f'<div id="lines">{guided.heat(site, step, name, found, entry)}</div>'
        limit = esc(guided.limit_with_share(entry))
    lines = f'{len(text.splitlines())} lines' + (f', {len(step.parts)} included files' if step.parts else '')
    many = f'{len(figures.sizes())} sizes, {len(figures.series)} series'
    folds = [fold('all-times', 'All times', many, times)] if times else []
    return ''.join(folds + [
        fold('guided', 'Guided analysis', limit, analysis),
        fold('source', 'Complete source and the cost of each line', lines, costs + source(site, lab, step, text)),
        fold('counters', 'Counters', 'counted by ncu on a GPU' if counts else 'not recorded',
             counts or '<p class="gap" role="note">No counters of this version are recorded.</p>')])


def neighbours(lab, at):
    """Links to the previous and the next step, which the arrow keys follow, too."""
    found = (('prev', '← Previous', lab.steps[at - 1] if at else None),
             ('next', 'Next →', lab.steps[at + 1] if at + 1 < len(lab.steps) else None))
    return '<nav class="around" aria-label="Previous and next version">' + ''.join(
        f'<a rel="{rel}" href="{s.name}.html"><small>{words}</small><code>{s.name}</code> {esc(sentence(s.idea))}</a>'
        for rel, words, s in found if s) + '</nav>'


def step_page(site, lab, at, records, links=''):
    """`links`: HTML with the links to the warp and to the emulator in the page."""
    step = lab.steps[at]
    name = f'{lab.name}/{step.name}.html'
    text = (site.root / step.file).read_text()
    times = progress.of_step(lab, step, records)
    css = ''.join(f'<link rel="stylesheet" href="../theme/{file}.css">' for file in ('step', 'heat'))
    chapter = [f'<p class="kicker"><code>{step.name}</code></p><h1>{esc(sentence(step.idea)[:-1])}</h1>',
               verdict(site, lab, step, records, times), shell.gaps(site.records.gaps_of(lab.name)),
               '<h2 id="idea">The idea</h2>', idea(text), change(site, lab, step), links,
               '<h2 id="times">Where it stands</h2>', place(lab, step, times),
               details(site, lab, step, name, text, records), neighbours(lab, at)]
    body = f'{css}<div class="withrail">{rail(lab, step, times)}<article>{"".join(chapter)}</article></div>'
    words = f'{step.idea}. {" ".join(header(text).values())}'
    site.found(name, f'{lab.title}: {step.name}', [(f'{lab.name} {step.name}', '', words)])
    site.write(name, shell.page(name, f'{step.name}: {step.idea}', body, lab, wide=True,
                                scripts=['theme/heat.js', 'theme/step.js']))
