// Says in one sentence what an instruction of a recorded warp costs, and why.
'use strict';
(() => {
  const W = window.Warp;
  const many = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;
  const capital = (text) => text[0].toUpperCase() + text.slice(1);

  function list(lanes) {
    if (lanes.length === 1) return `lane ${lanes[0]}`;
    if (lanes.length > 4) return `lanes ${lanes.slice(0, 3).join(', ')}, ...`;
    return `lanes ${lanes.slice(0, -1).join(', ')} and ${lanes[lanes.length - 1]}`;
  }
  const subject = (a) => (a.lanes.length === 32 ? 'all lanes' : list(a.lanes));
  const verb = (a) => (a.kind === 'load' ? 'read' : a.kind === 'store' ? 'write' : 'update');

  function bytesOf(a) {
    const used = new Set();
    for (const l of a.lanes) for (let k = 0; k < a.bytes; k++) used.add(a.at[l] + k);
    return used;
  }
  const usedBytes = (a) => bytesOf(a).size;
  // The number of contiguous runs that the bytes of an access form.
  function runs(a) {
    const used = bytesOf(a);
    return [...used].filter((byte) => !used.has(byte - 1)).length;
  }
  // The distance between neighbouring active lanes, if it is always the same; else 0.
  function stride(a) {
    const steps = a.lanes.slice(1).map((l, k) => (a.at[l] - a.at[a.lanes[k]]) / (l - a.lanes[k]));
    return steps.length && steps.every((d) => d === steps[0]) ? steps[0] : 0;
  }

  function whyShared(a) {
    const by = new Map();
    for (const cell of W.wavefronts(a).cells)
      by.set(cell.bank, [...(by.get(cell.bank) || []), cell.lanes[0]]);
    const longer = (p, q) => (q[1].length > p[1].length ? q : p);
    const [bank, lanes] = [...by].reduce(longer);
    if (a.cost > a.ideal && lanes.length > 1)
      return `${list(lanes)} need different words of bank ${bank}`;
    const used = usedBytes(a);
    if (used > 128)
      return `${subject(a)} ${verb(a)} ${used} bytes, and a wavefront has at most 128`;
    if (used === a.bytes && a.lanes.length > 1)
      return `${subject(a)} ${verb(a)} the same ${many(a.bytes, 'byte')}`
        + (a.cost === 2 ? ', half of the warp at a time' : '');
    return a.lanes.length === 1 ? `only ${list(a.lanes)} is active` : 'no two words share a bank';
  }

  function whyGlobal(a) {
    const used = usedBytes(a), moved = 32 * a.cost, apart = Math.abs(stride(a));
    const useful = used === moved ? `all ${moved} bytes are used`
      : `${used} of ${moved} bytes are used`;
    if (a.lanes.length === 1) return `only ${list(a.lanes)} is active`;
    if (used === a.bytes) return `${subject(a)} ${verb(a)} the same ${many(a.bytes, 'byte')}`;
    if (a.cost > a.ideal && apart > a.bytes)
      return `neighbouring lanes are ${apart} bytes apart, so ${useful}`;
    if (a.cost === a.ideal) return useful;
    return runs(a) > 1 ? `the lanes' ${used} bytes lie in ${runs(a)} separate runs`
      : `the lanes' ${used} bytes do not begin at a multiple of 32`;
  }

  function ofAccess(a) {
    const unit = a.space === 'shared' ? 'wavefront' : 'sector';
    const price = a.cost > a.ideal ? `${many(a.cost, unit)} where ${a.ideal} would do`
      : `${many(a.cost, unit)}, the fewest possible`;
    return `${price}: ${(a.space === 'shared' ? whyShared : whyGlobal)(a)}.`;
  }
  function ofBarrier(r, b) {
    const what = {begins: 'is initialised', arrives: 'gets an arrival',
                  passes: 'lets the wait pass', polls: 'lets the wait fail'}[b.use];
    const missing = [];
    if (b.arrivals) missing.push(many(b.arrivals, 'arrival'));
    if (b.bytes) missing.push(`${b.bytes} bytes`);
    return `The mbarrier ${W.barrierName(r, b.at)} ${what}; its phase of parity ${b.parity} `
      + `waits for ${missing.join(' and ') || 'nothing'}.`;
  }
  function ofCopy(r, n) {
    const c = W.copyOf(r, n);
    const box = `${c.bytes === null ? 'a box' : `${c.bytes} bytes`}`
      + (c.row === null || c.col === null ? '' : ` at row ${c.row}, column ${c.col} of the matrix`);
    const place = c.at === null ? 'shared memory' : W.placeOf(r, c.at);
    const counted = c.barrier === null ? ''
      : `; the mbarrier ${W.barrierName(r, c.barrier)} counts them`;
    return c.toShared ? `TMA copies ${box} to ${place}${counted}.`
      : `TMA stores ${place} to ${box}.`;
  }
  function ofProduct(r, n) {
    const p = W.productOf(r, n);
    return `Four warps multiply ${p.rows} x ${p.depth} elements of a by ${p.depth} x ${p.cols} `
      + 'of b, both in shared memory, and continue before the sums are there.';
  }

  function ofShuffle(r, n) {
    const found = W.shuffleOf(r, n);
    if (!found) return 'Lanes exchange the values of a register: no memory access.';
    const own = found.from.filter(([l, from]) => l === from).map(([l]) => l);
    const number = {up: `${found.distance} lower`, down: `${found.distance} higher`,
                    bfly: `its own xor ${found.distance}`}[found.mode];
    const keeps = own.length === 1 ? 'has no such lane and keeps its own'
      : 'have no such lane and keep their own';
    return `Each lane gets a register of the lane whose number is ${number}, without memory`
      + `${own.length ? `; ${list(own)} ${keeps}` : ''}.`;
  }

  const ofInstruction = [
    [/wgmma\.fence/, 'The next products may use the registers that earlier instructions wrote.'],
    [/wgmma\.commit/, 'The products issued since the last group form a group.'],
    [/wgmma\.wait/, 'Waits until the products of earlier groups are complete.'],
    [/bulk\.commit/, 'The copies begun since the last group form a group.'],
    [/bulk\.wait/, 'Waits until the copies of earlier groups no longer read shared memory.'],
    [/setmaxnreg/, 'Releases registers, or waits for more of them.'],
  ];
  const ofKind = {
    arithmetic: 'Arithmetic in registers: no memory access.',
    move: 'A value moves between registers: no memory access.',
    conversion: 'A conversion in registers: no memory access.',
    control: 'A branch: lanes whose condition holds jump, and the others continue.',
    barrier: 'Orders memory accesses, or waits: no memory access of its own.',
    tensor: 'A tensor core multiplies operands in registers: no memory access.',
    load: 'Reads a parameter of the kernel: neither sectors nor wavefronts.',
  };
  // The sentence of step n. If the step has several accesses, it is about number `which`.
  function sentence(r, n, which = 0) {
    const s = r.steps[n], i = r.instructions[s.i], all = W.accesses(r, s);
    const position = all.length > 1 ? `Access ${which + 1} of ${all.length}: ` : '';
    if (all.length && all[which].counted) return position + ofAccess(all[which]);
    if (s.b) return s.b.map((b) => ofBarrier(r, b)).join(' ');
    if (W.is.copy(i)) return ofCopy(r, n);
    if (W.is.product(i)) return ofProduct(r, n);
    if (W.is.shuffle(i)) return ofShuffle(r, n);
    if (i.note) return `${capital(i.note)}.`;
    if (W.is.barrier(i)) return 'A barrier: the warp waits here until all others have arrived.';
    const known = ofInstruction.find(([pattern]) => pattern.test(i.ptx));
    return known ? known[1] : ofKind[i.kind] || 'No memory access.';
  }

  function where(r, n) {
    const s = r.steps[n], i = r.instructions[s.i], mask = W.maskOf(s);
    const active = W.lanesOf(W.activeOf(s)).length, here = W.lanesOf(mask).length;
    const parts = [`instruction ${n + 1} of ${r.steps.length}`];
    if (r.warps.length > 1) parts.push(`warp ${W.warpOf(r, s)}`);
    if (i.line !== undefined) parts.push(`line ${i.line}`);
    const excluded = active === here ? '' : ` (the guard excludes ${here - active})`;
    parts.push(`${active} of 32 lanes active${excluded}`);
    return parts.join(' · ');
  }

  Object.assign(W, {sentence, where, list});
})();
