"""Finds problems for a person in the last row: overflow, truncated code, small text, weak contrast."""
from . import browser

# Computes the contrast of an element's text to its background, as WCAG defines it. A chart's text has a fill.
CONTRAST = r'''
  const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const luminance = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((a, v, i) => a + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const contrast = (e) => {
    const style = getComputedStyle(e);
    const a = luminance(parse(e.closest('svg') ? style.fill : style.color)), b = luminance(behind(e));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
'''

# Runs in the page. Checks every slide with all fragments shown, in both themes. Returns the problems.
SCRIPT = r'''
(() => {
  const wrong = [];
''' + CONTRAST + r'''
  for (const theme of ['light', 'dark']) {
    document.documentElement.dataset.theme = theme;
    slides.forEach((slide, i) => {
      show(i, 999, false);
      slide.style.transform = 'none';
      const where = `slide ${i + 1} "${slide.querySelector('h1').textContent}"`;
      const body = slide.querySelector('.body'), limit = slide.querySelector('footer').getBoundingClientRect().top;
      const said = new Set();
      const say = (what) => { if (!said.has(what)) { said.add(what); wrong.push(`${where}: ${what}`); } };
      if (theme === 'light') {
        for (const e of body.querySelectorAll('*')) {
          const r = e.getBoundingClientRect();
          if (!r.width || !r.height) continue;
          if (r.bottom > limit + 1) say(`reaches ${Math.round(r.bottom - limit)} px into the footer (${e.tagName.toLowerCase()})`);
          if (r.right > 1280 - 40) say(`reaches ${Math.round(r.right - 1240)} px beyond the right margin (${e.tagName.toLowerCase()})`);
          if (e.tagName === 'PRE' && e.scrollWidth > e.clientWidth + 1) say(`a line of code is cut (${e.scrollWidth - e.clientWidth} px)`);
        }
        const source = slide.querySelector('.source'), number = slide.querySelector('.number');
        if (source.getBoundingClientRect().right > number.getBoundingClientRect().left - 10) say('the sources do not fit one line');
        if (number.getBoundingClientRect().right > 1225) say('the number of the slide is pushed out');
      }
      const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const e = texts.currentNode.parentElement;
        if (!texts.currentNode.textContent.trim() || e.closest('.notes')) continue;
        const style = getComputedStyle(e), svg = e.closest('svg');
        const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
        if (svg && theme === 'light') {
          const r = e.getBoundingClientRect(), box = svg.getBoundingClientRect();
          if (r.right > box.right + 1 || r.left < box.left - 1 || r.bottom > box.bottom + 1)
            say(`text of a chart is cut: "${texts.currentNode.textContent.trim().slice(0, 30)}"`);
        }
        const size = parseFloat(style.fontSize) * scale;
        if (size < 23.9 && !e.closest('sup, sub')) say(`text of ${size.toFixed(0)} px: "${texts.currentNode.textContent.trim().slice(0, 30)}"`);
        const ratio = contrast(e);
        if (ratio < 4.5) say(`contrast ${ratio.toFixed(1)} in ${theme}: "${texts.currentNode.textContent.trim().slice(0, 30)}"`);
      }
    });
  }
  return wrong;
})()
'''


def layout(file):
    """The layout problems of a built deck, one sentence each."""
    with browser.Browser() as chromium:
        return layout_of(chromium.open(file.resolve().as_uri()))


def layout_of(page):
    return page.run(SCRIPT) + page.trouble()


def format_of(deck):
    """The missing parts of a lecture of 90 minutes (DESIGN.md), one sentence each."""
    wrong = []
    if not 35 <= len(deck.slides) <= 50:
        wrong.append(f'{len(deck.slides)} slides; 35 to 50 make a lecture')
    if not 80 <= deck.minutes <= 92:
        wrong.append(f'{deck.minutes:g} minutes in the notes; 80 to 92 make a lecture')
    if not any('class="exercise"' in s.html for s in deck.slides) or not deck.commands:
        wrong.append('no exercise with a ./lab command')
    for number, slide in enumerate(deck.slides, 1):
        where = f'slide {number} "{slide.title}"'
        if slide.minutes is None or not slide.notes_html.strip():
            wrong.append(f'{where}: no notes ("??? minutes", then what to say)')
        if slide.early:
            wrong.append(f'{where}: shown before the room has answered: {slide.early[0]!r} (put ". . ." above it)')
        has = any(mark in slide.html for mark in ('<pre', '<svg', '<img', 'class="ask"', '<table', '?'))
        if not has and slide.kind not in ('title', 'section') and '?' not in slide.title:
            wrong.append(f'{where}: no question, figure or code')
    return wrong
