// Plays recorded warps (grader/JSON.md, "Recorded warps"). The recordings are in recorded/STEP.js. A
// recording that you compare with the page's own is loaded as a script, which works from disk, too.
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const root = $('warp'), own = root.dataset.name;
  const lanes = [...Array(32).keys()];
  const inMask = (mask, l) => (mask >>> l) & 1;
  const count = (mask) => lanes.filter((l) => inMask(mask, l)).length;

  // A row as 32 signed numbers, and the allocation in which they are offsets, if any.
  function decode(r, n, bytes) {
    let rule = r.rows[n], area = -1;
    if (typeof rule === 'object' && !Array.isArray(rule)) { area = rule.in; rule = rule.row; }
    if (typeof rule === 'number') return {area, v: lanes.map(() => rule)};
    if (typeof rule === 'string') {
      const raw = Uint8Array.from(atob(rule), (c) => c.charCodeAt(0)), view = new DataView(raw.buffer);
      const width = raw.length / 32;
      const read = {1: (o) => view.getInt8(o), 2: (o) => view.getInt16(o, true), 4: (o) => view.getInt32(o, true),
                    8: (o) => Number(view.getBigInt64(o, true))}[width];
      return {area, v: lanes.map((l) => read(l * width)), view: width === 8 ? view : null};
    }
    const [a, b, p = 32, c = 0] = rule;
    return {area, v: lanes.map((l) => a + b * (l % p) + c * Math.floor(l / p))};
  }
  const bits = new DataView(new ArrayBuffer(8));
  function shown(r, row, type, l) {
    const v = row.v[l];
    if (type === 'pred') return inMask(v, l) ? 'true' : 'false';
    if (row.area >= 0) return r.areas[row.area].name + (v ? (v < 0 ? ' - ' : ' + ') + Math.abs(v) : '');
    if (type === 'f32') { bits.setInt32(0, v); return String(Number(bits.getFloat32(0).toPrecision(6))); }
    if (type === 'f64') {
      if (row.view) return String(Number(row.view.getFloat64(8 * l, true).toPrecision(6)));
      bits.setBigInt64(0, BigInt(v)); return String(Number(bits.getFloat64(0).toPrecision(6)));
    }
    return String(type === 'u32' ? v >>> 0 : v);
  }

  // An mbarrier's use in words, as barrier_text() in common/report/recording.cpp has it.
  function barrierText(r, b) {
    let name = b.at < r.shared_bytes ? `at ${b.at}` : 'of another block';
    for (const v of r.variables) {
      if (b.at >= v.offset && b.at < v.offset + v.bytes) name = v.name + (b.at === v.offset ? '' : ` + ${b.at - v.offset}`);
    }
    const what = {begins: 'initialised', arrives: 'arrived', passes: 'the wait succeeded'}[b.use] || 'the wait failed';
    const missing = [];
    if (b.arrivals) missing.push(`${b.arrivals} arrival${b.arrivals === 1 ? '' : 's'}`);
    if (b.bytes) missing.push(`${b.bytes} bytes`);
    return `mbarrier ${name}: ${what}; its phase of parity ${b.parity} waits for ${missing.join(' and ')}`;
  }

  function sentence(r, s) {
    const i = r.instructions[s.i], mask = s.m ?? 0xffffffff, active = s.a ?? mask;
    let text = i.file === undefined ? '' : `line ${i.line}: `;
    text += `${count(active)} of 32 lanes active` + (active === mask ? '' : ` (${count(mask)} here)`);
    for (const x of s.x || []) {
      text += `, ${x.space} ${x.kind}`;
      if (x.counted === false) continue;
      const unit = x.space === 'shared' ? 'wavefront' : 'sector';
      text += `, ${x.n} ${unit}${x.n === 1 ? '' : 's'}` + (x.ideal === undefined ? '' : ` (ideally ${x.ideal})`);
    }
    for (const b of s.b || []) text += `, ${barrierText(r, b)}`;
    return text;
  }

  // The parts between barriers, each as its first step.
  function parts(r) {
    const first = [0];
    r.steps.forEach((s, n) => {
      if (/^(@\S+ )?bar(rier)?\./.test(r.instructions[s.i].ptx) && n + 1 < r.steps.length) first.push(n + 1);
    });
    return first;
  }

  const make = (tag, css, text) => {
    const e = document.createElement(tag);
    if (css) e.className = css;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  function banks(r, s, x) {
    const at = decode(r, x.at, 8), mask = x.lanes ?? s.a ?? s.m ?? 0xffffffff, stack = lanes.map(() => new Map());
    for (const l of lanes) {
      if (!inMask(mask, l)) continue;
      for (let k = 0; k < Math.max(4, x.bytes); k += 4) {
        const word = Math.floor((at.v[l] + k) / 4), bank = stack[word % 32];
        bank.set(word, [...(bank.get(word) || []), l]);
      }
    }
    const high = Math.max(1, ...stack.map((b) => b.size)), grid = make('div', 'grid banks');
    grid.setAttribute('role', 'img');
    grid.setAttribute('aria-label', `32 banks; at most ${high} different words in one`);
    for (let k = 0; k < high; k++) {
      for (const b of lanes) {
        const word = [...stack[b]][k];
        const cell = make('div', word ? `cell word${stack[b].size > 1 ? ' clash' : ''}` : 'cell');
        if (word) cell.title = `bank ${b}, word ${word[0]}: lane ${word[1].join(', ')}`;
        grid.append(cell);
      }
    }
    return grid;
  }

  function sectors(r, s, x) {
    const at = decode(r, x.at, 8), mask = x.lanes ?? s.a ?? s.m ?? 0xffffffff, touched = new Map();
    for (const l of lanes) {
      if (!inMask(mask, l)) continue;
      for (let k = 0; k < x.bytes; k++) {
        const sector = Math.floor((at.v[l] + k) / 32);
        if (!touched.has(sector)) touched.set(sector, new Set());
        touched.get(sector).add(Math.floor((((at.v[l] + k) % 32) + 32) % 32 / 4));
      }
    }
    const all = make('div', 'sectors'), name = at.area >= 0 ? r.areas[at.area].name : x.space;
    all.tabIndex = 0;
    all.setAttribute('role', 'group');
    all.setAttribute('aria-label', `Sectors of 32 bytes of ${name}`);
    for (const [sector, words] of [...touched].sort((a, b) => a[0] - b[0])) {
      const e = make('div', 'sector', `${name} + ${32 * sector}`), row = make('div');
      for (let w = 0; w < 8; w++) row.append(make('i', words.has(w) ? 'on' : ''));
      e.append(row);
      all.append(e);
    }
    return all;
  }

  // The words of shared memory that have been written up to this step, and by which warp.
  function tile(r, n) {
    const words = Math.ceil(r.shared_bytes / 4), by = new Map(), now = new Set();
    let least = words, most = -1;
    const put = (word, whose) => { by.set(word, whose); least = Math.min(least, word); most = Math.max(most, word); };
    for (let k = 0; k <= n; k++) {
      const s = r.steps[k];
      for (const [warp, first, number, stride = 1] of s.f || [])
        for (let w = 0; w < number; w++) put(first + w * stride, `warp ${warp}`);
      for (const x of s.x || []) {
        if (x.space !== 'shared') continue;
        const at = decode(r, x.at, 8), mask = x.lanes ?? s.a ?? s.m ?? 0xffffffff;
        for (const l of lanes) {
          if (!inMask(mask, l)) continue;
          for (let b = 0; b < Math.max(4, x.bytes); b += 4) {
            const word = Math.floor((at.v[l] + b) / 4);
            if (x.stored) put(word, 'own');
            if (k === n) now.add(word);
          }
        }
      }
    }
    return {words, by, now};
  }

  function drawTile(r, n) {
    const {words, by, now} = tile(r, n), box = make('div', 'tile'), grid = make('div', 'grid');
    const rows = Math.min(128, Math.ceil(words / 32));
    box.tabIndex = 0;
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', `Shared memory: ${by.size} of ${words} words written`);
    for (let w = 0; w < 32 * rows; w++) {
      const whose = by.get(w), cell = make('div', 'cell');
      if (whose) cell.classList.add(whose === 'own' ? 'own' : 'other');
      if (now.has(w)) cell.classList.add('touched');
      if (whose) cell.title = `word ${w}: ${whose === 'own' ? 'this warp' : whose}`;
      grid.append(cell);
    }
    box.append(grid);
    return box;
  }

  class Side {
    constructor(name) {
      this.name = name;
      this.r = window.WARPS[name];
      this.parts = parts(this.r);
      this.at = -1;
      this.root = make('section', 'player');
      this.root.setAttribute('aria-label', name);
      this.title = make('h2', '', name);
      this.said = make('p', 'sentence');
      this.source = make('pre');
      this.ptx = make('pre');
      for (const [e, label] of [[this.source, 'Source'], [this.ptx, 'PTX']]) {
        e.tabIndex = 0;
        e.setAttribute('role', 'group');
        e.setAttribute('aria-label', label);
      }
      this.view = make('div');
      this.values = make('details');
      this.values.append(make('summary', '', 'Registers written'));
      this.values.addEventListener('toggle', () => this.registers());
      this.root.append(this.title, this.said, this.source, this.ptx, this.view, this.values);
    }

    show(n) {
      if (n === this.at) return;
      this.at = n;
      const r = this.r, s = r.steps[n], i = r.instructions[s.i];
      const mask = s.m ?? 0xffffffff, active = s.a ?? mask;
      this.sentence = `instruction ${n + 1} of ${r.steps.length}, ${sentence(r, s)}`;
      this.said.textContent = this.sentence;
      this.source.textContent = '';
      if (i.file !== undefined) {
        for (const [number, text] of Object.entries(r.files[i.file].lines)) {
          const line = make('span', Number(number) === i.line ? 'now' : '', `${number.padStart(4)}  ${text}`);
          this.source.append(line);
          if (line.className) line.setAttribute('aria-current', 'true');
        }
        const now = this.source.querySelector('.now');
        if (now) this.source.scrollTop = now.offsetTop - this.source.offsetTop - 60;
      }
      this.ptx.textContent = '';
      for (let k = Math.max(0, n - 2); k <= Math.min(r.steps.length - 1, n + 2); k++)
        this.ptx.append(make('span', k === n ? 'now' : '', r.instructions[r.steps[k].i].ptx));
      this.view.textContent = '';
      if (i.note) this.view.append(make('p', 'hint', i.note));
      const row = make('div', 'grid lanes');
      row.setAttribute('role', 'img');
      row.setAttribute('aria-label', `Lanes: ${count(active)} active`);
      for (const l of lanes) {
        const cell = make('div', 'cell lane' + (inMask(active, l) ? ' on' : inMask(mask, l) ? ' here' : ''));
        cell.title = `lane ${l}`;
        row.append(cell);
      }
      this.view.append(make('h3', '', 'Lanes'), row);
      for (const x of s.x || []) {
        const cost = x.counted === false ? 'no access in the machine code' : `${x.n} ${x.space === 'shared' ? 'wavefronts' : 'sectors'}`;
        this.view.append(make('h3', '', `${x.space === 'shared' ? 'Banks' : 'Sectors'}: ${x.kind}, ${cost}`),
                         x.space === 'shared' ? banks(r, s, x) : sectors(r, s, x));
      }
      if (r.shared_bytes) this.view.append(make('h3', '', 'Shared memory, a column for each bank'), drawTile(r, n));
      this.registers();
    }

    registers() {
      this.values.querySelector('.scroll')?.remove();
      if (!this.values.open || this.at < 0) return;
      const r = this.r, s = r.steps[this.at], i = r.instructions[s.i], active = s.a ?? s.m ?? 0xffffffff;
      const box = make('div', 'scroll'), table = make('table');
      const head = table.createTHead().insertRow();
      for (const t of ['lane', ...(s.v ? i.writes.map((w) => w[0]) : [])]) {
        const th = make('th', '', t);
        th.scope = 'col';
        head.append(th);
      }
      const rows = (s.v || []).map((n, k) => decode(r, n, i.writes[k][1]));
      const body = table.createTBody();
      for (const l of s.v ? lanes : []) {
        const line = body.insertRow();
        line.insertCell().textContent = l;
        rows.forEach((row, k) => { line.insertCell().textContent = inMask(active, l) ? shown(r, row, i.writes[k][1], l) : '–'; });
      }
      if (!s.v) box.append(make('p', '', 'This instruction writes no registers, or their values are not known.'));
      else box.append(table);
      box.tabIndex = 0;
      box.setAttribute('role', 'group');
      box.setAttribute('aria-label', 'Registers');
      this.values.append(box);
    }
  }

  let sides = [new Side(own)], line = [], timer = 0;
  const scrub = $('scrub');

  // The positions of all sides at each moment.
  function plan() {
    line = [];
    const byPhase = sides.length > 1 && $('sync').value === 'phase';
    const cuts = sides.map((s) => (byPhase ? s.parts : [0]));
    const phases = Math.max(...cuts.map((c) => c.length));
    for (let p = 0; p < phases; p++) {
      const range = sides.map((s, k) => [cuts[k][p] ?? s.r.steps.length - 1, (cuts[k][p + 1] ?? s.r.steps.length) - 1]);
      const length = Math.max(...range.map(([a, b]) => b - a + 1));
      for (let n = 0; n < length; n++) line.push(range.map(([a, b]) => Math.min(a + n, Math.max(a, b))));
    }
    scrub.max = line.length;
    show(Math.min(Number(scrub.value), line.length));
  }

  function show(n) {
    scrub.value = n;
    line[n - 1].forEach((at, k) => sides[k].show(at));
    const said = sides.map((s) => (sides.length > 1 ? `${s.name}: ` : '') + s.sentence).join('. ');
    scrub.setAttribute('aria-valuetext', said);
    if (!timer) $('said').textContent = said;
  }
  // Finds the next access, on any side, that costs more than it must. After the end, it starts again.
  const wasteful = (s) => (s.x || []).some((x) => x.counted !== false && x.ideal !== undefined);
  function next() {
    stop();
    const isSo = (at) => at.some((n, k) => wasteful(sides[k].r.steps[n]));
    const here = Number(scrub.value), found = [...line.slice(here), ...line.slice(0, here)].findIndex(isSo);
    if (found >= 0) show((here + found) % line.length + 1);
    else $('said').textContent = 'No access costs more than it must.';
  }
  // The address may end with an instruction's number.
  function linked() {
    const n = Number(location.hash.slice(1));
    if (n >= 1 && n <= line.length) { stop(); show(n); }
  }
  const move = (by) => show(Math.min(line.length, Math.max(1, Number(scrub.value) + by)));

  function stop() {
    clearInterval(timer);
    timer = 0;
    $('play').textContent = 'Play';
  }
  function play() {
    if (timer) { stop(); return; }
    if (Number(scrub.value) === line.length) show(1);
    $('play').textContent = 'Stop';
    timer = setInterval(() => {
      if (Number(scrub.value) < line.length) move(1);
      else if ($('loop').checked) show(1);
      else stop();
    }, 1000 / Number($('speed').value));
  }

  function beside(name) {
    const set = () => {
      sides = [sides[0], ...(name ? [new Side(name)] : [])];
      $('synced').hidden = !name;
      $('sides').classList.toggle('two', !!name);
      $('sides').replaceChildren(...sides.map((s) => s.root));
      plan();
    };
    if (!name || window.WARPS[name]) { set(); return; }
    const script = document.createElement('script');
    script.src = `recorded/${name}.js`;
    script.onload = set;
    document.head.append(script);
  }

  $('first').onclick = () => show(1);
  $('back').onclick = () => { stop(); move(-1); };
  $('on').onclick = () => { stop(); move(1); };
  $('play').onclick = play;
  $('wasteful').onclick = next;
  $('speed').onchange = () => { if (timer) { stop(); play(); } };
  $('beside').onchange = (e) => beside(e.target.value);
  $('sync').onchange = plan;
  scrub.oninput = () => { stop(); show(Number(scrub.value)); };
  document.addEventListener('keydown', (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const widget = e.target.closest('input:not(#scrub), select, summary, button');
    if (e.key === ' ' && !widget) play();
    else if (e.key === 'w' && !widget) next();
    else if (e.key === 'ArrowRight' && !e.target.closest('select')) { stop(); move(1); }
    else if (e.key === 'ArrowLeft' && !e.target.closest('select')) { stop(); move(-1); }
    else if (e.key === 'Home' && !widget) { stop(); show(1); }
    else if (e.key === 'End' && !widget) { stop(); show(line.length); }
    else return;
    e.preventDefault();
  });
  $('sides').append(sides[0].root);
  plan();
  linked();
  window.addEventListener('hashchange', linked);
})();
