// Theme, hover values and cards, the choice of a size, search. Pages can be read without this script, too.
'use strict';
(() => {
  const root = document.documentElement;
  const all = (what, where = document) => [...where.querySelectorAll(what)];

  document.getElementById('theme').addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    try { localStorage.setItem('theme', root.dataset.theme); } catch (e) { /* a page from a file may not be allowed to */ }
  });

  // The text of a mark or a term, shown next to it, by pointer or by keyboard. Escape closes it.
  const tip = document.getElementById('tip');
  let described = null;  // the element whose text is shown
  const hide = () => { tip.classList.remove('shown'); described = null; };
  function say(element) {
    described = element;
    tip.textContent = element.dataset.card || element.getAttribute('aria-label');
    tip.classList.add('shown');
    const at = element.getBoundingClientRect(), box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left + at.width / 2 - box.width / 2), innerWidth - box.width - 8);
    const above = at.top - box.height - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : at.bottom + 8}px`;
  }
  const has = (event) => event.target.closest && event.target.closest('.mark, [data-card]');
  document.addEventListener('mouseover', (e) => (has(e) ? say(has(e)) : hide()));
  document.addEventListener('focusin', (e) => (has(e) ? say(has(e)) : hide()));
  document.addEventListener('scroll', () => described && say(described), { passive: true, capture: true });
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') hide();
    if (e.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      e.preventDefault();
      document.querySelector('header input').focus();
    }
  });

  // A chart is one stop of the Tab key; arrows go from mark to mark.
  window.reachMarks = (plot) => {
    const marks = all('.mark', plot);
    if (!marks.length) return;
    marks[0].setAttribute('tabindex', '0');
    plot.addEventListener('keydown', (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      const now = marks.indexOf(document.activeElement);
      if (!step || now < 0) return;
      e.preventDefault();
      const next = marks[(now + step + marks.length) % marks.length];
      marks[now].setAttribute('tabindex', '-1');
      next.setAttribute('tabindex', '0');
      next.focus();
    });
  };
  all('.plot').forEach(window.reachMarks);

  const size = document.getElementById('size');
  if (size) {
    const choose = () => all('section.size').forEach((s) => { s.hidden = s.dataset.size !== size.value; });
    size.addEventListener('change', choose);
    choose();
  }

  // If the contents of a handout are not next to its text, they are folded (site.css has the width).
  const contents = document.querySelector('.contents');
  if (contents && !matchMedia('(min-width: 68rem)').matches) contents.open = false;

  // On a phone, the links of the header scroll; the current one is in view.
  for (const link of all('header [aria-current], .oflab [aria-current]')) {
    const list = link.closest('ul');
    list.scrollLeft = link.offsetLeft - list.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
  }

  addEventListener('load', () => {
    const results = document.getElementById('results');
    if (!results || typeof SEARCH === 'undefined') return;
    const asked = (new URLSearchParams(location.search).get('q') || '').toLowerCase().trim();
    const words = asked.split(/\s+/).filter(Boolean);
    document.querySelector('header input').value = asked;
    const count = document.getElementById('count');
    if (!words.length) { count.textContent = 'Type what you are looking for into the field above.'; return; }
    const starts = (text, word) => text.startsWith(word) || text.includes(` ${word}`);
    // A section whose title is what you asked for comes first. Glossary terms come before other sections.
    function named(entry) {
      const title = entry.t.toLowerCase(), isTerm = entry.u.startsWith('glossary.html');
      if ([title, `${title}s`].includes(asked) || title === `${asked}s`) return isTerm ? 80 : 60;
      const score = title.startsWith(asked) ? 20 : starts(title, asked) ? 10 : 0;
      return score && isTerm ? score + 10 : score;
    }
    // All words must occur. They count most in a title, and more at the start of a word than inside a word.
    const found = [];
    for (const entry of SEARCH) {
      const title = `${entry.t} ${entry.p}`.toLowerCase(), text = entry.x.toLowerCase();
      const scores = words.map((w) => (starts(title, w) ? 8 : title.includes(w) ? 4 : 0)
        + (starts(text, w) ? 2 : text.includes(w) ? 1 : 0));
      if (scores.every(Boolean)) found.push([scores.reduce((a, b) => a + b) + named(entry), entry]);
    }
    found.sort((a, b) => b[0] - a[0]);
    count.textContent = `${found.length} ${found.length === 1 ? 'section' : 'sections'} for “${asked}”`
      + (found.length > 40 ? '; the first 40' : '');
    for (const [, entry] of found.slice(0, 40)) {
      const item = document.createElement('li'), link = document.createElement('a');
      link.href = entry.u;
      link.textContent = entry.t === entry.p ? entry.t : `${entry.t} (${entry.p})`;
      const at = Math.max(0, entry.x.toLowerCase().indexOf(words[0]) - 60);
      const text = document.createElement('p');
      text.textContent = (at ? '… ' : '') + entry.x.slice(at, at + 220) + (entry.x.length > at + 220 ? ' …' : '');
      item.append(link, text);
      results.append(item);
    }
  });
})();
