// Draws what the asynchronous units do for a recorded warp: a tile that TMA copies, the operands of
// a wgmma, the phases of mbarriers.
'use strict';
(() => {
  const W = window.Warp, {make, percent} = W;

  // Eight rows of eight 16-byte chunks. `chunkAt(row, place)` is the chunk of the box there.
  function chunks(title, chunkAt) {
    const figure = make('figure', 'chunks'), grid = make('div', 'grid');
    figure.append(make('figcaption', '', title), grid);
    for (let row = 0; row < 8; row++) {
      for (let place = 0; place < 8; place++) {
        const chunk = chunkAt(row, place), cell = make('span', 'chunk', chunk);
        cell.style.setProperty('--hue', W.hue(chunk, 8));
        cell.dataset.tip = `row ${row}, chunk ${chunk}`;
        grid.append(cell);
      }
    }
    return figure;
  }

  // A box of a matrix, and its tile in shared memory. In the 128-byte swizzle, chunk i of row r is
  // stored at i ^ (r mod 8), as in labs/gemm/wgmma.hpp.
  function copyView(r, n) {
    const c = W.copyOf(r, n), swizzled = W.swizzleOf(r) === 128, box = make('div', 'view copy');
    const place = c.at === null ? 'shared memory' : W.placeOf(r, c.at);
    const tiles = make('div', 'tiles'), arrow = make('span', 'arrow', '→');
    const both = [chunks('The box in the matrix, in order', (row, at) => at)];
    if (swizzled) both.push(arrow, chunks(`${place}, 128-byte swizzle`, (row, at) => at ^ row));
    tiles.append(...(c.toShared ? both : both.reverse()));
    const rows = c.bytes ? `8 of ${c.bytes / 128} rows` : '8 rows';
    box.append(tiles, make('p', 'hint', `These are ${rows} of 128 bytes. A cell is a chunk of 16 `
      + `bytes, four banks wide. ${swizzled ? 'In shared memory, a column is spread over all banks.'
        : 'The recording does not hold the layout of the tile in shared memory.'}`));
    return box;
  }

  function operand(css, name, text) {
    const e = make('div', `operand ${css}`);
    e.append(make('b', '', name), make('span', '', text));
    return e;
  }
  function placeOfOperand(r, d) {
    if (!d) return 'its descriptor was made before the recording began';
    return `at ${W.placeOf(r, d.at)}, ${d.swizzle ? `${d.swizzle}-byte swizzle` : 'no swizzle'}`;
  }
  // The quarter of a tile of a that a wgmma reads, if its descriptor is known.
  function slices(quarter) {
    const box = make('div', 'slices');
    for (let k = 0; k < 4; k++) box.append(make('i', k === quarter ? 'now' : ''));
    box.dataset.tip = `columns ${16 * quarter} to ${16 * quarter + 15} of the tile of a`;
    return box;
  }
  function productView(r, n) {
    const p = W.productOf(r, n), box = make('div', 'view product');
    const a = operand('a', `a: ${p.rows} x ${p.depth}`, placeOfOperand(r, p.a));
    const b = operand('b', `b: ${p.depth} x ${p.cols}`, placeOfOperand(r, p.b));
    if (p.slice !== null) a.append(slices(p.slice));
    const sums = make('div', 'sums'), height = p.rows / 4;
    for (let part = 0; part < 4; part++) {
      const own = part === p.part, rows = `rows ${height * part} to ${height * (part + 1) - 1}`;
      sums.append(operand(own ? 'own' : '', rows, own ? `sums of this warp, ${p.cols} columns`
        : 'sums of another warp'));
    }
    box.append(b, a, sums);
    return box;
  }

  function meter(label, left, done) {
    const e = make('div', 'meter'), bar = make('div', 'bar');
    bar.style.setProperty('--done', percent(done));
    const what = left === 1 ? label.slice(0, -1) : label;
    e.append(make('span', '', left ? `waits for ${left} ${what}` : `no ${label} missing`), bar);
    return e;
  }
  // The state of an mbarrier. A phase that no thread has arrived at yet has no bytes to show.
  function cardOf(r, b, mostBytes) {
    const card = make('div', 'card'), head = make('p', 'name'), begun = b.arrivals < b.most;
    head.append(make('b', '', W.barrierName(r, b.at)),
                make('span', `phase p${b.parity}`, `parity ${b.parity}`));
    card.append(head, meter('arrivals', b.arrivals, b.most ? 1 - b.arrivals / b.most : 1));
    if (mostBytes) card.append(meter('bytes', b.bytes, begun ? 1 - b.bytes / mostBytes : 0));
    return card;
  }
  // The phases of an mbarrier over the whole recording, as bands.
  function phasesOf(r, changes, n) {
    const row = make('div', 'phases'), bands = make('div', 'bands'), steps = r.steps.length;
    changes.forEach((b, k) => {
      const end = changes[k + 1]?.n ?? steps;
      const band = make('i', `p${b.parity}${b.bytes ? ' pending' : ''}`);
      band.style.left = percent(b.n / steps);
      band.style.width = percent((end - b.n) / steps);
      band.dataset.tip = `from instruction ${b.n + 1}: parity ${b.parity}, waits for `
        + `${b.arrivals} arrivals${b.bytes ? ` and ${b.bytes} bytes` : ''}`;
      bands.append(band);
    });
    const cursor = make('i', 'cursor');
    cursor.style.left = percent((n + 0.5) / steps);
    bands.append(cursor);
    row.append(make('span', '', W.barrierName(r, changes[0].at)), bands);
    return row;
  }
  // All mbarriers of the block. The cards show those that step n uses, or else the last one that
  // changed.
  function barriersView(r, n) {
    const cards = make('div', 'cards'), timeline = make('div', 'timeline'), changes = W.changes(r);
    const last = changes.filter((c) => c.n <= n).slice(-1);
    const used = new Set((r.steps[n].b || last).map((b) => b.at));
    for (const at of [...new Set(changes.map((c) => c.at))].sort((p, q) => p - q)) {
      const list = changes.filter((c) => c.at === at), row = phasesOf(r, list, n);
      timeline.append(row);
      if (!used.has(at)) continue;
      row.classList.add('now');
      const now = list.filter((c) => c.n <= n).pop();
      cards.append(cardOf(r, now, Math.max(...list.map((c) => c.bytes))));
    }
    timeline.style.setProperty('--rows', timeline.children.length);
    const box = make('div', 'view barriers'), states = make('div', 'states');
    const hint = make('p', 'hint');
    states.append(cards, timeline);
    hint.append(make('i', 'p0'), ' phase of parity 0 ', make('i', 'p1'), ' parity 1 ',
                make('i', 'pending'), ' bytes are missing. Arrivals and bytes of other blocks '
                + 'show up when a recorded warp next uses the mbarrier.');
    box.append(states, hint);
    return box;
  }

  Object.assign(W, {copyView, productView, barriersView});
})();
