// The playground: edits a source, lets this machine's server run or grade it, and shows the results line by
// line, the goals, and the differences from the last run. SOURCES comes from the lab's script.
'use strict';
(() => {
  const place = document.querySelector('.playground'), part = (name) => place.querySelector(`.try-${name}`);
  const isLive = place.dataset.live === 'yes', lab = place.dataset.lab;
  const pageNumber = Math.random().toString(36).slice(2);
  const area = part('source'), note = part('note'), from = part('from'), MOST = 256 * 1024;
  const make = (tag, text = '', name = '') => {
    const one = document.createElement(tag);
    one.textContent = text;
    if (name) one.className = name;
    return one;
  };
  const button = (text, act) => { const one = make('button', text); one.type = 'button'; one.addEventListener('click', act); return one; };
  let running = null, last = null;

  // A source in an address is deflated and encoded in base64 for addresses.
  async function through(stream, bytes, most = Infinity) {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), parts = [];
    for (let size = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
      size += value.length;
      if (size > most) { await reader.cancel(); throw new Error('too long'); }
      parts.push(value);
    }
  }
  async function packed(text) {
    const bytes = await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(text));
    return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join('')).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  }
  async function unpacked(word) {
    const bytes = Uint8Array.from(atob(word.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
    return new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), bytes, MOST));
  }

  const time = (ms) => (ms >= 1 ? `${ms.toPrecision(3)} ms` : `${(ms * 1000).toPrecision(3)} µs`);
  const words = (name) => String(name).replace(/_/g, ' ');
  const limit = (said) => (said.analysis.limiter === 'both' ? 'both memory and compute' : said.analysis.limiter);
  const percent = (share) => `${Math.round(share * 100)} %`;

  // The results for each line of the source: {text, bad, share}, and the same for a table.
  function byLine(said) {
    const mine = said.subject.split('/').pop(), lines = new Map();
    const of = (line) => { if (!lines.has(line)) lines.set(line, { texts: [], bad: false, share: 0 }); return lines.get(line); };
    for (const e of said.compile_errors || []) if (e.line) { of(e.line).texts.push(e.message); of(e.line).bad = true; }
    for (const f of said.findings || []) for (const p of f.parties || []) {
      if (p.file.split('/').pop() !== mine || !p.line) continue;
      const at = of(p.line), text = words(f.kind);
      if (!at.texts.includes(text)) at.texts.unshift(text);
      at.bad = at.bad || !f.warning;
    }
    const analysis = said.analysis;
    if (!analysis) return lines;
    const kernel = said.kernels.find((k) => k.kernel === analysis.kernel && String(k.grid) === String(analysis.grid)
      && String(k.block) === String(analysis.block));
    const warps = (counts) => Object.values(counts.instructions || {}).reduce((sum, [n]) => sum + n, 0);
    const all = kernel ? warps(kernel.total) : 0;
    for (const line of kernel ? kernel.lines : []) {
      if (line.file !== mine || !line.line || !all) continue;
      const share = warps(line.counts) / all;
      if (share < 0.005) continue;
      of(line.line).share = share;
      of(line.line).texts.push(`${percent(share)} of instructions`);
    }
    for (const a of analysis.accesses) {
      if (a.file !== mine || !a.wasteful) continue;
      const unit = a.access.startsWith('shared') ? 'wavefronts' : 'sectors';
      of(a.line).texts.push(`${words(a.access)}: ${+a.per_request.toFixed(1)} ${unit}, ideal ${+a.ideal_per_request.toFixed(1)}`);
    }
    for (const s of analysis.stalled_lines) {
      const why = Object.entries(s.stalled).sort((a, b) => b[1] - a[1])[0];
      if (s.file === mine && why && s.share > 0.1) of(s.line).texts.push(`${percent(s.share)} of waiting: ${words(why[0])}`);
    }
    return lines;
  }

  function difference(now, before) {
    const out = [], errors = (s) => (s.class === 'COMPILE' ? null : s.errors);
    if (now.class !== before.class) out.push(`${before.class} before, ${now.class} now`);
    if (errors(now) !== null && errors(before) !== null && errors(now) !== errors(before))
      out.push(`${errors(before)} mistakes found before, ${errors(now)} now`);
    if (now.time_ms && before.time_ms && (now.class === 'PASS' && before.class === 'PASS')) {
      const gain = before.time_ms / now.time_ms;
      out.push(Math.abs(gain - 1) < 0.005 ? `as fast as before (${time(now.time_ms)})`
        : `${(gain > 1 ? gain : 1 / gain).toFixed(2)}x ${gain > 1 ? 'faster' : 'slower'}: ${time(before.time_ms)} before, ${time(now.time_ms)} now`);
    }
    if (now.analysis && before.analysis && now.analysis.limiter !== before.analysis.limiter)
      out.push(`limited by ${limit(before)} before, by ${limit(now)} now`);
    return out.join('; ') || 'no result has changed';
  }

  function verdict(kind, word, text) {
    const head = make('p', '', 'verdict');
    head.append(make('strong', word, kind), ` ${text}`);
    part('answer').replaceChildren(head);
  }

  const MARKS = { true: ['good', '✓', 'reached: '], false: ['bad', '✗', 'missed: '] };
  function setGoal(item, passed, message = '') {
    const [kind, mark, said] = MARKS[passed] || ['', '', ''];
    item.className = kind;
    item.querySelector('.try-mark').textContent = mark;
    item.querySelector('.try-said').textContent = message && said + message;
  }
  const goalItems = () => [...part('goals').children];

  // A run decides the goals on results and findings. All others need a grade.
  function goalsOfRun(said) {
    const known = { correct: said.correct, checks: said.correct && !said.errors };
    for (const item of goalItems()) setGoal(item, known[item.dataset.kind]);
    part('points').textContent = 'Grade counts the points';
  }
  function showGrade(said, seconds) {
    part('details').replaceChildren();
    if (!said.goals || !said.goals.length) {
      verdict('bad', said.class || 'Error', said.error || said.message || '');
      for (const item of goalItems()) setGoal(item);
      return;
    }
    const points = `${said.points} of ${said.max_points} points`;
    verdict(said.points === said.max_points ? 'good' : 'part', points, `in ${seconds.toFixed(1)} s`);
    part('points').textContent = points;
    said.goals.forEach((goal, k) => setGoal(goalItems()[k], goal.passed, goal.message));
  }

  function showRun(said, seconds) {
    const details = part('details');
    details.replaceChildren();
    if (said.error) { verdict('bad', 'Error', said.error); return; }
    const right = said.class === 'PASS' && !said.errors;
    verdict(right ? 'good' : 'bad', right ? 'Right' : said.class,
            (right ? `${said.sizes_right} of ${said.sizes} sizes, ${said.summary}. ` : '')
            + `${seconds.toFixed(1)} s.`);
    goalsOfRun(said);
    if (said.message) details.append(make('pre', said.message, 'said'));
    if (last) details.append(make('p', `Compared with the last try: ${difference(said, last)}.`, 'against'));
    for (const f of said.findings || []) {
      const item = make('div', '', 'finding');
      item.append(make('p', `${f.message}${f.count > 1 ? ` (${f.count} times)` : ''}`));
      for (const p of f.parties || []) {
        if (!p.line) continue;
        const mine = p.file.split('/').pop() === said.subject.split('/').pop();
        const where = mine ? button(`line ${p.line}`, () => editor.go(p.line)) : make('span', `${p.file}:${p.line}`);
        const line = make('p');
        line.append(where, ` ${p.action}: `, make('code', p.text));
        item.append(line);
      }
      if (f.advice) item.append(make('p', f.advice));
      details.append(item);
    }
    if (said.time_ms) {
      const a = said.analysis;
      details.append(make('p', `One call: ${time(said.time_ms)}, ${said.rate}; modelled, ${said.modelled_as}, size ${said.time_size.join(' x ')}.`
        + (right ? '' : ' The result is wrong, so its time means little.'), 'modelled'));
      if (a) details.append(make('p', `${a.kernel} takes ${percent(a.share)} of it and is limited by ${limit(said)}: `
        + `compute ${percent(a.compute)} busy (${a.compute_part}), memory ${percent(a.memory)} (${a.memory_part}); `
        + `occupancy ${percent(a.achieved_occupancy)} of ${percent(a.theoretical_occupancy)}; ${a.lanes.toFixed(1)} of 32 lanes are active.`, 'limited'));
    } else if (said.why_no_time) details.append(make('p', `No time: ${said.why_no_time}`, 'modelled'));
    if (said.printed && said.printed.trim()) details.append(make('p', 'The program printed:'), make('pre', said.printed, 'said'));
    const lines = byLine(said), marks = new Map();
    for (const [n, line] of lines) marks.set(n, { text: line.texts.join('; '), bad: line.bad, share: line.share });
    editor.marks(marks);
    if (!lines.size) return;
    const table = make('table'), scroll = make('div', '', 'scroll');
    const row = (tag, cells) => { const r = make('tr'); cells.forEach((c) => { const d = make(tag); d.append(c); r.append(d); }); return r; };
    table.append(make('caption', 'Line by line'), row('th', ['Line', 'Results']));
    for (const [n, line] of [...lines].sort((a, b) => a[0] - b[0])) table.append(row('td', [button(String(n), () => editor.go(n)), line.texts.join('; ')]));
    scroll.tabIndex = 0;
    scroll.setAttribute('role', 'group');
    scroll.setAttribute('aria-label', 'Line by line');
    scroll.append(table);
    details.append(scroll);
  }

  // Asks the server: path is /try or /grade. A second press stops the run.
  async function ask(path, pressed, waiting, show) {
    if (running) { running.abort(); return; }
    running = new AbortController();
    const began = performance.now(), name = pressed.textContent;
    pressed.textContent = 'Stop';
    verdict('', waiting, last ? '' : 'The first time, the lab may have to be built, which takes a minute or two.');
    let said;
    try {
      const reply = await fetch(path, {
        method: 'POST', signal: running.signal, headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ lab, source: area.value, page: pageNumber }),
      });
      said = await reply.json();
    } catch (e) {
      said = { error: e.name === 'AbortError' ? 'Stopped.'
        : 'The server does not answer. Is ./lab dev site --serve still running?' };
    }
    running = null;
    pressed.textContent = name;
    show(said, (performance.now() - began) / 1000);
    place.dataset.tries = Number(place.dataset.tries || 0) + 1;
    return said;
  }
  async function run() {
    const said = await ask('/try', part('run'), 'Compiling, checking, counting …', showRun);
    if (said && !said.error) last = said;
  }
  const grade = () => ask('/grade', part('grade'), 'Grading …', showGrade);

  async function share() {
    const address = new URL(location.href);
    address.hash = 'try=' + await packed(area.value);
    history.replaceState(null, '', address);
    let copied = 'The address of this page now holds your source.';
    try { await navigator.clipboard.writeText(address.href); copied += ' The address has been copied.'; } catch (e) { /* not allowed: the address bar shows it */ }
    note.textContent = copied;
  }

  async function copyCommand() {
    const command = place.querySelector('.try-command code');
    try {
      await navigator.clipboard.writeText(command.textContent);
      part('copy').textContent = 'Copied';
    } catch (e) {  // not allowed: the selection can be copied with a key
      getSelection().selectAllChildren(command);
      part('copy').textContent = 'Selected';
    }
  }
  part('copy').addEventListener('click', copyCommand);

  const restore = () => editor.set(SOURCES[from.value]);
  if (isLive) {
    part('how').hidden = true;
    for (const [name, act] of [['run', run], ['grade', grade], ['restore', restore]]) {
      part(name).hidden = false;
      part(name).addEventListener('click', act);
    }
    area.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      run();
    });
    note.textContent = 'Ctrl+Enter runs; Tab leaves the editor.';
  }
  const chosen = decodeURIComponent(location.hash.slice(1));  // try.html#02_strided
  if (Object.hasOwn(SOURCES, chosen)) from.value = chosen;
  area.value = SOURCES[from.value];
  area.readOnly = !isLive;
  const editor = window.makeEditor(area, () => {});
  from.addEventListener('change', restore);
  part('share').addEventListener('click', share);
  const shared = location.hash.match(/^#try=([\w-]+)$/);
  if (shared) {
    unpacked(shared[1]).then((text) => {
      editor.set(text);
      note.textContent = 'This source is from a link. Nothing has run yet.';
    }, () => { note.textContent = 'The source in this address cannot be read.'; });
  }
})();
