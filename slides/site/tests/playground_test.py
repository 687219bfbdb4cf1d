"""Tests the playground in headless Chromium, with the real compiler, emulator and sandbox: a reader who edits, gets
a race, fixes it and becomes faster, and hostile sources. Skipped (77) without Chromium, a built course or a complete
sandbox."""
import contextlib
import json
import pathlib
import shutil
import sys
import threading
import time

from setting import AXE, ROOT, browser, build, need

need(chromium=True, program=True)
from slides.site.builder import serve  # noqa: E402

wrong = []
TRIES = "Number(document.querySelector('.playground').dataset.tries || 0)"
ANSWER = "['answer', 'details'].map((part) => document.querySelector('.try-' + part).innerText).join(' ')"
# The code above and below the kernel of each hostile source. The runner calls the function `reduce`.
HEAD = '#include "labs/reduction/reduction.hpp"\n#include <stdio.h>\n#include <unistd.h>\n'
HOST = 'void reduce(const int* in, int* out, int* scratch, int n) {\n%s\n}\n'
HOSTILE = {
    'reads a file': HEAD + HOST % '  FILE* f = fopen("%s", "r"); puts(f ? "READ IT" : "no such file"); fflush(stdout);'
                    % (ROOT / 'solutions/reduction/answers.md'),
    'writes script': HEAD + HOST % '  puts("<img src=x onerror=\\"document.title=1\\"><script>document.title=2</script>\\x1b[2J"); fflush(stdout);',
    'forks': HEAD + HOST % '  for (int i = 0; i < 5000; ++i) if (fork() == 0) for (;;) pause();',
    'loops for ever': HEAD + '__global__ void k(volatile int* p) { while (p[0] == p[0]) {} }\n' + HOST % '  k<<<1, 1>>>(out);',
    'floods': HEAD + HOST % '  for (;;) puts("flood flood flood flood flood flood flood");',
    'includes a solution': '#include "solutions/reduction/03_sequential.cu"\n',
}


def expect(holds, what):
    if not holds:
        wrong.append(what)


def attempt(page, text, pressed='run'):
    """Returns the answer for this source, and the seconds that it took."""
    before, began = page.run(TRIES), time.monotonic()
    page.run(f'''(() => {{ const a = document.querySelector('.try-source'); a.value = {json.dumps(text)};
        a.dispatchEvent(new Event('input')); document.querySelector('.try-{pressed}').click(); }})()''')
    while page.run(TRIES) == before and time.monotonic() < began + 60:
        time.sleep(0.05)
    return page.run(ANSWER), time.monotonic() - began


def course_of_a_reader(page, address):
    """A reader edits, gets a race, fixes it and becomes faster. Also tests the link and the Tab key."""
    page.go(address)
    page.go(address.split('?')[0] + 'reduction/try.html#02_strided')
    slow = page.run("document.querySelector('.try-source').value")
    expect(slow == (ROOT / 'solutions/reduction/02_strided.cu').read_text(), 'the editor has the wrong source')
    raced, _ = attempt(page, slow.replace('    __syncthreads();  // outside', '    // outside'))
    line = 1 + slow[:slow.index('partial[left] += ')].count('\n')
    expect('two threads of a block access partial[' in raced and f'line {line}' in raced, f'a race: {raced[:300]}')
    marked = page.run(f"document.querySelector('.ed-notes').children[{line - 1}].textContent")
    expect(marked.startswith('race'), f'next to the line of the race: {marked!r}')
    right, seconds = attempt(page, slow)
    expect(right.startswith('Right 21 of 21') and 'bank' not in raced[:9] and 'found before, 0 now' in right, f'fixed: {right[:300]}')
    expect('shared load: 3.9 wavefronts, ideal 1' in page.run("document.querySelector('.ed-notes').textContent"),
           'no bank conflicts next to the lines')
    fast, more = attempt(page, (ROOT / 'solutions/reduction/03_sequential.cu').read_text())
    expect('x faster: ' in fast and 'modelled, NVIDIA H200' in fast and 'limited by' in fast, f'faster: {fast[:400]}')
    print(f'{seconds:.1f} s and {more:.1f} s from Run to the answer')
    goals = "[...document.querySelectorAll('.try-goals li')].map((goal) => goal.className)"
    expect(page.run(goals)[:3] == ['good', 'good', ''], f'goals of a right source: {page.run(goals)}')
    graded, seconds = attempt(page, slow, 'grade')
    expect('of 100 points' in graded and {'good', 'bad'} == set(page.run(goals)), f'a grade: {graded[:300]} {page.run(goals)}')
    print(f'{seconds:.1f} s from Grade to the points')
    bad, _ = attempt(page, 'void reduce(\n')
    expect(bad.startswith('COMPILE'), f'does not compile: {bad[:80]}')
    text = '// \u00e4 < & "\n' * 3
    page.run(f"document.querySelector('.try-source').value = {json.dumps(text)}; document.querySelector('.try-share').click()")
    time.sleep(0.3)
    link = page.run('location.href')
    page.go('about:blank#')
    page.go(link)
    time.sleep(0.3)
    expect(page.run("document.querySelector('.try-source').value") == text, 'the link has the wrong source')
    expect(page.run(TRIES) == 0, 'opening a link runs its source')
    page.run("document.querySelector('.try-source').focus()")
    page.send('Input.dispatchKeyEvent', type='keyDown', key='Tab', code='Tab', windowsVirtualKeyCode=9)
    expect(page.run("document.activeElement.className") != 'try-source', 'Tab does not leave the editor')
    return link


def accessible(page):
    page.send('Emulation.setDeviceMetricsOverride', width=360, height=900, deviceScaleFactor=1, mobile=False)
    expect(page.run('document.documentElement.scrollWidth') <= 360, 'the editor is wider than a phone')
    for theme in ('light', 'dark') if AXE.is_file() else ():
        page.run(f"document.documentElement.dataset.theme = '{theme}'")
        page.run(AXE.read_text() + '; 0')
        found = page.run('''axe.run(document, {resultTypes: ['violations'], preload: false}).then((r) =>
            r.violations.filter((v) => ['serious', 'critical'].includes(v.impact))
             .map((v) => `${v.id}: ${v.nodes[0].target.join(' ')}`))''')
        expect(not found, f'{theme}: {found}')


def hostile(page, tries):
    """No hostile source reaches a file, keeps running or becomes markup, and the next reader is served."""
    title = page.run('document.title')
    for what, text in HOSTILE.items():
        said, seconds = attempt(page, text)
        expect(said and 'Right' not in said[:6] and 'READ IT' not in said, f'{what}: {said[:300]}')
        expect(seconds < 60, f'{what}: {seconds:.0f} s')
        print(f'{what}: {said[:60]!r}, {seconds:.1f} s')
    expect(page.run('document.title') == title and not page.run("document.querySelector('.try-side img, .try-side script')"),
           'the output of a program became markup')
    expect(not tries.running and not tries.pages, 'a hostile source is still running')


def from_disk(page, site, link):
    """From disk, the same page is read-only, and shows the source of a link."""
    page.go(f'{site.out.as_uri()}/reduction/try.html')
    expect('./lab dev site --serve' in page.run("document.querySelector('.try-how').innerText"), 'the page does not say how to make it live')
    copied = page.run('''new Promise((done) => { document.querySelector('.try-copy').click();
        setTimeout(() => done([document.querySelector('.try-copy').textContent, String(getSelection())]), 200); })''')
    expect(copied in (['Copied', ''], ['Selected', './lab dev site --serve']), f'the command is not copied: {copied}')
    expect(page.run("document.querySelector('.try-source').readOnly"), 'a source on a static page can be edited')
    page.go('about:blank#')
    page.go(f'{site.out.as_uri()}/reduction/try.html#' + link.split('#')[1])
    time.sleep(0.3)
    expect(page.run("document.querySelector('.try-source').readOnly && document.querySelector('.try-source').checkVisibility()"),
           'the source of a link is not shown, or not read-only')
    expect(not page.run("document.querySelector('.try-run').checkVisibility()"), 'a static page has a button that runs')


def students(page, address):
    """The site for students begins with the skeleton, and has the same judge."""
    page.go(address)
    page.go(address.split('?')[0] + 'reduction/try.html')
    text = page.run("document.querySelector('.try-source').value")
    expect(text == (ROOT / 'labs/reduction/reduction.cu').read_text(), f'students begin with {text[:200]}')
    said, _ = attempt(page, text)
    expect(said.startswith('WRONG') and 'no other element was added' in said, f'the skeleton: {said[:300]}')


def words_of(cmdline):
    try:
        return cmdline.read_bytes()
    except OSError:
        return b''


@contextlib.contextmanager
def served(tries, for_students=False):
    """Yields a site and its address."""
    site = build(ROOT, for_students)
    server = serve.bound(0, site.out, site.written, [lab.name for lab in site.labs], tries)
    threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()
    try:
        yield site, server.address()
    finally:
        server.shutdown()
        server.server_close()
        shutil.rmtree(site.out)


def main():
    tries = serve.Tries(ROOT, False)
    lacks = tries.missing()
    if lacks:
        print(f'skipped: {lacks}')
        return 77
    tries.built.add('reduction')  # the test's own dependencies are built
    try:
        with browser.Browser() as chromium, served(tries) as (site, address), served(tries, True) as (_, theirs):
            page = chromium.open((site.out / 'index.html').as_uri())
            link = course_of_a_reader(page, address)
            accessible(page)
            hostile(page, tries)
            students(page, theirs)
            from_disk(page, site, link)
            own = tuple('network request: ' + one.split('?')[0] for one in (address, theirs))
            wrong.extend(one for one in page.trouble() if not one.startswith(own) and 'about:' not in one)
    finally:
        tries.end_all()
    ours = str(ROOT).encode()  # another clone may be running as well
    left = [words for words in map(words_of, pathlib.Path('/proc').glob('[0-9]*/cmdline'))
            if words.startswith(ours) and b'reduction\0--file\0' in words]
    expect(not left, f'processes are left: {left}')
    print('\n'.join(wrong) or 'the playground works')
    return bool(wrong)


sys.exit(main())
