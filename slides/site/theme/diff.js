// Shows the differences between two versions, side by side. versions.js holds all lines, with colours,
// and the differences between any two versions, so nothing is compared here.
'use strict';
(() => {
  const CONTEXT = 3;

  function opcodes(from, to) {
    const pair = VERSIONS.pairs[`${from}|${to}`];
    if (pair) return pair;
    const back = VERSIONS.pairs[`${to}|${from}`];
    if (back) return back.map(([same, a, b, c, d]) => [same, c, d, a, b]);
    const n = VERSIONS.lines[from].length;
    return [[1, 0, n, 0, n]];
  }

  function side(version, line, css) {
    const e = document.createElement('div');
    e.className = `side ${css}`;
    if (line === null) { e.classList.add('none'); return e; }
    e.dataset.n = VERSIONS.numbers[version][line] || '';
    e.innerHTML = VERSIONS.table[VERSIONS.lines[version][line]] || ' ';
    return e;
  }

  function row(from, a, to, b, same) {
    const e = document.createElement('div');
    e.className = same ? 'row same' : 'row';
    e.append(side(from, a, same ? '' : 'gone'), side(to, b, same ? '' : 'new'));
    return e;
  }

  function show(into, from, to) {
    into.textContent = '';
    const head = document.createElement('div');
    head.className = 'row head';
    for (const name of [from, to]) {
      const e = document.createElement('div');
      e.className = 'side';
      e.textContent = name;
      head.append(e);
    }
    into.append(head);
    const codes = opcodes(from, to);
    codes.forEach(([same, a, b, c, d], k) => {
      if (!same) {
        const hunk = document.createElement('div');  // on a phone: the old lines, then the new lines
        hunk.className = 'hunk';
        for (let i = 0; i < Math.max(b - a, d - c); i++)
          hunk.append(row(from, a + i < b ? a + i : null, to, c + i < d ? c + i : null, false));
        into.append(hunk);
        return;
      }
      const before = k ? CONTEXT : 0, after = k + 1 < codes.length ? CONTEXT : 0;
      const hidden = b - a - before - after;
      const lines = (x, y) => {
        const part = document.createDocumentFragment();
        for (let i = x; i < y; i++) part.append(row(from, a + i, to, c + i, true));
        return part;
      };
      if (hidden < 4) { into.append(lines(0, b - a)); return; }
      into.append(lines(0, before));
      const more = document.createElement('button');
      more.type = 'button';
      more.className = 'more';
      more.textContent = `${hidden} identical lines`;
      more.addEventListener('click', () => more.replaceWith(lines(before, before + hidden)));
      into.append(more, lines(b - a - after, b - a));
    });
  }

  const factor = (value) => (value < 10 ? value.toFixed(2)
    : value < 1000 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString('en'));

  // The times of both versions on the first GPU, and at the first size, that has both.
  function showTimes(into, from, to) {
    const both = VERSIONS.times.find(({seconds}) => seconds[from] && seconds[to]);
    if (!both) { into.textContent = 'No times of both versions are recorded.'; return; }
    const [[before, shownBefore], [after, shownAfter]] = [both.seconds[from], both.seconds[to]];
    const gain = document.createElement('strong');
    gain.textContent = `${factor(before / after)}x`;
    into.replaceChildren(gain, ` ${from}: ${shownBefore} → ${to}: ${shownAfter} (measured, ${both.on})`);
  }

  // Links to the previous and the next version of the path, each compared with the one that it changes.
  function showNeighbours(to) {
    const names = VERSIONS.path.includes(to) ? VERSIONS.path : VERSIONS.names;
    const at = names.indexOf(to);
    for (const [id, name, before, after] of [['previous', names[at - 1], '← ', ''],
                                             ['next', names[at + 1], '', ' →']]) {
      const link = document.getElementById(id), over = VERSIONS.over[name];
      link.hidden = !over;
      link.href = `#${over}..${name}`;
      link.textContent = `${before}${name}${after}`;
    }
  }

  const into = document.getElementById('diff');
  const from = document.getElementById('from'), to = document.getElementById('to');
  const ideas = document.getElementById('ideas');
  function draw() {
    show(into, from.value, to.value);
    showTimes(document.getElementById('times'), from.value, to.value);
    showNeighbours(to.value);
    const codes = opcodes(from.value, to.value).filter(([same]) => !same);
    const gone = codes.reduce((n, [, a, b]) => n + b - a, 0), added = codes.reduce((n, [, , , c, d]) => n + d - c, 0);
    ideas.textContent = codes.length ? `Lines removed: ${gone}. Lines added: ${added}.` : 'The two versions are identical.';
  }
  function read() {
    const [a, b] = decodeURIComponent(location.hash.slice(1)).split('..');
    if (VERSIONS.lines[a] && VERSIONS.lines[b]) { from.value = a; to.value = b; }
    draw();
  }
  function chosen() {
    history.replaceState(null, '', `#${from.value}..${to.value}`);
    draw();
  }
  from.addEventListener('change', chosen);
  to.addEventListener('change', chosen);
  document.getElementById('swap').addEventListener('click', () => {
    [from.value, to.value] = [to.value, from.value];
    chosen();
  });
  addEventListener('hashchange', read);
  read();
})();
