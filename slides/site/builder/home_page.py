"""index: what the course is, where to begin, and the path through the labs."""
import html
import re

from slides.builder.records import show
from slides.site.live import build as live

from . import charts, progress, shell
from .text import plain

SHOWN = 'matmul'  # the lab whose times are the picture of the course
WATCHED = ('reduction', '02_strided')


def step_words(step, seconds, over):
    gained = f', {progress.factor(over / seconds)} compared with {step.over}' if over else ''
    return f'{step.name}: {show(seconds, "time")}{gained}. {step.idea[0].upper() + step.idea[1:]}.'


def notes_of(steps, limit):
    """Words above the first step, the largest gain after it, and the fastest step."""
    seconds = [s for _, s in steps]
    gains = [before / after for before, after in zip(seconds, seconds[1:])]
    largest, fastest = gains.index(max(gains)) + 1, seconds.index(min(seconds))

    def said(k, value):
        return f'{steps[k][0].name}: {value}'
    below = [f'dashed: {limit[0]}, {show(limit[1], "time")}'] if limit else []
    return {0: [said(0, show(seconds[0], 'time'))], largest: [said(largest, f'{progress.factor(max(gains))} faster')],
            fastest: [said(fastest, show(seconds[fastest], 'time'))] + below}, fastest


def picture(lab, times):
    """A lab's times as a staircase, with the fastest baseline as its floor."""
    steps = progress.on_path(lab, times)
    limit = min(times.baselines.items(), key=lambda named: named[1], default=None)
    notes, fastest = notes_of(steps, limit)
    columns = []
    for step, seconds in steps:
        tip = step_words(step, seconds, times.seconds.get(step.over))
        columns.append((step.number, seconds, tip, f'{lab.name}/{step.name}.html'))
    title = f'{lab.title}, {progress.factor(progress.gain(lab, times))} faster in {len(steps) - 1} steps'
    return (f'<figure class="hero-picture"><figcaption>{html.escape(title)}</figcaption>'
            + charts.stairs(columns, notes, title, limit=limit, now=[fastest])
            + f'<p class="source">Time of a call, measured on {times.gpu}, {html.escape(times.label)}, {times.date}. '
            'Each column links to its version: the idea, the changed lines and the gain.</p></figure>')


def two_warps(site):
    """The picture of a course without records, such as that of a student."""
    address = site.links.page_of('labs/figures/divergence.svg')
    words = ('If lanes of a warp take two branches, half of them are idle; if two warps take one branch each, '
             'every lane is at work')
    return f'<figure class="hero-picture"><img src="{address}" alt="{words}"></figure>'


def buttons(site, warps):
    """Links for a newcomer: write, watch, change."""
    found = [('Write your first kernel', 'first/index.html', 'one hour, in your editor')]
    lab, step = WATCHED
    if step in warps.get(lab, {}):
        found.append(('Watch a warp', f'{lab}/{step}-warp.html', '32 threads, instruction by instruction'))
    if site.students or live.missing(site.root, SHOWN):
        found.append(('Change a number', 'occupancy.html', 'how many blocks fit on a multiprocessor?'))
    else:
        found.append(('Change a number', f'{SHOWN}/live.html', 'and run the kernel in this page'))
    return ''.join(f'<li><a class="button" href="{address}">{name} <small>{words}</small></a></li>'
                   for name, address, words in found)


def first_sentence(markdown):
    return re.match(r'.*?[.?](?= |$)', plain(markdown))[0]


def card(lab, times):
    """A lab on the path: its hours, the gain since its skeleton's version, picture and goal."""
    gained = drawn = facts = ''
    if times:
        steps = progress.on_path(lab, times)
        seconds = [s for _, s in steps]
        begun = times.seconds.get(lab.skeleton, seconds[0])
        gained = f'<strong class="gain">{progress.factor(begun / min(seconds))}</strong>'
        drawn = charts.small_stairs(seconds)
        ends = [show(s, 'time').replace(' ', '&nbsp;') for s in (begun, min(seconds))]
        facts = f'<p class="facts">{len(steps)} versions; {ends[0]} → {ends[1]}</p>'
    hours = html.escape(lab.hours[:1].upper() + lab.hours[1:])
    return (f'<li class="card"><p class="card-head"><span>{hours}</span>{gained}</p>{drawn}'
            f'<h3><a href="{lab.name}/index.html">{html.escape(lab.title)}</a></h3>'
            f'<p>{html.escape(first_sentence(lab.goal))}</p>{facts}</li>')


def index(site, kinds, warps):
    times = {lab.name: progress.of_lab(lab, kinds[lab.name]) for lab in site.labs}
    shown = next((lab for lab in site.labs if lab.name == SHOWN and times[lab.name]), None)
    hero = picture(shown, times[SHOWN]) if shown else two_warps(site)
    measured = ('<p class="source">Gain: the measured speedup from the version that you start with to the fastest version of the path.</p>'
                if any(times.values()) else '')
    body = (
        '<link rel="stylesheet" href="theme/home.css"><div class="hero"><div class="hero-words">'
        '<h1>Make CUDA kernels fast, one idea at a time</h1>'
        '<p class="lead">You start from a kernel that is correct but slow, and take it to the limit of the hardware. '
        'You need C++, but no GPU: the course runs every kernel on your CPU and counts the cost of each line.</p>'
        f'<ul class="buttons">{buttons(site, warps)}</ul></div>{hero}</div>{shell.gaps(site.records.gaps)}'
        '<h2 id="path">The path through the labs</h2><ol class="cards">'
        + ''.join(card(lab, times[lab.name]) for lab in site.labs) + f'</ol>{measured}')
    page = shell.page('index.html', 'Make CUDA kernels fast', body, students=site.students, wide=True)
    site.write('index.html', page)
