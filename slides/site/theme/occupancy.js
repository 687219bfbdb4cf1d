// The occupancy calculator, with the rules of common/device/occupancy.cpp, which `lab occupancy` uses.
// The browser test compares the two. gpus.js holds the GPUs.
'use strict';
const ANY = 1 << 30;

function rulesOf(gpu) {
  const capability = 10 * gpu.major + gpu.minor;
  if (gpu.major === 1) return { unit: capability < 12 ? 256 : 512, partitions: 2, ofBlocks: true, shared: 512, most: 124 };
  if (gpu.major === 2) return { unit: 64, partitions: 2, ofBlocks: false, shared: 128, most: 63 };
  if (gpu.major === 3) return { unit: 256, partitions: 4, ofBlocks: false, shared: 256, most: capability === 30 ? 63 : 255 };
  if (gpu.major < 8)
    return { unit: 256, partitions: capability === 60 ? 2 : 4, ofBlocks: false, shared: 256, most: 255 };
  return { unit: 256, partitions: 4, ofBlocks: false, shared: 128, most: 255 };
}

// The blocks that a multiprocessor holds, with `threads` and `shared` bytes per block, `registers` per thread.
function occupancy(gpu, threads, registers, shared) {
  const rules = rulesOf(gpu), up = (value, unit) => Math.ceil(value / unit) * unit;
  const warps = Math.ceil(threads / gpu.warp_size), slots = Math.floor(gpu.threads / gpu.warp_size);
  const limits = {};
  limits.warps = threads > gpu.threads_per_block ? 0 : Math.floor(slots / warps);

  // Compute capability 2.x allocates units of 64 registers, but 128 for these numbers of registers per thread.
  const wide = gpu.major === 2 && [21, 22, 29, 30, 37, 38, 45, 46].includes(registers);
  const unit = wide ? 128 : rules.unit;
  const ofWarp = up(registers * gpu.warp_size, unit);
  const ofBlock = rules.ofBlocks ? up(registers * gpu.warp_size * up(warps, rules.partitions), unit) : ofWarp * warps;
  if (registers === 0) limits.registers = ANY;
  else if (registers > rules.most) limits.registers = 0;
  else if (rules.ofBlocks) limits.registers = Math.floor(gpu.registers / ofBlock);
  else if (ofWarp * up(warps, rules.partitions) > gpu.registers_per_block) limits.registers = 0;
  else
    limits.registers = Math.floor(
      Math.floor(Math.floor(gpu.registers / rules.partitions) / ofWarp) * rules.partitions / warps);

  const bytes = up(shared + gpu.reserved_shared, rules.shared);
  if (bytes > gpu.shared_per_block_optin + gpu.reserved_shared) limits['shared memory'] = 0;
  else limits['shared memory'] = bytes === 0 ? ANY : Math.floor(gpu.shared / bytes);
  limits['block slots'] = gpu.blocks;

  const blocks = Math.min(...Object.values(limits));
  return {
    blocks, warps: blocks * warps, most_warps: slots, percent: 100 * blocks * warps / slots, limits,
    limited_by: Object.keys(limits).filter((name) => limits[name] === blocks),
    registers_of_block: ofBlock, shared_bytes_of_block: bytes, warps_of_block: warps,
    most_registers: rules.most,
  };
}

(() => {
  const form = document.getElementById('occupancy');
  if (!form) return;
  const field = (name) => document.getElementById(name);

  // One curve: the warps that fit if one of the three numbers changes.
  function curve(title, points, now, most) {
    const width = 100 / points.length;
    const bars = points.map(([at, warps], k) => {
      const high = 114 * warps / most, here = at === now;
      const tip = `${at} ${title.toLowerCase()}: ${warps} warps (computed)`;
      return `<g class="mark s${here ? 1 : 0}" role="img" tabindex="-1" aria-label="${tip}">`
        + `<rect x="${k * width}%" y="${130 - high}" width="${width * 0.86}%" height="${Math.max(high, 1)}"/></g>`;
    });
    const ends = `<text x="0" y="148" class="dim">${points[0][0]}</text>`
      + `<text x="100%" y="148" class="dim" text-anchor="end">${points[points.length - 1][0]}</text>`;
    const full = `<line class="grid" x1="0" x2="100%" y1="16" y2="16"/><text x="100%" y="12" class="dim" text-anchor="end">${most} warps</text>`;
    return `<figure class="chart"><figcaption>Warps by ${title.toLowerCase()}</figcaption>`
      + `<svg class="plot" width="100%" height="154" role="group" aria-label="Warps by ${title.toLowerCase()}">`
      + `${full}${bars.join('')}${ends}</svg></figure>`;
  }

  function draw() {
    const gpu = GPUS.find((g) => g.id === field('gpu').value);
    const value = (name) => Math.floor(Number(field(name).value));
    const threads = value('threads'), registers = value('registers'), shared = value('shared');
    if (!(threads >= 1 && registers >= 0 && shared >= 0)) {
      field('answer').textContent = 'A block has at least one thread; registers and bytes are not negative.';
      return;
    }
    const found = occupancy(gpu, threads, registers, shared);
    field('answer').textContent = `${found.blocks} ${found.blocks === 1 ? 'block' : 'blocks'}: ${found.warps} of `
      + `${found.most_warps} warps, ${Number(found.percent.toFixed(1))} %. Limited by ${found.limited_by.join(' and ')}.`;
    const why = {
      warps: threads > gpu.threads_per_block ? `a block may have at most ${gpu.threads_per_block} threads`
        : `a block takes ${found.warps_of_block} of ${found.most_warps}`,
      registers: registers === 0 ? 'none are used'
        : registers > found.most_registers ? `a thread can have at most ${found.most_registers}`
          : `a block takes ${found.registers_of_block} of ${gpu.registers}`,
      'shared memory': found.limits['shared memory'] === ANY ? 'none is used'
        : found.limits['shared memory'] === 0 ? `a block may have at most ${gpu.shared_per_block_optin} bytes`
          : `a block takes ${found.shared_bytes_of_block} of ${gpu.shared} bytes`
            + (gpu.reserved_shared ? `, ${gpu.reserved_shared} of them reserved` : ''),
      'block slots': 'a multiprocessor holds no more blocks',
    };
    field('limits').tBodies[0].innerHTML = Object.entries(found.limits).map(([name, blocks]) => {
      const least = blocks === found.blocks;
      return `<tr><td>${least ? `<strong>${name}</strong>` : name}</td>`
        + `<td class="r">${blocks === ANY ? 'any number' : blocks}</td><td>${why[name]}</td></tr>`;
    }).join('');
    const range = (from, to, by) => Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => from + i * by);
    const warp = gpu.warp_size, bytes = gpu.shared_per_block_optin, most = found.most_warps;
    field('curves').innerHTML = [
      curve('Threads per block', range(warp, gpu.threads_per_block, warp)
        .map((at) => [at, occupancy(gpu, at, registers, shared).warps]), threads, most),
      curve('Registers per thread', range(1, found.most_registers, 1)
        .map((at) => [at, occupancy(gpu, threads, at, shared).warps]), registers, most),
      curve('Bytes of shared memory', range(0, bytes, Math.floor(bytes / 64))
        .map((at) => [at, occupancy(gpu, threads, registers, at).warps]), shared, most),
    ].join('');
    document.querySelectorAll('#curves .plot').forEach(window.reachMarks);
  }
  form.addEventListener('input', draw);
  form.addEventListener('submit', (e) => e.preventDefault());
  draw();
})();
