"""Drives a built deck in Chromium like a speaker, and describes each problem in a sentence.

It goes forwards through every slide and fragment from the speaker's window. The audience's window must follow.
Notes, next slide and plan must be right, fit, and be readable. Then it tests the way back with the key, the
overview and the printed pages.
"""
import pathlib
import re
import tempfile
import time

from slides.builder import check

STATE = """[now, step, [...document.querySelectorAll('main > .shown .fragment')]
  .map((f) => getComputedStyle(f).visibility === 'visible').lastIndexOf(true) + 1,
  [...document.querySelectorAll('main > .shown .fragment')]
  .filter((f) => getComputedStyle(f).visibility === 'visible').length]"""
SPEAKER = """[now, step, document.querySelector('#speaker .text').innerHTML,
  (document.querySelectorAll('#speaker .view')[1].querySelector('h1') || {}).innerHTML || '',
  document.querySelector('#speaker .plan').textContent,
  document.querySelector('#speaker .text').scrollHeight - document.querySelector('#speaker .text').clientHeight]"""

# Text of the speaker's window with too little contrast to read, in either colour of the slides.
DIM = '(() => {' + check.CONTRAST + """
  const texts = document.createTreeWalker(document.querySelector('#speaker'), NodeFilter.SHOW_TEXT), found = [];
  for (const colour of ['dark', 'light']) {
    document.documentElement.dataset.theme = colour;
    while (texts.nextNode()) {
      const e = texts.currentNode.parentElement, what = texts.currentNode.textContent.trim().slice(0, 30);
      if (what && !e.closest('.notes') && contrast(e) < 4.5) found.push(`${contrast(e).toFixed(1)} in ${colour}: "${what}"`);
    }
    texts.currentNode = texts.root;
  }
  return found;
})()"""


def states(page):
    """Returns every (slide, fragments shown) of a deck, in the order in which they must appear."""
    counts = page.run("slides.map((s) => s.querySelectorAll('.fragment').length)")
    return [(i, k) for i, n in enumerate(counts) for k in range(n + 1)]


def misplaced(page, state):
    """Returns a sentence if a deck is not at (slide, fragments), with only the first fragments visible."""
    now, step, last, shown = page.run(STATE)
    return ([] if (now, step) == state and last == shown == step else
            [f'slide {now + 1} with {shown} fragments, expected {state[0] + 1} with {state[1]}'])


def back(page):
    page.key('End')
    for n, state in enumerate(states(page)[::-1]):
        if n:
            page.key('ArrowLeft')
        wrong = misplaced(page, state)
        if wrong:
            return ['back: ' + wrong[0]]
    return []


def overview(page):
    count = page.run('slides.length')
    page.key('o')
    shown = page.run("slides.filter((s) => getComputedStyle(s).display !== 'none').length")
    page.run('slides[slides.length - 1].click()')
    now = page.run('now')
    page.key('Home')
    return [] if (shown, now) == (count, count - 1) else [f'overview: {shown} of {count} slides, then slide {now + 1}']


def wait_for(what):
    for _ in range(200):
        found = what()
        if found:
            return found
        time.sleep(0.004)
    return None


def speaker(chromium, page):
    slides = page.run("slides.map((s) => [s.querySelector('.notes').innerHTML, s.querySelector('h1').innerHTML, "
                      "Number(s.dataset.minutes)])")
    before = {t['targetId'] for t in chromium.pages()}
    page.key('s')
    new = wait_for(lambda: [t for t in chromium.pages() if t['targetId'] not in before and t['url'].endswith('#speaker')])
    if not new:
        return ["the speaker's window does not open"]
    window = chromium.attach(new[0]['targetId'])
    wait_for(lambda: window.run("document.readyState === 'complete' && !!document.querySelector('#speaker .view .slide')"))
    window.send('Emulation.setDeviceMetricsOverride', width=1280, height=800, deviceScaleFactor=1, mobile=False)
    wrong, due = [], states(page)
    for n, (now, step) in enumerate(due):
        if n:
            window.key('ArrowRight')  # the speaker leads, the audience follows
        if not wait_for(lambda: page.run('[now, step]') == [now, step]):  # pylint: disable=cell-var-from-loop
            return wrong + [f"the audience's window does not follow to slide {now + 1}, fragment {step}"]
        wrong += ['forwards: ' + w for w in misplaced(page, (now, step))]
        seen = window.run(SPEAKER)
        minutes = sum(m for _, _, m in slides[:now + 1])
        after = slides[due[n + 1][0]][1] if n + 1 < len(due) else ''
        if (seen[2], seen[3]) != (slides[now][0], after):
            wrong.append(f'speaker, slide {now + 1}: wrong notes, or the wrong next slide')
        if f'leave at {int(minutes)}:{round(minutes % 1 * 60):02d} ' not in seen[4]:
            wrong.append(f'speaker, slide {now + 1}: {seen[4]}, expected {minutes:g} minutes')
        if seen[5] > 2 and step == 0:
            wrong.append(f'speaker, slide {now + 1}: the notes are {seen[5]} px too long for a window of 1280 x 800')
        if step == 0:
            wrong += [f'speaker, slide {now + 1}: contrast {what}' for what in window.run(DIM)[:3]]
    if not re.fullmatch(r'\d+:\d\d', window.run("document.querySelector('#speaker .time').textContent")):
        wrong.append('the timer shows no time')
    wrong += window.trouble()
    window.send('Page.close')
    return wrong


def printed(page):
    """The print has one page of 1280 x 720 (960 x 540 points) per slide, with every fragment, dark or light."""
    wrong, count = [], page.run('slides.length')
    page.send('Emulation.setEmulatedMedia', media='print')
    if not page.run("[...document.querySelectorAll('.fragment')].every((f) => getComputedStyle(f).visibility === 'visible')"):
        wrong.append('printing hides a fragment')
    page.send('Emulation.setEmulatedMedia', media='')
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'deck.pdf'
        page.pdf(file)
        data = file.read_bytes()
    pages, sizes = len(re.findall(rb'/Type\s*/Page\b', data)), set(re.findall(rb'/MediaBox \[[^]]*\]', data))
    if pages != count or sizes != {b'/MediaBox [0 0 960 540]'}:
        wrong.append(f'printing: {pages} pages for {count} slides, {sizes}')
    return wrong


def everything(chromium, page):
    return speaker(chromium, page) + back(page) + overview(page) + printed(page) + page.trouble()
