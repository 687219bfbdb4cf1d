"""Tests the site without a browser: figures agree with records, links resolve, gaps are named, nothing leaks."""
import html
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

from setting import ROOT, build, copy_of_course, dead_links, need

need()
wrong = []


def expect(holds, what):
    if not holds:
        wrong.append(what)


def all_pages(out):
    return {str(f.relative_to(out)): f.read_text() for f in out.rglob('*.html')}


def every_page(site, pages):
    """Each lab, step and question is on a page, no link is dead, and nothing is loaded from a network."""
    for lab in site.labs:
        for step in lab.steps:
            page = pages.get(f'{lab.name}/{step.name}.html', '')
            first = (ROOT / step.file).read_text().splitlines()[0]
            expect(html.escape(first, quote=False) in html.unescape(page) or first in html.unescape(page),
                   f'{step.name}: its source is not on its page')
            expect(all(part in page for part in step.parts), f'{step.name}: a part is missing')
        asked = set()
        for name in ('README.md', 'deeper.md'):
            file = ROOT / 'labs' / lab.name / name
            asked |= set(re.findall(r'^\* \*\*([A-Z]\d+)\*\*', file.read_text(), re.M)) if file.is_file() else set()
        expect(asked and asked == set(site.answered[lab.name]),
               f'{lab.name}: questions without an answer: {sorted(asked ^ set(site.answered[lab.name]))}')
    players = [(name, of) for name, text in pages.items() for of in re.findall(r'class="warp" data-name="([^"]+)"', text)]
    for name, of in players:
        expect((site.out / name).with_name('recorded').joinpath(f'{of}.js').is_file(), f'{name}: no recording of {of}')
        expect('theme/warp.js' in pages[name], f'{name}: the script of its players is missing')
    expect(len([name for name, _ in players if name.endswith('/index.html')]) > 10, f'players: {players}')
    expect(('gemm/index.html', '07_wgmma') in players, 'G5 names `07`, but has no player of it')
    for page, link in dead_links(site.out):
        expect(False, f'{page}: {link} leads nowhere')
    for name, text in pages.items():
        expect(len(text.encode()) < 400_000 or name.startswith('decks/'), f'{name}: {len(text.encode())} bytes')
        for address in re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="(?:https?:)?//[^"]*"', text):
            expect(False, f'{name}: {address}')


def times_are_recorded(site, pages):
    """Every time that a step's page shows is in a record, computed from the JSON alone."""
    from slides.builder.records import read_record, show
    for lab in site.labs:
        for gpu, kind in (('h200', 'measured'), ('h100', 'measured')):
            file = ROOT / f'solutions/{lab.name}/measured/{gpu}.jsonl'
            if not file.is_file():
                continue
            for at in read_record(file)['entries']:
                if 'step' not in at:
                    continue
                rows = re.findall(r'<tr>(.*?)</tr>', pages[f'{lab.name}/{at["step"]}.html'])
                label = at['label'].split(', seed')[0]
                wanted = show(at['cold']['median_ms'] / 1e3, 'time')
                expect(any(f'<td>{label}</td><td>{gpu.upper()}, {kind}</td><td class=r>{wanted}</td>' in row
                           for row in rows), f'{at["step"]}, {label}, {gpu}: {wanted} is not shown')


def record_of(lab):
    return ROOT / f'solutions/{lab.name}/measured/h200.jsonl'


def recorded_labs(site):
    return [lab for lab in site.labs if record_of(lab).is_file()]  # a new lab has no record


def home_is_recorded(site, pages):
    """The home page has a card per lab with the gain that follows from the JSON alone, and names the steps of its picture."""
    from slides.builder.records import read_record, show
    home = html.unescape(pages['index.html'])
    cards = re.findall(r'<li class="card">(.*?)</li>', home)
    expect(len(cards) == len(site.labs), f'{len(cards)} cards for {len(site.labs)} labs')
    for lab, card in zip(site.labs, cards):
        if lab not in recorded_labs(site):
            expect('class="gain"' not in card, f'{lab.name}: a gain without a record in {card}')
            continue
        entries = [e for e in read_record(record_of(lab))['entries'] if 'step' in e]
        size = [e['size'] for e in entries if e['step'] == lab.steps[0].name][-1]
        ms = {e['step']: e['cold']['median_ms'] for e in entries if e['size'] == size}
        of_path = [ms[s.name] for s in lab.steps if s.name in ms and s.name not in lab.case_study]
        gain = ms.get(lab.skeleton, of_path[0]) / min(of_path)  # from the version that a reader starts with
        expect(f'>{gain:,.0f}x<' in card if gain >= 1000 else f'>{show(gain, "x")}<' in card, f'{lab.name}: no gain {gain} in {card}')
        expect(show(min(of_path) / 1e3, 'time') in card.replace('\xa0', ' '), f'{lab.name}: no time of the fastest step in {card}')
        expect(card.count('class="stair') == len(of_path) + 1, f'{lab.name}: its picture does not have {len(of_path)} columns')
        if lab.name == 'matmul':
            missing = [s.name for s in lab.path if f'href="matmul/{s.name}.html"' not in home.split('id="path"')[0]]
            expect(not missing, f'the picture of matmul lacks {missing}')
    hero = re.search(r'<figure class="hero-picture">.*?</figure>', home, re.S)[0]
    expect(re.search(r'>time on a logarithmic axis, from [\d.]+ m?s<', hero), f'the axis of the picture is not described: {hero[:400]}')
    for words, address in (('Write your first kernel', 'first/index.html'), ('Watch a warp', 'reduction/02_strided-warp.html')):
        expect(re.search(rf'href="{address}">{words}', home), f'the home page lacks {words!r}')


def chapters(site, pages):
    """A step's page has the recorded gain, its idea as prose, and exactly the changed lines of its code."""
    from slides.builder.records import read_record, show
    changed, without_conflicts = 0, set()
    for lab in recorded_labs(site):
        guided = {e['step']: e for e in read_record(ROOT / f'solutions/{lab.name}/measured/h200.guided.jsonl')['entries']}
        conflicts = {name: sum(max(0, c[7] - c[8]) for lines in e['lines'].values() for c in lines) for name, e in guided.items()}
        entries = [e for e in read_record(record_of(lab))['entries'] if 'step' in e]
        size = [e['size'] for e in entries if e['step'] == lab.steps[0].name][-1]
        ms = {e['step']: e['cold']['median_ms'] for e in entries if e['size'] == size}
        files = {step.name: step.file for step in lab.steps}
        for step in lab.steps:
            page = pages[f'{lab.name}/{step.name}.html']
            verdict = re.search(r'<p class="verdict">(.*?)</p>', page)[1]
            if step.name in ms and step.over in ms:
                gain = ms[step.over] / ms[step.name]
                said = f'{gain:,.0f}x' if gain >= 1000 else show(gain, 'x')
                label = [e['label'] for e in entries if e['step'] == step.name and e['size'] == size][0].split(', seed')[0]
                expect(f'<strong>{said}</strong>' in verdict and f'{step.over} at {label}' in verdict,
                       f'{step.name}: the headline is {verdict}')
            rail = {name: float(w) for name, w in re.findall(r'href="(\w+)\.html" style="--w:([0-9.]+)%"', page)}
            on_h200 = 'Shorter is faster. Time on H200' in page  # otherwise, the rail has other times
            expect(not on_h200 or all((rail[a] > rail[b]) == (ms[a] > ms[b]) or abs(rail[a] - rail[b]) < 0.2 for a in rail for b in rail
                       if a in ms and b in ms) and len(rail) > 3,
                   f'{step.name}: the bars of the rail are not in the order of the times: {rail}')
            if 'no more bank conflicts' in verdict:
                expect(conflicts[step.over] > 100 * conflicts[step.name], f'{step.name}: {conflicts[step.name]} conflicts are left')
                without_conflicts.add(step.name)
            now = guided[step.name]['analysis']['limiter'] == 'latency'
            expect(('limited by latency' in verdict) == now, f'{step.name}: the limit in {verdict}')
            source = (ROOT / step.file).read_text().split('\n')
            idea = re.search(r'^// idea +(.*)', '\n'.join(source), re.M)[1]
            shown = html.unescape(re.sub('<[^>]*>', '', re.search(r'<p class="idea">(.*?)</p>', page)[1]))
            expect(shown.startswith(idea.replace('`', '')), f'{step.name}: the idea is {shown}')
            expect(page.count('aria-current="page"') == 1, f'{step.name}: the rail does not mark it')
            rows = re.findall(r'<(del|ins|span) class="row" data-n="(\d+)">(.*?)\n</\1>', page, re.S)
            if not step.over:
                continue
            before = (ROOT / files[step.over]).read_text().split('\n')
            for tag, number, line in rows:
                of = before if tag == 'del' else source
                text = html.unescape(re.sub('<[^>]*>', '', line))
                expect(text.rstrip() == of[int(number) - 1].rstrip(), f'{step.name}: line {number} is {text!r}')
                expect(not re.match(r' *//[<>]|// idea ', text), f'{step.name}: {text!r} is shown as a change')
            new, old = ({re.sub('^.*//[<>].*$', '', line).strip() for line in lines} for lines in (source, before))
            added = {int(number) for tag, number, _ in rows if tag == 'ins'}
            first = next(n for n, line in enumerate(source, 1) if not line.startswith('//'))
            missing = [n for n, line in enumerate(source, 1) if n >= first and n not in added and line.strip() in new - old]
            expect(all(source[n - 1].lstrip().startswith('//') for n in missing), f'{step.name}: lines {missing} are new, but not shown')
            changed += bool(added)
    expect(changed > 80, f'only {changed} steps add lines')
    expect(without_conflicts == {'03_sequential', '06_padded', '09_warp_tiles'}, f'no more conflicts: {without_conflicts}')


def gains_have_bars(site, pages):
    """The overview has each gain that follows from the JSON, with a bar, its size, and its kind."""
    from slides.builder.records import read_record, show
    kinds = set()
    for lab in recorded_labs(site):
        page = pages[f'{lab.name}/versions.html']
        size = re.search(r'<th scope="col">gain <small>at (.*?)</small>', page)[1]
        entries = [e for e in read_record(record_of(lab))['entries']
                   if 'step' in e and e['label'].split(', seed')[0] == html.unescape(size)]
        ms = {e['step']: e['cold']['median_ms'] for e in entries}
        for step in [s for s in lab.steps if s.name in ms and s.over in ms]:
            row = page.split(f'<tr><td><a href="{step.name}.html">')[1].split('</tr>')[0]
            kind, share, said = re.search(r'<td class="gain (\w+)"><span><i style="--w:([0-9.]+)%"></i><b>(.*?)</b>', row).groups()
            gain = ms[step.over] / ms[step.name]
            kinds.add(kind)
            expect(said == show(gain, 'x') and kind == ('none' if 0.985 < gain < 1.015 else 'gain' if gain > 1 else 'loss')
                   and 0 <= float(share) <= 100, f'{step.name}: a gain of {gain:.4f} is {said}, {kind}, {share} %')
    expect(kinds == {'gain', 'loss', 'none'}, f'kinds of gains: {kinds}')


def steps_that_did_not_help_are_apart(site, pages):
    """A page of versions has the path, then the case study, then what did not help."""
    blur = next(lab for lab in site.labs if lab.name == 'blur')
    expect(len(blur.did_not_help) == 3 and set(blur.did_not_help) < set(blur.case_study), f'{blur.did_not_help}')
    before, _, rest = pages['blur/versions.html'].partition('id="case-study"')
    path, (case_study, _, last) = before.rpartition('<table')[2], rest.partition('id="did-not-help"')
    last = last.partition('</table>')[0]
    for step in blur.steps:
        row = f'<a href="{step.name}.html"><code>'
        place = last if step.name in blur.did_not_help else case_study if step.name in blur.case_study else path
        expect([row in part for part in (path, case_study, last)] == [part is place for part in (path, case_study, last)],
               f'{step.name} is in the wrong table')


def figures_are_recorded(site, pages):
    """Rooflines and history: the text of each mark follows from the JSON alone."""
    from slides.builder.records import read_record
    rooflines = 0
    for lab in site.labs:
        page = html.unescape(pages[f'{lab.name}/versions.html'])
        file = ROOT / f'solutions/{lab.name}/measured/h100.profiles.jsonl'
        for f in read_record(file)['entries'] if file.is_file() else []:
            said = (f'{f["step"]}: {f["instructions"] / f["dram_bytes"]:.3g} warp instructions per byte of DRAM, '
                    f'{f["instructions"] / f["us"] / 1e3:.4g} G/s')
            rooflines += said in page
            expect(said in page, f'{lab.name}: the roofline lacks {said!r}')
        file = ROOT / f'solutions/{lab.name}/lectures.jsonl'
        for lecture in read_record(file)['entries'] if file.is_file() else []:
            expect(lecture['source'] in page, f'{lab.name}: no source {lecture["source"]!r}')
            for f in lecture['figures']:
                said = f'{f["version"]} ({f["step"]}): {f["published"]:g} {lecture["unit"]} (history, '
                expect(said in page, f'{lab.name}: the history lacks {said!r}')
    expect(rooflines > 50, f'{rooflines} marks on all rooflines')


def sweeps_are_recorded(site, pages):
    """Each point of a sweep, part of a step and ragged size has the text that follows from the JSON alone."""
    from slides.builder.records import read_record, show
    points = 0
    for lab in site.labs:
        page = html.unescape(pages.get(f'{lab.name}/figures.html', ''))
        for file in (ROOT / f'solutions/{lab.name}/measured').glob('*.sweeps.jsonl'):
            entries = read_record(file)['entries']
            for sweep in [e for e in entries if 'axes' in e]:
                varied = [a['name'] for a in sweep['axes'] if len(a['values']) > 1]
                block = page.split(f'id="sweep-{sweep["sweep"]}"')[1].split('</section>')[0]
                for p in [e for e in entries if e['sweep'] == sweep['sweep'] and 'values' in e]:
                    at = dict(zip((a['name'] for a in sweep['axes']), p['values']))
                    time, place = show(p['median_ms'] / 1e3, 'time'), f'{varied[0]} = {at[varied[0]]}'
                    rate = show(p['bytes'] / p['median_ms'] * 1e3, 'GB/s')
                    tips = [t for t in re.findall(r'aria-label="([^"]*)"', block) if t.startswith(place) and time in t]
                    expect(any('GB/s' not in t or rate in t for t in tips), f'{lab.name}, {sweep["sweep"]}: no mark at {at}: {time}')
                    readout = [r for r in block.split('class="readout"') if f'<p class="placed">{place}</p>' in r]
                    expect(len(readout) == 1 and time in readout[0], f'{lab.name}, {sweep["sweep"]}: {at} is not shown: {time}')
                    points += 1
        for file in (ROOT / f'solutions/{lab.name}/measured').glob('*.limits.jsonl'):
            for p in read_record(file)['entries']:
                expect(show(p['median_ms'] / 1e3, 'time') in page, f'{lab.name}: no time of the part {p["part"]}')
        for file in (ROOT / f'solutions/{lab.name}/measured').glob('*.ragged.jsonl'):
            for at in read_record(file)['entries']:
                said = f'{at["label"]}, {at["class"]}: {show(at["ratio"], "x")} as fast as {at["baseline"]}'
                expect(said in page, f'{lab.name}: the ragged sizes lack {said!r}')
    expect(points > 100, f'{points} points of sweeps')


def guided_is_recorded(site, pages):
    """The analysis and each line's cost agree with the record, which was made with these sources and this emulator."""
    from slides.builder.records import read_record
    from slides.site.builder import recorder
    lines = 0
    for lab in site.labs:
        record = read_record(ROOT / f'solutions/{lab.name}/measured/h200.guided.jsonl')
        expect([s['step'] for s in record['entries']] == [s.name for s in lab.steps], f'{lab.name}: the guided record does not have these steps')
        for step, one in zip(lab.steps, record['entries']):
            expect(one['source'] == recorder.digest(ROOT, step), f'{step.name} has changed: ./lab dev site --record {lab.name}')
            page = html.unescape(pages[f'{lab.name}/{step.name}.html'])
            expect(one['analysis']['says'] in page, f'{step.name}: no sentence about its limit')
            for cause, _ in one['causes']:
                expect(record['words'][cause] in page, f'{step.name}: nothing about {cause}')
            table = page.split('<table id="heat">')[1].split('</table>')[0]
            head = re.findall(r'class="sort">([^<]*)<', table)
            rows = re.findall(r'<tr data-line="([^"]*)">(.*?)</tr>', table)
            cells = [re.findall(r'data-v="([^"]*)"', row) for _, row in rows]
            found = {of: [float(c[head.index(of) - 1]) for c in cells] for of in ('instructions', 'bank conflicts', 'sectors')
                     if of in head}
            of_step = [c for counts in one['lines'].values() for c in counts]
            for name, values in (('instructions', [c[1] for c in of_step]), ('sectors', [c[5] for c in of_step]),
                                 ('bank conflicts', [c[7] - c[8] for c in of_step])):
                wanted = sorted(float(f'{v:.6g}') for v in values)
                expect(sorted(found.get(name, [0.0] * len(values))) == wanted, f'{step.name}: {name} of its lines')
            lines += len(rows)
            for anchor, _ in rows:
                expect(not anchor or f'id="{anchor}"' in page, f'{step.name}: no line {anchor}')
    expect(lines > 1000, f'{lines} lines with counts')
    if not (ROOT / 'build/grader/lab').exists():
        print('not checked: whether the guided records were made with this emulator, because build/grader/lab is not built')
        return
    for name, number in (('reduction', 2), ('transpose', 6)):
        lab = next(lab for lab in site.labs if lab.name == name)
        now, _, _ = recorder.profile(ROOT, lab, lab.steps[number])
        record = read_record(ROOT / f'solutions/{name}/measured/h200.guided.jsonl')
        differ = [key for key in now if now[key] != record['entries'][number][key]]
        expect(not differ, f'{lab.steps[number].name}: {", ".join(differ)} have changed: ./lab dev site --record {name}')


def charts_are_drawn_alike(site, pages):
    """Measured marks are solid and modelled marks outlined, axes have round values, and each mark of a time has its value."""
    from slides.site.builder import charts
    recorded = [lab.name for lab in recorded_labs(site)]
    modelled = 0
    for name, page in pages.items():
        for css, label in re.findall(r'<g class="mark ([^"]*)"[^>]* aria-label="([^"]*)"', page):
            modelled += 'modelled' in css
            expect(('modelled' in css) == ('modelled' in label), f'{name}: {label!r} is drawn as {css!r}')
        if name.endswith('/versions.html') and name.split('/')[0] in recorded:
            section = page.split('class="size"')[1].split('</section>')[0]
            marks, values = section.count('class="mark'), ' '.join(re.findall(r'class="value"[^>]*>([^<]*)<', section))
            written = len(re.findall(r'\d[\d.]* (?:s|ms|µs|ns)', values))
            expect(written == marks > 4 and 'logarithmic axis' in section, f'{name}: {written} values for {marks} marks')
    expect(modelled > 500, f'{modelled} modelled marks')
    expect([charts.tick_text(v, 'time') for v in (0.01, 1, 2e-4, 1.5e-3, 0)] == ['10 ms', '1 s', '200 µs', '1.5 ms', '0'], 'labels of axes')
    found = [charts.round_values(most) for most in (2760, 1, 32, 0.0113)]
    expect([(v[1], len(v)) for v in found] == [(1000, 3), (0.2, 6), (10, 4), (0.005, 3)], f'values of axes: {found}')


def write_code_names_the_command(pages):
    """The tabs of a lab say what a reader does there, and a page that cannot run says how it could."""
    page = pages['reduction/try.html']
    tabs = re.findall(r'<a href="\w+\.html"[^>]*>([^<]*)</a>', page.split('class="oflab"')[1].split('</nav>')[0])
    expect(tabs[:2] == ['Handout', 'Write code'] and tabs[-1] == 'Experiment', f'the tabs are {tabs}')
    command = page.split('class="try-columns"')[0].split('class="try-command"')[1]
    expect('<code>./lab dev site --serve</code>' in command and 'class="try-copy"' in command and 'try-how gap' not in page,
           f'the command: {command}')


def glossary_has_an_index(pages):
    """Each term of the glossary is in the index from A to Z, in order."""
    terms = re.findall(r'^### (.*)', (ROOT / 'labs/glossary.md').read_text(), re.M)
    page = pages['glossary.html']
    before = page.split('<main')[1].split('<h2')[0]
    expect('id="filter"' in before and 'A test checks' not in page and 'explain.cpp' not in page, f'above the terms: {before[:400]}')
    index = page.split('class="a-to-z"')[1].split('</nav>')[0]
    shown = [html.unescape(word) for word in re.findall(r'<a href="#[^"]+">(.*?)</a>', index)]
    expect(sorted(shown) == sorted(term.replace('`', '') for term in terms), f'{len(shown)} of {len(terms)} terms are in the index')
    keys = [word.lstrip('_.').lower() for word in shown]
    expect(keys == sorted(keys), 'the index is not sorted')


def change(file, pattern, new):
    """Replaces the first match of the pattern."""
    text, found = re.subn(pattern, new, file.read_text(), count=1)
    expect(found, f'{file.name} has no {pattern}')
    file.write_text(text)


def broken_records(folder):
    """An unreadable file is named on the pages. Its figures are missing, and the other figures remain."""
    course = copy_of_course(folder)
    measured = course / 'solutions/reduction/measured'
    (measured / 'h200.jsonl').write_text('{"lab": "reduction", ')
    change(measured / 'h100.jsonl', r'"median_ms":[0-9.e-]+', '"median_ms":0')
    change(measured / 'h200.counters.jsonl', r'"kernel":', '"other":')
    shutil.copy(course / 'solutions/matmul/measured/h100.profiles.jsonl', measured / 'h100.profiles.jsonl')
    (course / 'solutions/blur/lectures.jsonl').write_text('[]')
    change(course / 'solutions/transpose/measured/h200.guided.jsonl', r'stepwise/guided/\d+', 'stepwise/guided/9')
    with (course / 'solutions/neighbour/02_soa.cu').open('a') as step:
        step.write('// changed\n')
    (course / 'solutions/launch/measured/h100.sweeps.jsonl').write_text('{"lab": "launch"}\n{"axes": []}\n')
    (course / 'solutions/launch/measured/h100.jsonl').unlink()  # an absent file is not broken
    (course / 'build/slides').mkdir(parents=True)
    for name, age in (('01_first_kernel', 0), ('02_occupancy', 1e6)):
        (course / f'build/slides/{name}.html').write_text('<p>a deck</p>')
        os.utime(course / f'build/slides/{name}.html', (time.time() - age,) * 2)
    (course / 'build/recorded').mkdir()
    for recording in (ROOT / 'build/recorded').glob('*.json'):
        shutil.copy(recording, course / 'build/recorded')
    file = {step: next((course / 'build/recorded').glob(f'reduction-{step}-*.json'))
            for step in ('01_interleaved', '02_strided', '03_sequential', '08_shuffle')}
    good = file['01_interleaved'].read_text()
    file['01_interleaved'].write_text(good.replace('"version":1', '"version":2', 1))
    file['02_strided'].write_text('')
    file['03_sequential'].write_text(good + ' ' * (1 << 20))
    file['08_shuffle'].unlink()
    source = course / 'solutions/transpose/04_tiled.cu'
    source.write_text(source.read_text().replace('__syncthreads();', '__syncthreads() ;'))
    site = build(course)
    pages = all_pages(site.out)
    shutil.rmtree(site.out)
    named = {file.split('/', 1)[1] for file, _ in site.records.gaps}
    expect(named == {'reduction/measured/h200.jsonl', 'reduction/measured/h100.jsonl', 'blur/lectures.jsonl',
                     'launch/measured/h100.sweeps.jsonl', 'transpose/measured/h200.guided.jsonl',
                     'reduction/measured/h200.counters.jsonl', 'reduction/measured/h100.profiles.jsonl',
                     'reduction/recorded.txt', 'transpose/recorded.txt'}, f'gaps: {sorted(named)}')
    steps = {reason.split(':')[0] for file, reason in site.records.gaps if file.endswith('recorded.txt')}
    expect(steps == {'01_interleaved', '02_strided', '03_sequential', '08_shuffle', '04_tiled'}, f'recordings: {steps}')
    expect(not [name for name in pages if re.search(r'reduction/0[1238]_.*-warp|transpose/04_tiled-warp', name)]
           and '02_strided: ' in pages['reduction/02_strided.html'], 'a broken recording has a page, or is not named')
    page = pages['reduction/versions.html']
    for file in ('h200.jsonl', 'h100.jsonl', 'h200.counters.jsonl', 'h100.profiles.jsonl'):
        expect(file in page and file in pages['index.html'], f'{file} is broken, but no page says so')
    expect('measured)' not in page.split('id="history"')[0], 'a broken record gave a time')
    expect(', measured)' in pages['matmul/versions.html'], 'the other labs lost their times')
    expect('lectures.jsonl' in pages['blur/versions.html'] and 'id="history"' not in pages['blur/versions.html'],
           'a broken record gave a history')
    expect('id="heat"' not in pages['transpose/04_tiled.html'] and 'of another version' in pages['transpose/04_tiled.html'],
           'a record of another version gave an analysis')
    expect('is from another source' in pages['neighbour/02_soa.html'] and 'id="heat"' in pages['neighbour/03_shared.html'],
           'counts of a changed source are shown')
    expect([n for n in pages if n.startswith('decks/')] == ['decks/01_first_kernel.html'] and '8 of 9 decks' in pages['lectures.html'],
           'decks: only the deck that is built and up to date may be listed')
    expect('h100.sweeps.jsonl' in pages['launch/figures.html'] and 'id="sweep-' not in pages['launch/figures.html'],
           'a broken record gave a sweep')
    expect('h100.jsonl' not in pages['launch/versions.html'], 'an absent record is called broken')


def students():
    """The pages for students have no answer, no step and no figure of a step. A piece of each is searched for."""
    from slides.site.builder import course
    site = build(ROOT, students=True)
    texts = {str(f.relative_to(site.out)): f.read_text() for f in site.out.rglob('*')
             if f.suffix in ('.html', '.js')}
    dead = dead_links(site.out)
    shutil.rmtree(site.out)
    expect(not dead, f'students: {dead[:3]} lead nowhere')
    everything = '\n'.join(texts.values())
    expect(not [name for name in texts if re.search(r'\d\d_\w+\.html|versions|diff\.html|solutions', name)],
           'students: a page of a step')
    words = html.unescape(re.sub(r'<[^>]*>', '', everything))
    for lab in site.labs:
        expect(f'{lab.name}/index.html' in texts, f'students: no handout of {lab.name}')
        for name, answer in course.answers(ROOT, lab.name).items():
            start = re.sub(r'[*`]', '', answer.split('\n')[0])[:60]
            expect(len(start) < 25 or start not in everything, f'students: the answer to {name}: {start}')
        for step in lab.steps:
            text = (ROOT / step.file).read_text()
            is_skeleton = text.splitlines()[2] in (ROOT / f'labs/{lab.name}/{lab.name}.cu').read_text()
            todo = re.search(r'^ *//> todo.*\n((?: *//.*\n)*)(.*\n.*)\n', text, re.M)
            hidden = todo[2] if is_skeleton else text.splitlines()[2]  # students have the header of the skeleton
            expect(hidden not in words, f'students: {step.name}: {hidden}')
    expect('class="answer"' not in everything, 'students: a folded answer')
    expect('class="warp"' not in everything, 'students: a recorded warp')


def output_folder(folder):
    """A folder with other content is refused. A page that no longer exists is removed, and other files remain."""
    from slides.site.builder.__main__ import LIST, finish, prepare
    from slides.site.builder.errors import SiteError
    (folder / 'mine').write_text('')
    try:
        prepare(folder)
        expect(False, 'a folder that is not empty was accepted')
    except SiteError:
        pass
    (folder / LIST).write_text('old.html\n../outside\n')
    (folder / 'old.html').write_text('')
    outside = folder.parent / 'outside'
    outside.write_text('')
    finish(folder, prepare(folder), ['new.html'])
    expect(not (folder / 'old.html').exists() and (folder / 'mine').exists() and outside.exists(),
           'the output folder: a wrong file was removed')
    expect((folder / LIST).read_text() == 'new.html\n', 'the list of pages is wrong')


def main():
    site = build(ROOT)
    expect(not site.records.gaps, f'a committed record cannot be read: {site.records.gaps}')
    pages = all_pages(site.out)
    every_page(site, pages)
    times_are_recorded(site, pages)
    home_is_recorded(site, pages)
    chapters(site, pages)
    write_code_names_the_command(pages)
    glossary_has_an_index(pages)
    charts_are_drawn_alike(site, pages)
    gains_have_bars(site, pages)
    steps_that_did_not_help_are_apart(site, pages)
    figures_are_recorded(site, pages)
    sweeps_are_recorded(site, pages)
    guided_is_recorded(site, pages)
    shutil.rmtree(site.out)
    students()
    with tempfile.TemporaryDirectory() as folder:
        broken_records(pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'out').mkdir()
        output_folder(pathlib.Path(folder) / 'out')
    print('\n'.join(wrong[:40]) or f'{len(pages)} pages agree with their sources')
    return bool(wrong)


sys.exit(main())
