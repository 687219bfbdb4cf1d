"""Pages that run a lab's kernels in the browser, with the emulator as WebAssembly from live/build.py."""
import base64
import gzip
import html
import json

from slides.site.live import build as live

from . import shell
from .sources import colour

BUILD = 'python3 slides/site/live/build.py'
PAGE_SCRIPTS = ['steps.js', 'runner.js', 'counted.js', 'live.js']
WORKER_SCRIPTS = ['emulator.js', 'steps.js', 'barriers.js', 'worker.js']


def packed(data):
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def link(site, lab, step):
    """The link for the page of a step."""
    if step.name not in live.steps().get(lab.name, []) or live.missing(site.root, lab.name):
        return ''
    return f'<p><a href="live.html#{step.name}">Experiment in the browser</a>, with your own sizes, block and values.</p>'


def kernels_of(file):
    """{file, lines} of a source. `lines` are [number, HTML] of its kernels, without the includes before them, the
    host code after them, and the marks of exercises."""
    text = file.read_text()
    plain = text.split('\n')
    includes = [n for n, line in enumerate(plain) if line.startswith('#include')]
    first = next(n for n in range(includes[-1] + 1, len(plain)) if plain[n].strip())
    end = plain.index('}', max(n for n, line in enumerate(plain) if '__global__' in line))
    shown = colour(text)
    return {'file': file.name, 'lines': [[n + 1, shown[n]] for n in range(first, end + 1)
                                         if not plain[n].lstrip().startswith(('//>', '//<'))]}


def shared(site):
    """Writes the emulator and the scripts, once for all labs."""
    if 'live/live.js' in site.written:
        return
    for name in PAGE_SCRIPTS:
        site.write(f'live/{name}', (live.HERE / name).read_text())
    worker = ''.join((live.HERE / name).read_text() for name in WORKER_SCRIPTS)
    site.write('live/worker.js', f'const WORKER = {json.dumps(worker)};\n'.replace('</', '<\\/'))
    emulator = (site.root / 'build/live/emulator.wasm').read_bytes()
    site.write('live/emulator.js', f'const EMULATOR = "{packed(emulator)}";\n')


def of_lab(site, lab):
    """Writes the lab's kernels and their sources. Returns the names of the versions."""
    names = live.steps()[lab.name]
    images = {name: packed((site.root / f'build/live/{lab.name}/{name}.fatbin').read_bytes()) for name in names}
    texts = {name: kernels_of(site.root / f'solutions/{lab.name}/{name}.cu') for name in names}
    site.write(f'{lab.name}/kernels.js',
               f'const KERNELS = {json.dumps(images)};\nconst SOURCES = {json.dumps(texts)};\n')
    return names


def version_controls(side, label, names):
    anchor = ' id="{}"' if side == 'b' else ''  # of links such as live.html#03_sequential
    options = ''.join(f'<option{anchor.format(name)}>{name}</option>' for name in names)
    return (f'<section class="live-version {side}" aria-label="{label} version"><div class="live-pick">'
            f'<label>version <select name="step-{side}" autocomplete="off">{options}</select></label>'
            f'<a id="live-link-{side}" href="versions.html">its page</a></div>'
            f'<div class="live-block" id="live-block-{side}"></div>'
            f'<div class="live-result" id="live-verdict-{side}" role="status" aria-live="polite"></div></section>')


def source(side, label):
    return (f'<div class="live-source {side}" id="live-source-{side}" tabindex="0" role="group" '
            f'aria-label="Source of the {label} version, with the cost of each line"></div>')


def machine(lab, names):
    return (f'<div id="live" data-lab="{lab.name}" hidden><form id="live-form">'
            '<div class="live-bar-top"><span id="live-sizes"></span>'
            '<div class="live-field"><label>values, repeated <input type="text" name="values" '
            'value="3 -1 4 1 -5 9 2 6" autocomplete="off"></label></div></div>'
            '<p class="live-tries" id="live-tries">Break it: </p>'
            f'<div class="live-pair">{version_controls("a", "Left", names)}'
            f'{version_controls("b", "Right", names)}</div>'
            '<div class="live-costs" id="live-costs" aria-label="Counters of both versions" role="group"></div>'
            '<p class="live-lines"><label>Cost of each line: '
            '<select name="cost" id="live-cost" autocomplete="off"></select></label> '
            'Both sides have the same scale. Remove a barrier, and see which threads race.</p></form>'
            f'<div class="live-pair">{source("a", "left")}{source("b", "right")}</div></div>'
            '<p id="live-status" role="status" aria-live="polite"></p>'
            '<noscript><p class="gap">This page needs JavaScript; <code>./lab run</code> does the same.</p></noscript>')


def build(site, lab):
    if site.students or lab.name not in live.steps():
        return
    where = f'{lab.name}/live.html'
    missing, scripts = live.missing(site.root, lab.name), []
    if missing:
        if missing not in site.notes:
            site.notes.append(missing)
        place = (f'<p class="gap">{missing} <code>{BUILD}</code> builds it; '
                 f'<code>./lab run {lab.name} --check --counters</code> shows the same in a terminal.</p>')
    else:
        shared(site)
        place = machine(lab, of_lab(site, lab))
        scripts = [f'live/{name}' for name in ('emulator.js', 'worker.js', *PAGE_SCRIPTS)]
        scripts.insert(0, f'{lab.name}/kernels.js')
    title = f'{lab.title}: experiment'
    body = (
        f'<link rel="stylesheet" href="../theme/live.css"><h1>{html.escape(title)}</h1>'
        '<p class="live-intro">The course\'s emulator runs these kernels in your browser, checks every access, and '
        f'counts the cost of each line. Change anything, and both versions run again.</p>{place}')
    words = 'emulator webassembly run sizes block values counters findings'
    site.found(where, title, [(f'{lab.name} run in the page', '', words)])
    site.write(where, shell.page(where, title, body, lab, scripts=scripts, wide=True))
