"""Pages that run a lab's kernels in the browser, with the emulator as WebAssembly from live/build.py."""
import base64
import gzip
import html
import json

from slides.site.live import build as live

from . import shell

BUILD = 'python3 slides/site/live/build.py'


def packed(data):
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def link(site, lab, step):
    """The link for the page of a step."""
    if step.name not in live.steps().get(lab.name, []) or live.missing(site.root, lab.name):
        return ''
    return f'<p><a href="live.html#{step.name}">Run it in the browser</a>, with your own sizes, block and values.</p>'


def shared(site):
    """Writes the emulator and the scripts, once for all labs."""
    if 'live/live.js' in site.written:
        return
    for name in ('steps.js', 'live.js'):
        site.write(f'live/{name}', (live.HERE / name).read_text())
    worker = ''.join((live.HERE / name).read_text() for name in ('emulator.js', 'steps.js', 'worker.js'))
    site.write('live/worker.js', f'const WORKER = {json.dumps(worker)};\n'.replace('</', '<\\/'))
    emulator = (site.root / 'build/live/emulator.wasm').read_bytes()
    site.write('live/emulator.js', f'const EMULATOR = "{packed(emulator)}";\n')


def build(site, lab):
    if site.students or lab.name not in live.steps():
        return
    where = f'{lab.name}/live.html'
    missing, scripts, options = live.missing(site.root, lab.name), [], ''
    if not missing:
        shared(site)
        names = live.steps()[lab.name]
        images = {name: packed((site.root / f'build/live/{lab.name}/{name}.fatbin').read_bytes()) for name in names}
        site.write(f'{lab.name}/kernels.js', f'const KERNELS = {json.dumps(images)};\n')
        scripts = ['live/steps.js', 'live/emulator.js', 'live/worker.js', f'{lab.name}/kernels.js', 'live/live.js']
        options = ''.join(f'<option id="{name}">{name}</option>' for name in names)
    elif missing not in site.notes:
        site.notes.append(missing)
    place = (
        f'<div id="live" data-lab="{lab.name}"><form id="live-form" class="controls" hidden>'
        f'<label>version <select name="step" autocomplete="off">{options}</select></label>'
        '<span id="live-sizes" class="controls"></span>'
        '<label>block <input type="number" name="block-x" min="1" max="1024" autocomplete="off"></label>'
        '<label>by <input type="number" name="block-y" min="1" max="1024" autocomplete="off"></label>'
        '<label>values, repeated <input type="text" name="values" value="3 -1 4 1 -5 9 2 6" autocomplete="off"></label>'
        '<label><input type="checkbox" name="checks" checked> checks</label>'
        '<label><input type="checkbox" name="counters" checked> counters</label>'
        '<button type="submit">Run</button></form>'
        '<p class="hint"><a id="live-step" href="versions.html">The source of this version.</a> '
        '<span id="live-fixed" hidden>Its block size is a constant of the kernel, so you cannot choose it here.</span></p>'
        '<p id="live-status" role="status" aria-live="polite"></p><div id="live-out"></div></div>'
        '<noscript><p class="gap">This page needs JavaScript; <code>./lab run</code> does the same.</p></noscript>'
        if not missing else
        f'<p class="gap">{missing} If Zig and nvcc are installed, <code>{BUILD}</code> builds it; <code>./lab run {lab.name} --check --counters</code> shows the same '
        'in a terminal.</p>')
    title = f'{lab.title}: run it here'
    body = (
        f'<link rel="stylesheet" href="../theme/live.css"><h1>{html.escape(title)}</h1>'
        '<p>The course\'s emulator, compiled to WebAssembly, executes the PTX that nvcc generated for a version. Its findings '
        'and counts are those of <code>./lab run</code>. The GPU is an H200 with 16 MiB of memory. '
        f'The kernel runs again whenever you change a number.</p>{place}')
    site.found(where, title, [(f'{lab.name} run in the page', '', 'emulator webassembly run sizes block values counters findings')])
    site.write(where, shell.page(where, title, body, lab, scripts=scripts))
