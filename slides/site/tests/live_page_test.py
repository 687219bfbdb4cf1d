"""Tests the pages that run kernels: in Chromium, from disk, they run, react to input, and make no request."""
import json
import pathlib
import shutil
import sys

from setting import AXE, ROOT, browser, build, need

from slides.site.live import build as live

NUMBERS = [3, -1, 4, 1, -5, 9, 2, 6]  # the values that a page starts with
wrong = []


def expect(holds, what):
    if not holds:
        wrong.append(what)


def main():
    need(chromium=True)
    gone = {live.missing(ROOT, lab) for lab in live.steps()} - {''}
    if gone:
        print(f'skipped: {" ".join(sorted(gone))} python3 slides/site/live/build.py')
        sys.exit(77)
    site = build(ROOT)
    ready = '''new Promise((done) => {
        const look = () => (/in this page|whole number|at most|stopped|too old/.test(
            document.querySelector('#live-status').textContent) ? done(document.querySelector('#live').innerText
            + document.querySelector('#live-status').textContent) : setTimeout(look, 50));
        setTimeout(look, 400);
    })'''
    typed = '(k, v) => { const f = document.querySelector("#live-form").elements[k]; f.value = v; ' \
            'for (const e of ["input", "change"]) f.dispatchEvent(new Event(e, {bubbles: true})); }'
    try:
        with browser.Browser() as chromium:
            page = chromium.open((site.out / 'reduction/live.html').as_uri())

            def words_shown(**fields):
                for name, value in fields.items():
                    page.run(f'({typed})({json.dumps(name.replace("_", "-"))}, {json.dumps(value)})')
                return page.run(ready)

            def press(selector):
                page.run(f'document.querySelector({json.dumps(selector)}).click()')
                return page.run(ready)

            sums = [sum((NUMBERS * (n // 8 + 1))[:n]) for n in (65537, 1000)]
            first = words_shown()
            expect(first.count(f'Right {sums[0]}') == 2, f'the first run of reduction: {first[:600]}')
            expect('none left' in first, f'03_sequential has bank conflicts: {first[:600]}')
            heat = page.run("[...document.querySelectorAll('#live-source-a .live-cost')].filter((e) => e.textContent).length")
            expect(heat > 5, f'{heat} lines have a cost')
            zeros = page.run("[...document.querySelectorAll('.live-card')].filter((e) => "
                             "[...e.querySelectorAll('b')].every((b) => b.textContent === '0')).length")
            expect(not zeros, f'{zeros} costs are 0 in both versions')
            raced = press('#live-source-a .live-barrier')
            expect('race: two threads' in raced and page.run("document.querySelectorAll('#live-source-a .bad').length") > 1,
                   f'a removed barrier: {raced[:600]}')
            expect('race: two' not in press('#live-source-a .live-barrier'), 'the barrier that is put back still misses')
            small = words_shown(step_b='10_one_launch', n='1000')
            expect(small.count(f'Right {sums[1]}') == 2, f'10_one_launch: {small[:600]}')
            expect('Wrong element 0' in press('#live-tries button'), 'the experiment is right')
            expect('a whole number from 1' in words_shown(n='0'), 'n = 0 is accepted')
            expect('at most 1024 threads' in words_shown(n='5', block_x_a='1024', block_y_a='2'), '2048 threads are accepted')
            page.go((site.out / 'reduction/live.html').as_uri() + '?linked#08_shuffle')
            expect('08_shuffle' == page.run(ready + '.then(() => document.querySelector("[name=step-b]").value)'),
                   'a link to a version does not choose it')
            for lab in ('matmul', 'transpose'):
                page.go((site.out / f'{lab}/live.html').as_uri())
                expect((text := words_shown()).count('Right all') == 2, f'{lab}: {text[:600]}')
            page.go((site.out / 'matmul/live.html').as_uri())
            stopped = press('#live-tries button')
            cards = page.run("document.querySelectorAll('.live-card').length")
            expect('Stopped' in stopped and 'stopped: not comparable' in stopped and not cards,
                   f'a run that stopped has {cards} cards of costs: {stopped[:600]}')
            waiting = page.run("document.querySelector('#live-tries button').click(), "
                               "document.querySelector('#live-verdict-a').innerText")
            expect(waiting == 'Running …', f'before the first result: {waiting!r}')
            if AXE.is_file():
                page.run(AXE.read_text() + '; 0')
                found = page.run('axe.run(document, {resultTypes: ["violations"], preload: false}).then((r) => r.violations.filter('
                                 '(v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + v.nodes[0].target))')
                expect(not found, f'axe: {found}')
            page.send('Emulation.setDeviceMetricsOverride', width=360, height=900, deviceScaleFactor=1, mobile=False)
            wide = page.run('document.documentElement.scrollWidth')
            expect(wide <= 360, f'{wide} pixels wide on a phone of 360')
            for name in sys.argv[1:]:
                if not name.startswith('-'):
                    page.picture(pathlib.Path(name))
            wrong.extend(sorted(set(page.trouble())))
    finally:
        shutil.rmtree(site.out)
    sys.exit('\n'.join(wrong[:20]) if wrong else 0)


main()
