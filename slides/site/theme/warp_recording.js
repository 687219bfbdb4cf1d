// Reads recorded warps (grader/JSON.md, "Recorded warps"): values, accesses, their cost, mbarriers.
'use strict';
window.Warp = (() => {
  const lanes = [...Array(32).keys()];
  const every = 0xffffffff;
  const inMask = (mask, lane) => (mask >>> lane) & 1;
  const lanesOf = (mask) => lanes.filter((l) => inMask(mask, l));
  const maskOf = (s) => s.m ?? every;
  const activeOf = (s) => s.a ?? maskOf(s);
  const warpOf = (r, s) => s.w ?? r.warps[0];

  // A row as 32 signed numbers, and the allocation in which they are offsets, if any.
  function decode(r, n) {
    let rule = r.rows[n], area = -1;
    if (typeof rule === 'object' && !Array.isArray(rule)) { area = rule.in; rule = rule.row; }
    if (typeof rule === 'number') return {area, v: lanes.map(() => rule)};
    if (typeof rule === 'string') {
      const raw = Uint8Array.from(atob(rule), (c) => c.charCodeAt(0));
      const view = new DataView(raw.buffer), width = raw.length / 32;
      const read = {1: (o) => view.getInt8(o), 2: (o) => view.getInt16(o, true),
                    4: (o) => view.getInt32(o, true),
                    8: (o) => Number(view.getBigInt64(o, true))}[width];
      return {area, v: lanes.map((l) => read(l * width)), view: width === 8 ? view : null};
    }
    const [a, b, p = 32, c = 0] = rule;
    return {area, v: lanes.map((l) => a + b * (l % p) + c * Math.floor(l / p))};
  }

  const offset = (name, n) => (n ? `${name} ${n < 0 ? '-' : '+'} ${Math.abs(n)}` : name);
  const bits = new DataView(new ArrayBuffer(8));
  function shown(r, row, type, l) {
    const v = row.v[l];
    if (type === 'pred') return inMask(v, l) ? 'true' : 'false';
    if (row.area >= 0) return offset(r.areas[row.area].name, v);
    if (type === 'f32') {
      bits.setInt32(0, v);
      return String(Number(bits.getFloat32(0).toPrecision(6)));
    }
    if (type === 'f64') {
      if (!row.view) bits.setBigInt64(0, BigInt(v));
      const value = row.view ? row.view.getFloat64(8 * l, true) : bits.getFloat64(0);
      return String(Number(value.toPrecision(6)));
    }
    return String(type === 'u32' ? v >>> 0 : v);
  }

  // The registers that a step writes: [{name, texts of 32 lanes}].
  function written(r, s) {
    const writes = r.instructions[s.i].writes || [];
    return (s.v || []).map((n, k) => {
      const [name, type] = writes[k], row = decode(r, n);
      const text = (l) => (inMask(activeOf(s), l) ? shown(r, row, type, l) : '');
      return {name, texts: lanes.map(text)};
    });
  }

  // An access of a step, with the addresses of its lanes.
  function access(r, s, x) {
    const row = decode(r, x.at), counted = x.counted !== false;
    return {space: x.space, kind: x.kind, bytes: x.bytes, lanes: lanesOf(x.lanes ?? activeOf(s)),
            at: row.v, area: row.area >= 0 ? r.areas[row.area].name : x.space, counted,
            cost: counted ? x.n : 0, ideal: counted ? x.ideal ?? x.n : 0};
  }
  const accesses = (r, s) => (
    (s.x || []).map((x) => access(r, s, x)).filter((a) => a.lanes.length));

  // What a step's accesses cost: sectors of global memory, wavefronts of shared memory.
  function cost(s) {
    const counted = (s.x || []).filter((x) => x.counted !== false);
    const sum = (of) => counted.reduce((total, x) => total + of(x), 0);
    return {n: sum((x) => x.n), ideal: sum((x) => x.ideal ?? x.n)};
  }
  const costly = (s) => { const c = cost(s); return c.n > c.ideal; };

  // Two neighbouring groups of lanes load together if their lanes agree in pairs, as the emulator
  // counts it (load_wavefronts() in common/emulator/profile/requests.cpp).
  function agreeInPairs(a, group) {
    const here = new Set(group);
    const same = (l, other) => here.has(other) && a.at[l] === a.at[other];
    return group.every((l) => !here.has(l ^ 1) || same(l, l ^ 1))
      || group.every((l) => same(l, l ^ 2));
  }
  function groupsOf(a, size) {
    const groups = [];
    for (let first = 0; first < 32; first += size)
      groups.push(a.lanes.filter((l) => l >= first && l < first + size));
    if (a.kind !== 'load' || size === 32) return groups;
    const merged = [];
    for (let g = 0; g < groups.length; g += 2) {
      const both = [...groups[g], ...groups[g + 1]];
      const together = groups[g].length && groups[g + 1].length && agreeInPairs(a, both);
      merged.push(...(together ? [both] : [groups[g], groups[g + 1]]));
    }
    return merged;
  }

  // The wavefronts of an access to shared memory: how many, and the cells {wave, bank, width, word,
  // lanes} that they transfer. A cell is as wide as a lane's access, in banks.
  function wavefronts(a) {
    const bytes = Math.max(4, a.bytes), slots = 128 / bytes, cells = [];
    let count = 0;
    for (const group of groupsOf(a, slots)) {
      const units = lanes.map(() => []);
      for (const l of group) {
        const unit = Math.floor(a.at[l] / bytes), slot = unit % slots;
        let cell = units[slot].find((c) => c.unit === unit);
        if (!cell) {
          cell = {unit, wave: count + units[slot].length, bank: slot * bytes / 4, width: bytes / 4,
                  word: unit * bytes / 4, lanes: []};
          units[slot].push(cell);
          cells.push(cell);
        }
        cell.lanes.push(l);
      }
      count += Math.max(...units.map((u) => u.length));
    }
    return {count, cells};
  }

  // The sectors of an access, by 128-byte line: [{line, sectors}]. A sector is {words, lanes}, or
  // null.
  function lines(a) {
    const found = new Map();
    for (const l of a.lanes) {
      for (let k = 0; k < a.bytes; k++) {
        const byte = a.at[l] + k, line = Math.floor(byte / 128), sector = Math.floor(byte / 32) & 3;
        if (!found.has(line)) found.set(line, {line, sectors: [null, null, null, null]});
        const into = found.get(line).sectors;
        into[sector] = into[sector] || {words: new Set(), lanes: new Set()};
        into[sector].words.add(Math.floor(byte / 4) & 7);
        into[sector].lanes.add(l);
      }
    }
    return [...found.values()].sort((p, q) => p.line - q.line);
  }

  const is = {
    copy: (i) => /cp\.async\.bulk\.tensor/.test(i.ptx),
    copyToShared: (i) => /cp\.async\.bulk\.tensor\S*\.shared::\w+\.global/.test(i.ptx),
    product: (i) => /wgmma\.mma_async/.test(i.ptx),
    shuffle: (i) => /^(@\S+ )?shfl\./.test(i.ptx),
    barrier: (i) => /^(@\S+ )?bar(rier)?\./.test(i.ptx),
  };

  // The place of an address in shared memory, in words.
  function placeOf(r, at) {
    if (at >= r.shared_bytes) return 'in another block';
    const v = r.variables.find((one) => at >= one.offset && at < one.offset + one.bytes);
    return v ? offset(v.name.split('::').pop(), at - v.offset) : `byte ${at}`;
  }
  const addressOf = (r, a, lane) => (
    a.space === 'shared' ? placeOf(r, a.at[lane]) : offset(a.area, a.at[lane]));
  // An mbarrier's name: an element if the variable is an array of them.
  function barrierName(r, at) {
    const v = r.variables.find((one) => at >= one.offset && at < one.offset + one.bytes);
    if (!v || (at - v.offset) % 8) return placeOf(r, at);
    const name = v.name.split('::').pop();
    return v.bytes > 8 ? `${name}[${(at - v.offset) / 8}]` : name;
  }

  // The value of a register of a step's warp before the step, in lane 0: a BigInt, or null.
  function register(r, n, name) {
    const warp = warpOf(r, r.steps[n]);
    for (let k = n - 1; k >= 0; k--) {
      const s = r.steps[k], writes = r.instructions[s.i].writes || [];
      const at = warpOf(r, s) === warp && s.v ? writes.findIndex((w) => w[0] === name) : -1;
      if (at < 0) continue;
      const row = decode(r, s.v[at]), lane = lanesOf(activeOf(s))[0] ?? 0;
      return row.view ? row.view.getBigUint64(8 * lane, true) : BigInt(row.v[lane]);
    }
    return null;
  }
  const number = (big) => (big === null ? null : Number(big));

  // A shuffle: its mode, its distance, and for each active lane the lane whose value it gets. A
  // lane without a source, whose predicate is false, keeps its own value. Null if the distance or
  // the predicate is not recorded.
  function shuffleOf(r, n) {
    const s = r.steps[n], ptx = r.instructions[s.i].ptx;
    const operands = /\.(up|down|bfly)\.b32 \S+?(\|\S+)?, \S+, ([^\s,]+)/;
    const [, mode, predicate, b] = ptx.match(operands) || [];
    const distance = b && (/^\d+$/.test(b) ? Number(b) : number(register(r, n, b)));
    if (!distance || !predicate || !s.v) return null;
    const found = decode(r, s.v[1]).v[0];
    const other = {up: (l) => l - distance, down: (l) => l + distance,
                   bfly: (l) => l ^ distance}[mode];
    const source = (l) => (inMask(found, l) ? other(l) : l);
    return {mode, distance, from: lanesOf(activeOf(s)).map((l) => [l, source(l)])};
  }

  // A TMA copy: where its box is in the matrix, its place in shared memory, its bytes if recorded.
  function copyOf(r, n) {
    const i = r.instructions[r.steps[n].i], toShared = is.copyToShared(i);
    const [shared, tensor] = toShared ? [0, 1] : [1, 0];
    const operands = i.ptx.match(/\[[^[\]]*\]/g);
    const names = operands.map((o) => o.match(/%\w+/g));
    const value = (name) => number(register(r, n, name));
    const at = value(names[shared][0]), [, col, row] = names[tensor];
    const fill = toShared && (r.steps[n + 1]?.f || []).find((f) => 4 * f[1] === at);
    return {toShared, at, col: value(col), row: value(row), bytes: fill ? 4 * fill[2] : null,
            barrier: toShared && names[2] ? value(names[2][0]) : null};
  }

  // A descriptor of a tile in shared memory (PTX ISA, "Matrix descriptor"). Null if not recorded.
  function descriptor(big) {
    if (big === null) return null;
    const bytes = (shift) => Number(big >> BigInt(shift) & 0x3fffn) * 16;
    const swizzle = [0, 128, 64, 32][Number(big >> 62n & 3n)];
    return {at: bytes(0), leading: bytes(16), stride: bytes(32), swizzle};
  }

  // A wgmma: its shape, and the descriptors of its operands.
  function productOf(r, n) {
    const s = r.steps[n], ptx = r.instructions[s.i].ptx;
    const [, rows, cols, depth] = ptx.match(/m(\d+)n(\d+)k(\d+)/).map(Number);
    const [a, b] = ptx.split('}')[1].match(/%\w+/g).map((name) => descriptor(register(r, n, name)));
    const alongK = / 0, [01]$/.test(ptx);  // the rows of a lie along k in memory
    return {rows, cols, depth, a, b, slice: a && alongK ? Math.floor(a.at % 128 / 32) : null,
            part: warpOf(r, s) % 4};
  }
  // The swizzle that all descriptors of a recording agree on, in bytes; null if none is recorded.
  function swizzleOf(r) {
    const found = new Set();
    r.steps.forEach((s, n) => {
      if (is.product(r.instructions[s.i]))
        for (const d of [productOf(r, n).a, productOf(r, n).b]) if (d) found.add(d.swizzle);
    });
    return found.size === 1 ? [...found][0] : null;
  }

  // How the mbarriers of this block change: [{n, at, parity, arrivals, bytes, most}] in the order
  // of the steps. A copy's bytes count once its fill is recorded.
  function changes(r) {
    const found = [], now = new Map();
    const change = (n, b) => {
      const {most = 0} = now.get(b.at) || {};
      const before = b.arrivals + (b.use === 'arrives' ? 1 : 0);
      const next = {n, at: b.at, parity: b.parity, arrivals: b.arrivals, bytes: b.bytes || 0,
                    most: Math.max(most, before)};
      now.set(b.at, next);
      found.push(next);
    };
    const fill = (n, copy) => {
      const b = now.get(copy.barrier);
      if (!b || !copy.bytes || b.bytes < copy.bytes) return;
      const bytes = b.bytes - copy.bytes, ends = !bytes && !b.arrivals;
      change(n, {...b, use: '', bytes, parity: ends ? b.parity ^ 1 : b.parity,
                 arrivals: ends ? b.most : b.arrivals});
    };
    r.steps.forEach((s, n) => {
      if (n && is.copyToShared(r.instructions[r.steps[n - 1].i])) fill(n, copyOf(r, n - 1));
      for (const b of s.b || []) if (b.at < r.shared_bytes) change(n, b);
    });
    return found;
  }

  // What the block has stored to shared memory up to step n: {word: whether a recorded warp did}.
  function stored(r, n) {
    const own = new Map();
    for (const s of r.steps.slice(0, n + 1)) {
      for (const [, first, number, stride = 1] of s.f || [])
        for (let k = 0; k < number; k++) own.set(first + k * stride, false);
      for (const a of accesses(r, s))
        if (a.space === 'shared' && a.kind !== 'load')
          for (const l of a.lanes)
            for (let b = 0; b < a.bytes; b += 4) own.set(Math.floor((a.at[l] + b) / 4), true);
    }
    return own;
  }

  // The parts between barriers, each as its first step.
  function parts(r) {
    const first = [0];
    r.steps.forEach((s, n) => {
      if (is.barrier(r.instructions[s.i]) && n + 1 < r.steps.length) first.push(n + 1);
    });
    return first;
  }
  // For each recording, the steps that begin together with those of the others: the parts between
  // barriers, divided at their accesses if all recordings have equally many in a part.
  function segments(recordings) {
    const all = recordings.map(parts), result = recordings.map(() => []);
    for (let p = 0; p < Math.max(...all.map((list) => list.length)); p++) {
      const inner = recordings.map((r, k) => {
        const first = all[k][p] ?? r.steps.length - 1, end = all[k][p + 1] ?? r.steps.length;
        const within = r.steps.map((_, n) => n).slice(first + 1, end);
        return [first, ...within.filter((n) => cost(r.steps[n]).n)];
      });
      const same = inner.every((list) => list.length === inner[0].length);
      inner.forEach((list, k) => result[k].push(...(same ? list : [list[0]])));
    }
    return result;
  }
  // The step at which a recording opens: the first of the first kind that it has.
  function opening(r) {
    const copies = (s) => is.copy(r.instructions[s.i]);
    const accesses = (s) => cost(s).n;
    const uses = (s) => s.b || [is.product, is.shuffle].some((kind) => kind(r.instructions[s.i]));
    const kind = [copies, costly, accesses, uses].find((wanted) => r.steps.some(wanted));
    return kind ? r.steps.findIndex(kind) : 0;
  }

  return {lanes, inMask, lanesOf, maskOf, activeOf, warpOf, offset, written,
          accesses, cost, costly, wavefronts, lines, stored, placeOf, addressOf,
          is, copyOf, productOf, shuffleOf, swizzleOf, barrierName, changes, segments, opening};
})();
