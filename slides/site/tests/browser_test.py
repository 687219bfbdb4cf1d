"""Tests the site in headless Chromium, from disk: errors, requests, hover values, keyboard, axe, a phone's width.

Skipped (77) without Chromium. Without axe-core, its checks are omitted, and the output says so.

    browser_test.py [--every] [FOLDER]    --every: loads every page, not some of each kind; FOLDER: gets
                                          a screenshot of each kind, in both colours and widths
"""
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys

from setting import AXE, FETCH_AXE, ROOT, browser, build, need

need(chromium=True, program=True)
wrong = []
EVERY = '--every' in sys.argv
KINDS = ['index.html', 'reduction/02_strided-warp.html', 'gemm/08_tma-warp.html', 'gemm/10_producer-warp.html',
         'reduction/index.html', 'launch/deeper.html', 'matmul/versions.html', 'launch/figures.html', 'blur/stages.html', 'blur/12_strips.html',
         'reduction/diff.html', 'glossary.html', 'lectures.html', 'occupancy.html', 'search.html?q=bank+conflict',
         'files/labs/reduction/reduction.hpp.html']


def expect(holds, what):
    if not holds:
        wrong.append(what)


def size(page, width):
    page.send('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=False)


def every_page(page, site):
    """Each page loads, has one main heading and no error, and is not wider than a phone."""
    size(page, 360)
    names = sorted(n for n in site.written if n.endswith('.html') and not n.startswith('decks/'))
    if not EVERY:  # the pages of steps are similar, and so are those of files, so a few are enough
        of_steps = [n for n in names if re.search(r'/\d\d_[\w-]+\.html$', n) and not n.startswith('files/')]
        of_files = [n for n in names if n.startswith('files/')]
        names = [n for n in names if n not in of_steps + of_files] + of_steps[::8] + of_files[::6]
    for name in names:
        page.go(site.out.as_uri() + '/' + name)
        wide, headings = page.run('[document.documentElement.scrollWidth, document.querySelectorAll("h1").length]')
        expect(wide <= 360, f'{name}: {wide} pixels wide on a phone of 360')
        expect(headings == 1, f'{name}: {headings} main headings')


def each_kind(page, site, pictures):
    """Runs axe on each kind of page, and takes screenshots if requested: light and dark, narrow and wide."""
    axe = AXE.read_text() if AXE.is_file() else None
    if not axe:
        print(f'not checked: accessibility, because axe-core is missing: {FETCH_AXE}')
    for name in KINDS:
        page.go(site.out.as_uri() + '/' + name)
        page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        for theme in ('light', 'dark'):
            page.run(f"document.documentElement.dataset.theme = '{theme}'")
            if axe:
                page.run(axe + '; 0')
                found = page.run('''axe.run(document, {resultTypes: ['violations'], preload: false}).then((r) =>
                    r.violations.filter((v) => ['serious', 'critical'].includes(v.impact))
                     .map((v) => `${v.id}: ${v.nodes[0].target.join(' ')}`))''')
                expect(not found, f'{name}, {theme}: {found}')
            for width in (360, 1280) if pictures else ():
                size(page, width)
                page.picture(pictures / f'{re.sub("[^a-z0-9_]+", "_", name)}_{theme}_{width}.png')
    size(page, 1280)


def hover(page, site):
    """The text of a mark under the pointer agrees with the record, computed from the JSON alone."""
    from slides.builder.records import read_record, show
    for lab in ('reduction', 'matmul'):
        entries = read_record(ROOT / f'solutions/{lab}/measured/h200.jsonl')['entries']
        page.go(f'{site.out.as_uri()}/{lab}/versions.html')
        label = page.run('document.querySelector("#size").selectedOptions[0].textContent')
        for at in [e for e in entries if 'step' in e and e['label'].split(', seed')[0] == label][:4]:
            wanted = show(at['cold']['median_ms'] / 1e3, 'time')
            box = page.run(f'''(() => {{
                const m = [...document.querySelectorAll('section.size:not([hidden]) .mark.s0:not(.modelled)')]
                    .find((e) => e.getAttribute('aria-label').startsWith('{at['step']},'));
                m.scrollIntoView({{block: 'center'}});
                const r = m.getBoundingClientRect();
                return [r.left + r.width / 2, r.top + r.height / 2];
            }})()''')
            page.send('Input.dispatchMouseEvent', type='mouseMoved', x=1, y=1)
            page.run('new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))')
            page.send('Input.dispatchMouseEvent', type='mouseMoved', x=box[0], y=box[1])
            tip = page.run('document.querySelector("#tip.shown")?.textContent || ""')
            expect(tip.startswith(f'{at["step"]}, {label}: {wanted}') and 'H200, measured' in tip,
                   f'{at["step"]}: the hover text is {tip!r}, but the record has {wanted}')


def keyboard(page, site):
    """Arrows move through a chart's marks, cards open on focus, Escape closes them, and sizes can be chosen."""
    page.go(site.out.as_uri() + '/reduction/versions.html')
    page.run('document.querySelector("section.size:not([hidden]) .mark").focus()')
    first = page.run('document.querySelector("#tip.shown").textContent')
    page.key('ArrowRight')
    second = page.run('document.querySelector("#tip.shown").textContent')
    expect(first != second and second, 'an arrow key does not move to the next mark')
    page.key('Escape')
    expect(not page.run('document.querySelector("#tip.shown")'), 'Escape leaves the hover card open')
    other = page.run('''(() => { const s = document.querySelector('#size'); s.selectedIndex = 0;
        s.dispatchEvent(new Event('change'));
        return [...document.querySelectorAll('section.size')].filter((e) => !e.hidden).map((e) => e.dataset.size); })()''')
    expect(other == ['0'], f'another size shows {other}')
    page.go(site.out.as_uri() + '/reduction/index.html')
    card = page.run('''(() => { document.querySelector('a[data-card]').focus();
        return document.querySelector('#tip.shown')?.textContent || ''; })()''')
    expect(':' in card and len(card) > 40, f'a term opens the card {card!r}')
    answer = page.run('''(() => { const d = document.querySelector('details.answer'), before = d.open;
        d.querySelector('summary').click(); return [before, d.open, d.textContent.length]; })()''')
    expect(answer[0] is False and answer[1] and answer[2] > 40, f'a folded answer: {answer}')
    page.run('document.getElementById("theme").click()')
    theme = page.run('document.documentElement.dataset.theme')
    page.go(site.out.as_uri() + '/glossary.html')
    expect(page.run('document.documentElement.dataset.theme') == theme, 'the chosen colours are not kept')


def sliders(page, site):
    """A sweep's slider shows the point at its position: readout, spoken value and mark."""
    page.go(site.out.as_uri() + '/launch/figures.html')
    state = """(() => { const s = document.querySelector('#sweep-stride + .sweep'), i = s.querySelector('input');
        const shown = [...s.querySelectorAll('.readout')].filter((r) => !r.hidden);
        const lit = [...s.querySelectorAll('.picked')].filter((r) => r.getAttribute('visibility') === 'visible');
        return [i.value, i.getAttribute('aria-valuetext'), s.querySelector('output').textContent, shown.length,
                shown[0].querySelector('.placed').textContent, ...lit.map((r) => r.dataset.at)]; })()"""
    page.run("document.querySelector('#sweep-stride + .sweep input').focus()")
    from slides.builder.records import read_record
    sweeps = read_record(ROOT / 'solutions/launch/measured/h100.sweeps.jsonl')['entries']
    values = next(s for s in sweeps if s['sweep'] == 'stride')['axes'][0]['values']
    for at in (0, 1, 2):
        page.run(f"(() => {{ const i = document.activeElement; i.value = {at}; i.dispatchEvent(new Event('input')); }})()")
        found, v = page.run(state), values[at]
        expect(found == [str(at), v, v, 1, f'stride = {v}', str(at), str(at)], f'the slider at {at}: {found}')


def before_after(page, site):
    """The divider clips the right picture at its position, and other stages can be chosen."""
    page.go(site.out.as_uri() + '/blur/stages.html')
    page.run("document.querySelector('#divider').focus()")
    page.send('Input.dispatchKeyEvent', type='keyDown', key='ArrowRight', code='ArrowRight', windowsVirtualKeyCode=39)
    page.send('Input.dispatchKeyEvent', type='keyUp', key='ArrowRight', code='ArrowRight', windowsVirtualKeyCode=39)
    page.run("""(() => { const r = document.querySelector('#right'); r.value = 3; r.dispatchEvent(new Event('change')); })()""")
    found = page.run("""(() => { const [l, r] = ['left', 'right'].map((s) => document.getElementById('pair-' + s));
        return Promise.all([l.decode(), r.decode()]).then(() => [document.querySelector('#divider').value,
            getComputedStyle(r).clipPath, l.src.split('/').pop(), r.src.split('/').pop(), l.naturalWidth, r.naturalWidth]); })()""")
    expect(found[:4] == ['51', 'inset(0px 0px 0px 51%)', 'grey.png', 'edges.png'] and found[4] == found[5] > 100,
           f'before and after: {found}')


def costs(page, site):
    """Enter on a heading of the lines' costs sorts the table by it, and shows this cost next to the source lines."""
    page.go(site.out.as_uri() + '/reduction/02_strided.html#heat')
    state = """(() => { const t = document.querySelector('#heat'), k = [...t.tHead.rows[0].cells].findIndex((h) => h.hasAttribute('aria-sort'));
        return [t.tHead.rows[0].cells[k].textContent, [...t.tBodies[0].rows].map((r) => k ? Number(r.cells[k].dataset.v) : 0),
                [...document.querySelectorAll('.line[data-heat]')].map((l) => [l.id, l.dataset.heat]), t.tBodies[0].rows[0].dataset.line]; })()"""
    name, values, beside, first = page.run(state)
    expect(name == 'bank conflicts' and first == 'L27' and [b[0] for b in beside] == ['L27'],
           f'02_strided shows {name} first, of {first}, beside {beside}')
    page.run("[...document.querySelectorAll('#heat .sort')].find((b) => b.textContent === 'stalls').focus()")
    page.send('Input.dispatchKeyEvent', type='keyDown', key='Enter', code='Enter', windowsVirtualKeyCode=13, text='\r')
    page.send('Input.dispatchKeyEvent', type='keyUp', key='Enter', code='Enter', windowsVirtualKeyCode=13)
    name, values, beside, first = page.run(state)
    expect(name == 'stalls' and values == sorted(values, reverse=True) and len(beside) > 5, f'sorted by {name}: {values}')


def steps(page, site):
    """The rail marks the step, arrow keys go to its neighbours, and a link into a folded section opens it."""
    page.go(site.out.as_uri() + '/matmul/04_two_rows.html')
    state = '[location.pathname.split("/").pop(), document.querySelector(".rail [aria-current] .number").textContent]'
    for key, wanted in (('ArrowRight', '05_transposed_b.html'), ('ArrowLeft', '04_two_rows.html'), ('ArrowLeft', '03_tiled.html')):
        page.key(key)
        page.run('new Promise((done) => setTimeout(done, 400))')
        expect(page.run(state) == [wanted, wanted[:2]], f'{key} leads to {page.run(state)}, not to {wanted}')
    page.run('document.querySelector("header input").focus()')
    page.key('ArrowRight')
    page.run('new Promise((done) => setTimeout(done, 400))')
    expect(page.run(state)[0] == '03_tiled.html', 'an arrow key in the search field leaves the page')
    folds = '[...document.querySelectorAll(".fold")].map((f) => [f.id, f.open])'
    expect(not any(is_open for _, is_open in page.run(folds)), f'open at first: {page.run(folds)}')
    page.run('location.hash = "L20"; new Promise((done) => setTimeout(done, 100))')
    expect([name for name, is_open in page.run(folds) if is_open] == ['source'], f'open for a line: {page.run(folds)}')
    size(page, 390)
    page.go(site.out.as_uri() + '/matmul/24_sliced_k.html')
    low, high, left, right = page.run("""(() => { const r = document.querySelector('.rail').getBoundingClientRect(),
        c = document.querySelector('.rail [aria-current]').getBoundingClientRect(); return [r.top, r.bottom, c.left, c.right]; })()""")
    expect(high - low < 60 and 0 <= left and right <= 390, f'the rail on a phone: {high - low} pixels high, the step from {left} to {right}')
    size(page, 1280)


def differences(page, site):
    """The page shows all lines of code of two versions, in either order, with their numbers."""
    def code(text):
        """The lines after the header, without the markers of the student's part, with their numbers."""
        text = re.sub(r'^ *//> todo.*\n(?: *//.*\n)*|^ *//<.*\n', lambda found: '\0\n' * found[0].count('\n'), text, flags=re.M)
        lines = list(enumerate(text.expandtabs(4).rstrip('\n').split('\n'), 1))
        begin = next(k for k, (_, line) in enumerate(lines) if not line.startswith('//'))
        return [(str(number), line.rstrip()) for number, line in lines[begin:] if line != '\0']
    lab = next(lab for lab in site.labs if lab.name == 'matmul')
    page.go(site.out.as_uri() + '/matmul/diff.html')
    for a, b in ((3, 9), (9, 3), (0, 23), (18, 19)):
        names = lab.steps[a].name, lab.steps[b].name
        shown = page.run(f'''(() => {{
            location.hash = '{names[0]}..{names[1]}';
            return new Promise((done) => setTimeout(() => {{
                document.querySelectorAll('#diff .more').forEach((m) => m.click());
                done([0, 1].map((k) => [...document.querySelectorAll('#diff .row:not(.head)')].map((r) => r.children[k])
                    .filter((e) => !e.classList.contains('none')).map((e) => [e.dataset.n, e.textContent.trimEnd()])));
            }}, 50));
        }})()''')
        for name, lines, step in zip(names, shown, (lab.steps[a], lab.steps[b])):
            wanted = []
            for file in [step.file] + step.parts:
                wanted += ([('', '// ---- ' + file)] if file != step.file else []) + code((ROOT / file).read_text())
            expect([tuple(line) for line in lines] == wanted, f'{names}: not all lines of {name} are shown, or some are wrong')


def times_of_differences(page, site):
    """Above the code, the page has the recorded times of both versions and their ratio; arrows follow the path."""
    from slides.builder.records import read_record, show
    entries = [e for e in read_record(ROOT / 'solutions/matmul/measured/h200.jsonl')['entries'] if 'step' in e]
    last = [e['size'] for e in entries if e['step'] == '01_column'][-1]
    ms = {e['step']: e['cold']['median_ms'] for e in entries if e['size'] == last}
    page.go(site.out.as_uri() + '/matmul/diff.html#02_row..03_tiled')
    for a, b in (('02_row', '03_tiled'), ('03_tiled', '04_two_rows'), ('02_row', '03_tiled')):
        said = page.run("document.querySelector('#times').textContent")
        wanted = f'{show(ms[a] / ms[b], "x")} {a}: {show(ms[a] / 1e3, "time")} → {b}: {show(ms[b] / 1e3, "time")}'
        expect(said.startswith(wanted), f'the times of {a} and {b} are {said!r}')
        arrow = '#next' if b == '03_tiled' else '#previous'
        page.run(f"document.querySelector('{arrow}').click(); new Promise((done) => setTimeout(done, 60))")
    first = page.run("location.hash = '01_column..02_row'; new Promise((done) => setTimeout(() => "
                     "done(document.querySelector('#previous').checkVisibility()), 60))")
    expect(not first, 'an arrow leads from the first change to one before it')


def calculator(page, site):
    """200 random blocks, on all GPUs: the page and `lab occupancy` agree in every number."""
    chosen = random.Random(26)
    cases = [(g['id'], chosen.choice([chosen.randint(1, 1024), 32 * chosen.randint(1, 32)]),
              chosen.choice([0, chosen.randint(1, 255), chosen.randint(1, 64)]),
              chosen.choice([0, chosen.randint(0, 250000), chosen.randint(0, 49152)])) for g in site.gpus * 20]
    page.go(site.out.as_uri() + '/occupancy.html')
    keys = ['blocks', 'warps', 'most_warps', 'percent', 'limits', 'limited_by', 'registers_of_block', 'shared_bytes_of_block']
    ours = page.run(f'''{json.dumps(cases)}.map(([id, t, r, s]) => {{
        const f = occupancy(GPUS.find((g) => g.id === id), t, r, s);
        for (const k in f.limits) if (f.limits[k] === ANY) f.limits[k] = null;
        return Object.fromEntries({json.dumps(keys)}.map((k) => [k, f[k]]));
    }})''')
    for (gpu, threads, registers, shared), mine in zip(cases, ours):
        said = subprocess.run([ROOT / 'build/grader/lab', 'occupancy', '--json', '--gpu', gpu, '--threads', str(threads),
                               '--registers', str(registers), '--shared', str(shared)], capture_output=True, text=True)
        theirs = json.loads(said.stdout)['kernels'][0]
        differ = [k for k in keys if (abs(mine[k] - theirs[k]) > 1e-9 if k == 'percent' else mine[k] != theirs[k])]
        expect(not differ, f'{gpu}, {threads} threads, {registers} registers, {shared} bytes: '
                           + ', '.join(f'{k} {mine[k]} on the page, {theirs[k]} in lab occupancy' for k in differ))


SIDES = """JSON.stringify([...document.querySelectorAll('.warp .player')].map((s) => ({
    lanes: [...s.querySelectorAll('.picture > .lanes .lane')].map((e) => Number(e.classList.contains('on'))).join(''),
    waves: new Set([...s.querySelectorAll('.word')].map((e) => e.dataset.wave)).size,
    sectors: s.querySelectorAll('.sector:not(.unused)').length,
    curves: s.querySelectorAll('.curves path').length,
    where: s.querySelector('.where').textContent, said: s.querySelector('.sentence').textContent})))"""


def sides(page):
    return json.loads(page.run(SIDES))


def recording(lab, name):
    return json.loads(next((ROOT / 'build/recorded').glob(f'{lab}-{name}-*.json')).read_text())


def is_costly(step):
    return any('ideal' in x for x in step.get('x', []))


def warps(page, site):
    """Lanes, banks, sectors and sentences agree with the recordings, instruction by instruction."""
    for lab, name in (('reduction', '01_interleaved'), ('transpose', '04_tiled')):
        doc = recording(lab, name)
        page.go(f'{site.out.as_uri()}/{lab}/{name}-warp.html')
        page.key('Home')
        seen = 0
        for n, step in enumerate(doc['steps'][:120]):
            if n:
                page.key('ArrowRight')
            shown, active = sides(page)[0], step.get('a', step.get('m', 2 ** 32 - 1))
            at = f'{name}, {n + 1}'
            expect(shown['lanes'] == ''.join(str(active >> lane & 1) for lane in range(32)), f'{at}: {shown["lanes"]}')
            expect(f'instruction {n + 1} of {len(doc["steps"])} ' in shown['where']
                   and f' {active.bit_count()} of 32 lanes active' in shown['where'], f'{at}: {shown["where"]!r}')
            for x in step.get('x', []):
                seen += 1
                kind, unit = ('waves', 'wavefront') if x['space'] == 'shared' else ('sectors', 'sector')
                many = 's' if x['n'] > 1 else ''
                price = f' where {x["ideal"]} would do: ' if 'ideal' in x else ', the fewest possible: '
                expect(shown[kind] == x['n'] and shown['said'].startswith(f'{x["n"]} {unit}{many}{price}'),
                       f'{at}: {shown}, recorded {x}')
                expect(shown['curves'] == active.bit_count(), f'{at}: {shown["curves"]} curves')
        expect(seen > 3, f'{name}: only {seen} accesses were compared')


def warp_costs(page, site):
    """On every page of a warp, the wavefronts and sectors that the picture computes are the recorded ones."""
    compared = 0
    for name in [n for n in site.written if n.endswith('-warp.html')]:
        page.go(f'{site.out.as_uri()}/{name}')
        all_of_page = page.run("""Object.values(WARPS)[0].steps.flatMap((s, n) => Warp.accesses(Object.values(WARPS)[0], s)
            .filter((a) => a.counted && a.kind !== 'atomic')
            .map((a) => [n + 1, a.cost, a.space === 'shared' ? Warp.wavefronts(a).count
                : Warp.lines(a).flatMap((line) => [...line.sectors].filter(Boolean)).length]))""")
        compared += len(all_of_page)
        differ = [entry for entry in all_of_page if entry[1] != entry[2]]
        expect(not differ, f'{name}: [instruction, recorded, computed] {differ[:3]}')
    expect(compared > 200, f'only {compared} accesses were compared')


def warp_strip(page, site):
    """The strip has the recorded costs. A player opens at the first costly access or TMA copy, and the button finds
    the other costly accesses."""
    doc = recording('reduction', '02_strided')
    page.go(site.out.as_uri() + '/reduction/02_strided-warp.html')
    costly = [n for n, step in enumerate(doc['steps'], 1) if is_costly(step)]
    expect(f'instruction {costly[0]} of' in sides(page)[0]['where'], f'it opens at {sides(page)[0]["where"]!r}')
    bars = page.run("""['needed', 'excess'].map((css) => [...document.querySelectorAll(`.strip .${css}`)]
        .map((e) => [Math.ceil(e.getAttribute('x')), Math.round(e.getAttribute('height') * 8 / 100)]))""")
    most = {n: x for n, step in enumerate(doc['steps'], 1) for x in step.get('x', [])}
    expect(bars == [[[n, x.get('ideal', x['n'])] for n, x in most.items()],
                    [[n, most[n]['n'] - most[n]['ideal']] for n in costly]], f'the strip is {bars}')
    said = page.run("document.querySelector('.warp .number').textContent")
    expect(said == f'{len(costly)} in this recording', f'costly accesses: {said!r}')
    for n in costly[1:] + costly[:1]:
        page.key('w')
        expect(f'instruction {n} of' in sides(page)[0]['where'], f'costly access {n}: {sides(page)[0]["where"]!r}')
    page.go(site.out.as_uri() + '/reduction/03_sequential-warp.html')
    none = page.run("(({disabled, textContent}) => [disabled, textContent])(document.querySelector('.warp button.costly'))")
    expect(none == [True, 'Next costly access: none in this recording'], f'without a costly access: {none}')
    first = next(n for n, step in enumerate(recording('reduction', '03_sequential')['steps'], 1) if step.get('x'))
    expect(f'instruction {first} of' in sides(page)[0]['where'], f'without a costly access: {sides(page)[0]["where"]!r}')
    page.key('?')
    expect(page.run("document.querySelector('.warp .keys').open"), '? does not open the list of keys')


def warp_comparison(page, site):
    """Two versions play in step: an access of one has its counterpart at the same moment."""
    page.go(site.out.as_uri() + '/reduction/02_strided-warp.html')
    page.run("""(() => { const b = document.querySelector('.warp .beside'); b.value = '03_sequential';
        b.dispatchEvent(new Event('change'));
        return new Promise((done) => setTimeout(() => { document.activeElement.blur(); done(0); }, 300)); })()""")
    page.key('Home')
    for _ in range(6):
        page.key('w')
        left, right = sides(page)
        expect(' where 1 would do' in left['said'] and right['said'].startswith('1 wavefront, the fewest possible'),
               f'compared: {left["said"]!r}, {right["said"]!r}')
    page.key('End')
    ends = [re.search(r'instruction (\d+) of (\d+) ', s['where']).groups() for s in sides(page)]
    expect(len(ends) == 2 and all(at == last for at, last in ends), f'at the end: {ends}')


def warp_units(page, site):
    """TMA shows the swizzle of wgmma.hpp, wgmma its operands, an mbarrier its phase, a shuffle its lanes."""
    doc = recording('gemm', '08_tma')
    page.go(site.out.as_uri() + '/gemm/08_tma-warp.html')
    opened = page.run('new Promise((done) => setTimeout(() => done(document.querySelectorAll(".chunks").length), 60))')
    expect(opened, f'a recording with TMA opens at {sides(page)[0]["said"]!r}')
    number = {what: next(n for n, step in enumerate(doc['steps'], 1) if what in doc['instructions'][step['i']]['ptx'])
              for what in ('cp.async.bulk.tensor', 'wgmma.mma_async', 'mbarrier.try_wait')}

    def go(what):
        page.run(f"location.hash = '{number[what]}'")
        page.run('new Promise((done) => setTimeout(done, 60))')
    go('cp.async.bulk.tensor')
    tiles = page.run("[...document.querySelectorAll('.chunks .grid')].map((g) => [...g.children].map((e) => Number(e.textContent)))")
    expect(tiles == [[c for _ in range(8) for c in range(8)], [c ^ r for r in range(8) for c in range(8)]], f'tiles {tiles}')
    expect(sides(page)[0]['said'] == 'TMA copies 16384 bytes at row 0, column 0 of the matrix to tiles; '
           'the mbarrier full counts them.', sides(page)[0]['said'])
    go('wgmma.mma_async')
    operands = page.run("[...document.querySelectorAll('.operand.a, .operand.b')].map((e) => e.textContent)")
    expect(operands == ['b: 16 x 128at tiles + 16384, 128-byte swizzle', 'a: 64 x 16at tiles, 128-byte swizzle'],
           f'operands {operands}')
    go('mbarrier.try_wait')
    use = doc['steps'][number['mbarrier.try_wait'] - 1]['b'][0]
    card = page.run("document.querySelector('.card').textContent")
    expect(card.startswith(f'fullparity {use["parity"]}waits for {use["arrivals"]} arrival'), f'the mbarrier is {card!r}')
    page.key('ArrowRight')
    kept = page.run("document.querySelector('.card').textContent")
    expect('b' not in doc['steps'][number['mbarrier.try_wait']] and kept == card, f'after the mbarrier: {kept!r}')
    doc = recording('reduction', '08_shuffle')
    first = next(n for n, step in enumerate(doc['steps'], 1) if 'shfl' in doc['instructions'][step['i']]['ptx'])
    page.go(f'{site.out.as_uri()}/reduction/08_shuffle-warp.html#{first}')
    page.run('new Promise((done) => setTimeout(done, 60))')
    found = page.run("""[...document.querySelectorAll('.curves path')].map((e) => Number(e.dataset.lane)).concat(
        [...document.querySelectorAll('.receiver')].map((e) => Number(e.dataset.lanes)))""")
    expect(found == list(range(16, 32)) + [*range(16, 32), *range(16, 32)], f'a shuffle down by 16: {found}')
    expect(sides(page)[0]['said'].startswith('Each lane gets a register of the lane whose number is 16 higher, '), sides(page)[0]['said'])


def warp_in_handout(page, site):
    """A question's player starts when it is unfolded, at the first costly access, and hears only its own keys."""
    page.go(site.out.as_uri() + '/reduction/index.html')  # R7: which banks do the lanes use?
    expect(not sides(page), 'a folded player has started')
    page.run("document.querySelector('#r7 .predict > summary').click()")
    page.run('new Promise((done) => setTimeout(done, 300))')
    for what in ('opened', 'the next one'):
        shown = sides(page)[0]
        expect('line 27' in shown['where'] and shown['said'].startswith('2 wavefronts where 1 would do'), f'{what}: {shown}')
        page.run("document.querySelector('#r7 button.costly').click()")
    before = sides(page)[0]['where']
    page.run('document.activeElement.blur()')
    page.key('ArrowRight')
    expect(sides(page)[0]['where'] == before, 'a player in a text takes the keys of the page')
    page.run("document.querySelector('#r7 input[type=range]').focus()")
    page.key('ArrowRight')
    expect(sides(page)[0]['where'] != before, 'a player in a text does not hear its keys')


def hero_contrast(page, site):
    """The columns of the home page have a contrast of 3:1 with the page, in both themes."""
    page.go(site.out.as_uri() + '/index.html')
    for theme in ('light', 'dark'):
        colours = page.run(f'''(() => {{ document.documentElement.dataset.theme = '{theme}';
            return [getComputedStyle(document.querySelector('.hero-picture .stair:not(.now)')).fill,
                    getComputedStyle(document.body).backgroundColor].map((c) => c.match(/\\d+/g).map(Number)); }})()''')
        low, high = sorted(map(luminance, colours))
        expect((high + 0.05) / (low + 0.05) >= 3, f'{theme}: a column of {colours[0]} on {colours[1]}')


def luminance(rgb):
    """The relative luminance of WCAG 2."""
    parts = [v / 255 for v in rgb]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def glossary_filter(page, site):
    """The field above the index leaves the terms that contain its words; Enter goes to the first of them."""
    page.go(site.out.as_uri() + '/glossary.html')
    found = page.run('''(() => { const field = document.querySelector('#filter'); field.value = 'Bank';
        field.dispatchEvent(new Event('input'));
        field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
        return [[...document.querySelectorAll('.a-to-z a')].filter((e) => e.checkVisibility()).map((e) => e.textContent),
                [...document.querySelectorAll('.a-to-z b')].filter((e) => e.checkVisibility()).map((e) => e.textContent),
                document.querySelector('#filtered').textContent.split(' of ')[0], location.hash]; })()''')
    expect(found == [['bank', 'bank conflict'], ['B'], '2', '#bank'], f'the terms with "bank": {found}')


def searches(page, site):
    for words, where in (('bank conflict', 'glossary.html#bank-conflict'), ('shuffle', '08_shuffle'), ('xyzzy', None)):
        page.go(site.out.as_uri() + '/search.html?q=' + words.replace(' ', '+'))
        links = page.run('[...document.querySelectorAll("#results a")].map((a) => a.getAttribute("href"))')
        expect(bool(links) == bool(where) and (not where or any(where in link for link in links[:10])),
               f'search for {words!r}: {links[:5]}')
    for term in ('bank conflict', 'Warp', 'occupancy', 'sector', 'barrier', 'coalescing'):
        page.go(site.out.as_uri() + '/search.html?q=' + term.replace(' ', '+'))
        first = page.run('document.querySelector("#results a").getAttribute("href")')
        expect(first == 'glossary.html#' + term.lower().replace(' ', '-'), f'the first result for {term!r} is {first}')


def wide_code(page, site):
    """At 1280 pixels, no block of commands in a handout needs scrolling, and no page is wider than the window."""
    size(page, 1280)
    for lab in site.labs:
        page.go(f'{site.out.as_uri()}/{lab.name}/index.html')
        cut, wide = page.run("""[[...document.querySelectorAll('main > pre')].filter((e) => e.scrollWidth > e.clientWidth + 1)
            .map((e) => e.textContent.slice(0, 40)), document.documentElement.scrollWidth]""")
        expect(not cut and wide <= 1280, f'{lab.name}: {cut} need scrolling, the page is {wide} pixels wide')


def contents_of_handout(page, site):
    """At 1280 pixels, the contents are to the left of the text and stay in view; on a phone, they are folded."""
    for width, is_rail in ((1280, True), (390, False)):
        size(page, width)
        page.go(site.out.as_uri() + '/reduction/index.html')
        right, goal, is_open = page.run("""(() => { const c = document.querySelector('.contents');
            const g = document.querySelector('main > p').getBoundingClientRect();
            return [c.getBoundingClientRect().right < g.left, g.top, c.open]; })()""")
        expect([right, is_open] == [is_rail, is_rail] and goal < 320, f'{width}: left {right}, open {is_open}, the goal at {goal}')
        page.run("document.querySelector('main > h2:last-of-type').scrollIntoView()")
        top = page.run("document.querySelector('.contents').getBoundingClientRect().top")
        expect((0 <= top < 100) == is_rail, f'{width}: after scrolling, the contents are at {top}')
    size(page, 1280)


def phone_header(page, site):
    """On a phone, the header and the links of a lab take one line each, and the current link is in view."""
    size(page, 390)
    for name in ('index.html', 'occupancy.html', 'matmul/figures.html'):
        page.go(site.out.as_uri() + '/' + name)
        for bar in ('header', '.oflab') if '/' in name else ('header',):
            high, bottom = page.run(f"""(() => {{ const b = document.querySelector('{bar}'), c = b.querySelector('[aria-current]');
                const r = c && c.getBoundingClientRect(); return [b.offsetHeight, !r || (r.left > 0 && r.right < 390)]; }})()""")
            expect(high < 60 and bottom, f'{name}: {bar} is {high} pixels high; its current link is {"" if bottom else "not "}in view')
    size(page, 1280)


def main():
    folders = [word for word in sys.argv[1:] if word != '--every']
    pictures = pathlib.Path(folders[0]) if folders else None
    site = build(ROOT)
    try:
        with browser.Browser() as chromium:
            page = chromium.open((site.out / 'index.html').as_uri())
            every_page(page, site)
            size(page, 1280)
            for test in (hover, keyboard, sliders, before_after, costs, steps, differences,
                         times_of_differences, calculator, warps, warp_costs,
                         warp_strip, warp_comparison, warp_units, warp_in_handout, hero_contrast,
                         glossary_filter, searches, wide_code, contents_of_handout, phone_header):
                test(page, site)
            each_kind(page, site, pictures)
            wrong.extend(sorted(set(page.trouble())))
    finally:
        shutil.rmtree(site.out)
    print('\n'.join(wrong[:40]) or 'the pages are right')
    return bool(wrong)


sys.exit(main())
