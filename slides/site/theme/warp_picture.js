// Draws an instruction of a recorded warp: 32 lanes on top, and below them the banks or sectors
// that they access. Instructions of asynchronous units have views of their own (warp_units.js).
'use strict';
(() => {
  const W = window.Warp;

  const make = (tag, css, text) => {
    const e = document.createElement(tag);
    if (css) e.className = css;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const percent = (part) => `${100 * part}%`;
  // The hue of item k of n: from blue through purple to orange.
  const hue = (k, n) => Math.round(255 + (n > 1 ? 150 * k / (n - 1) : 0));

  const svg = (tag, attributes) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
  };
  // A drawing that fills its element, in units of its own. Screen readers get the text next to it.
  const drawing = (width, height) => svg('svg', {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'});
  const rect = (into, css, place) => into.append(svg('rect', {class: css, ...place}));

  // An element that names lanes: pointing at it highlights their curves.
  function naming(e, lanes, tip) {
    e.classList.add('mark');
    e.dataset.lanes = lanes.join(' ');
    e.dataset.tip = tip;
    return e;
  }

  // The curves from lanes to places: [{lane, from, to, color, alone}]. Positions are parts of the
  // width. If a place is wider than a lane, and the lane is alone there, the curve is a band.
  function curves(links) {
    const all = drawing(1000, 100);
    all.classList.add('curves');
    for (const {lane, from, to, color, alone} of links) {
      const [x, left, right] = [1000 * (lane + 0.5) / 32, 1000 * from, 1000 * to];
      const wide = alone && to - from > 1.01 / 32, middle = (left + right) / 2;
      const path = svg('path', {class: wide ? 'band' : 'curve', 'data-lane': lane, d: wide
        ? `M${x} 0C${x} 55 ${left} 45 ${left} 100L${right} 100C${right} 45 ${x} 55 ${x} 0`
        : `M${x} 0C${x} 55 ${middle} 45 ${middle} 100`});
      path.style.setProperty('--hue', color);
      all.append(path);
    }
    return all;
  }

  // The banks, and below them a row for each wavefront, with the words that it transfers.
  function banksOf(r, a) {
    const {count, cells} = W.wavefronts(a), box = make('div', 'banks');
    for (const b of W.lanes) box.append(make('span', 'head', b));
    const rows = make('div', 'waves');
    rows.style.setProperty('--rows', count);
    for (const cell of cells) {
      const e = make('div', 'word');
      e.style.cssText = `left: ${percent(cell.bank / 32)}; width: ${percent(cell.width / 32)}; `
        + `top: ${percent(cell.wave / count)}; height: ${percent(1 / count)}; `
        + `--hue: ${hue(cell.wave, count)}`;
      e.dataset.wave = cell.wave;
      rows.append(naming(e, cell.lanes, `wavefront ${cell.wave + 1} of ${count}: `
        + `bank ${cell.bank}, ${W.placeOf(r, 4 * cell.word)}, ${W.list(cell.lanes)}`));
    }
    box.append(rows);
    const links = cells.flatMap((c) => c.lanes.map((lane) => (
      {lane, from: c.bank / 32, to: (c.bank + c.width) / 32, color: hue(c.wave, count),
       alone: c.lanes.length === 1})));
    return {box, links, said: `32 banks, ${count} wavefront${count === 1 ? '' : 's'}`,
            title: 'Banks of shared memory', note: 'a row of words for each wavefront'};
  }

  // The position of a byte of line k of n. The lines are next to each other, with gaps.
  function xOf(k, n, byte) {
    const gap = n > 1 ? Math.min(0.01, 0.12 / n) : 0;
    return (k + byte / 128 * (1 - gap * n) + gap * n / 2) / n;
  }
  // A sector and its words. If there are many lines, the words would be too narrow to see.
  function sectorOf(sector, name, many) {
    if (!sector) return make('div', 'sector unused');
    const e = make('div', 'sector'), lanes = [...sector.lanes];
    for (let w = 0; w < (many ? 1 : 8); w++)
      e.append(make('i', many || sector.words.has(w) ? 'used' : ''));
    return naming(e, lanes, `${name}: ${W.list(lanes)}; ${sector.words.size} of 8 words used`);
  }
  // The name of line k of n. If there are many, only the first and the last one have names.
  function nameOf(name, k, n) {
    const e = make('span', 'at', name), right = n > 4 && k === n - 1;
    e.style[right ? 'right' : 'left'] = right ? 0 : percent(xOf(k, n, 0));
    e.style.maxWidth = percent(n > 4 ? 0.48 : 0.96 / n);
    return e;
  }
  function sectorsOf(r, a) {
    const found = W.lines(a), n = found.length, box = make('div', n > 4 ? 'lines many' : 'lines');
    found.forEach(({line, sectors}, k) => {
      sectors.forEach((sector, s) => {
        const e = sectorOf(sector, W.offset(a.area, 128 * line + 32 * s), n > 8);
        e.style.cssText = `left: ${percent(xOf(k, n, 32 * s))}; --hue: ${hue(k, n)}; `
          + `width: ${percent(xOf(k, n, 32) - xOf(k, n, 0))}`;
        box.append(e);
      });
      if (n <= 4 || k === 0 || k === n - 1) box.append(nameOf(W.offset(a.area, 128 * line), k, n));
    });
    const links = a.lanes.map((lane) => {
      const k = found.findIndex(({line}) => line === Math.floor(a.at[lane] / 128));
      const byte = a.at[lane] - 128 * found[k].line;
      const alone = a.at.indexOf(a.at[lane]) === a.at.lastIndexOf(a.at[lane]);
      return {lane, from: xOf(k, n, byte), to: xOf(k, n, byte + a.bytes), color: hue(k, n), alone};
    });
    const touched = found.flatMap(({sectors}) => sectors.filter(Boolean)).length;
    return {box, links, said: `${touched} sectors in ${n} lines`,
            title: `Sectors of ${a.space} memory`,
            note: '32 bytes each; a colour for each 128-byte line'};
  }

  // Draws an access below the row of lanes, and gives the lanes the colours of their curves.
  function accessView(r, a, row) {
    const view = (a.space === 'shared' ? banksOf : sectorsOf)(r, a), box = make('div', 'view');
    for (const {lane, color} of view.links) row.children[lane].style.setProperty('--hue', color);
    box.classList.toggle('uncounted', !a.counted);
    const title = make('p', 'title');
    title.append(make('b', '', view.title), ` ${view.note}`);
    view.box.setAttribute('role', 'group');
    view.box.setAttribute('aria-label', view.said);
    box.append(curves(view.links), view.box, title);
    return box;
  }

  // A shuffle: the lanes again, and a curve from each lane to those that get its value.
  function shuffleView(found) {
    const box = make('div', 'view'), row = make('div', 'lanes'), title = make('p', 'title');
    for (const l of W.lanes) {
      const source = found.from.find(([lane]) => lane === l)?.[1];
      const cell = make('div', `cell receiver ${source === undefined ? 'idle' : 'on'}`, l);
      row.append(source === undefined ? cell
        : naming(cell, [source], `lane ${l} gets the value of lane ${source}`));
    }
    const links = found.from.filter(([l, from]) => l !== from).map(([l, from]) => (
      {lane: from, from: l / 32, to: (l + 1) / 32, color: hue(0, 1)}));
    title.append(make('b', '', 'The lanes afterwards,'),
                 ' each with a curve from the lane whose value it gets');
    box.append(curves(links), row, title);
    return box;
  }

  // Shared memory, a column for each bank, as far as the block has stored to it. With more rows
  // than this, the cells would be too small to see.
  const mostRows = 128;
  function memoryView(r, n) {
    const rows = Math.ceil(r.shared_bytes / 128), box = make('div', 'view memory');
    if (!rows || rows > mostRows) {
      box.append(make('p', 'nothing', 'no memory access'));
      return box;
    }
    const all = drawing(32, rows), stored = W.stored(r, n);
    all.style.setProperty('--rows', rows);
    for (const [word, own] of stored)
      rect(all, own ? 'own' : 'other', {x: word % 32 + 0.04, y: Math.floor(word / 32) + 0.06,
                                        width: 0.92, height: 0.88});
    const title = make('p', 'title');
    title.append(make('b', '', 'Shared memory so far,'),
                 ` a column for each bank: ${stored.size} of ${r.shared_bytes / 4} words, stored `
                 + 'by the recorded warp ', make('i', 'own'), ' or by others ', make('i', 'other'));
    box.append(title, all);
    return box;
  }

  function lanesOf(r, s, all) {
    const row = make('div', 'lanes plot'), mask = W.maskOf(s), active = W.activeOf(s);
    const values = W.written(r, s);
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', `Lanes: ${W.lanesOf(active).length} active`);
    for (const l of W.lanes) {
      const on = W.inMask(active, l), state = on ? 'on' : W.inMask(mask, l) ? 'here' : 'idle';
      const does = {on: 'active', here: 'excluded by the guard', idle: 'idle'}[state];
      const writes = on ? values.map((w) => `; ${w.name} = ${w.texts[l]}`).join('') : '';
      const reads = on ? all.map((a) => `; ${W.addressOf(r, a, l)}`).join('') : '';
      const cell = make('div', `cell lane ${state}`, l);
      row.append(naming(cell, [l], `lane ${l}: ${does}${reads}${writes}`));
    }
    window.reachMarks(row);
    return row;
  }
  const mostValues = 4;  // registers of a lane that are shown; hovering shows all
  function valuesOf(r, s) {
    const box = make('div', 'values'), written = W.written(r, s);
    for (const {name, texts} of written.slice(0, mostValues)) {
      const row = make('div', 'lanes');
      for (const text of texts) row.append(make('span', '', text));
      box.append(make('p', 'title', `${name} =`), row);
    }
    if (!written.length) box.append(make('p', 'title', 'This instruction writes no register.'));
    return box;
  }

  function viewOf(r, n, access, row) {
    const s = r.steps[n], i = r.instructions[s.i];
    if (access) return accessView(r, access, row);
    if (s.b) return W.barriersView(r, n);
    if (W.is.copy(i)) return W.copyView(r, n);
    if (W.is.product(i)) return W.productView(r, n);
    const shuffle = W.is.shuffle(i) ? W.shuffleOf(r, n) : null;
    if (shuffle) return shuffleView(shuffle);
    return r.steps.some((step) => step.b) ? W.barriersView(r, n) : memoryView(r, n);
  }

  // The picture of step n. If the step has several accesses, it shows number `which`.
  function picture(r, n, which, withValues) {
    const s = r.steps[n], all = W.accesses(r, s), box = make('div', 'picture');
    const row = lanesOf(r, s, all);
    box.append(row);
    if (withValues) box.append(valuesOf(r, s));
    box.append(viewOf(r, n, all[which], row));
    const point = (lanes) => {
      box.classList.toggle('pointed', lanes.length > 0);
      for (const one of box.querySelectorAll('path'))
        one.classList.toggle('chosen', lanes.includes(one.dataset.lane));
    };
    const named = (e) => e.target.closest('[data-lanes]')?.dataset.lanes.split(' ') || [];
    for (const kind of ['mouseover', 'focusin'])
      box.addEventListener(kind, (e) => point(named(e)));
    for (const kind of ['mouseleave', 'focusout']) box.addEventListener(kind, () => point([]));
    return box;
  }

  Object.assign(W, {make, percent, hue, drawing, rect, picture});
})();
