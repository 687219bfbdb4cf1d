// A lab's kernels, run in the page by the emulator. The script checks what the reader types, passes it
// to a worker, and shows the result. EMULATOR, WORKER and KERNELS come from other scripts of the page.
'use strict';
(() => {
  const place = document.getElementById('live');
  const form = document.getElementById('live-form'), out = document.getElementById('live-out');
  const status = document.getElementById('live-status'), fields = document.getElementById('live-sizes');
  const lab = place.dataset.lab;
  const text = (value) => document.createTextNode(value);
  const make = (tag, about = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), about);
    made.append(...inside);
    return made;
  };
  const say = (message) => { status.textContent = message; };
  const whole = (n) => n.toLocaleString('en');

  const unpacked = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  // There is one worker. Ending it ends a run that is no longer wanted.
  let worker = null, ready = null, busy = false, asked = 0, module = null;
  const begin = () => {
    const url = URL.createObjectURL(new Blob([WORKER], {type: 'text/javascript'}));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    busy = false;
    ready = (module ??= unpacked(EMULATOR)).then((bytes) => new Promise((done, failed) => {
      worker.onerror = (event) => failed(new Error(event.message || 'the worker does not start'));
      worker.onmessage = ({data}) => {
        if (!data.ready) return failed(new Error(data.failed));
        worker.onmessage = ({data: result}) => shown(result);
        done();
      };
      worker.postMessage({module: bytes});
    }));
  };

  const number = (name) => {
    const field = form.elements[name], value = Number(field.value);
    if (!Number.isInteger(value) || value < 1 || value > Number(field.max))
      throw new Error(`${field.dataset.text}: enter a whole number from 1 to ${field.max}`);
    return value;
  };
  const wanted = () => {
    const step = form.elements.step.value, about = stepOf(lab, step);
    const sizes = Object.fromEntries(about.sizes.map(({name}) => [name, number(name)]));
    const block = [number('block-x'), number('block-y'), 1];
    if (block[0] * block[1] > 1024) throw new Error('A block has at most 1024 threads');
    const numbers = form.elements.values.value.trim().split(/[\s,]+/).map(Number);
    const isInt = about.type === 'int';
    if (numbers.length > 4096 || !numbers.every((v) => isInt ?
      Number.isInteger(v) && Math.abs(v) < 2 ** 31 : Number.isFinite(v) && Math.abs(v) < 1e15))
      throw new Error(`Values: enter ${isInt ? 'whole numbers' : 'numbers'}, separated by spaces`);
    return {lab, step, sizes, block, numbers,
            watch: {checks: form.elements.checks.checked, counters: form.elements.counters.checked}};
  };
  const run = async () => {
    let request;
    try {
      request = wanted();
    } catch (error) {
      out.replaceChildren();
      return say(error.message);
    }
    const mine = ++asked;
    say('The emulator runs the kernel …');
    try {
      if (busy) worker.terminate();
      if (busy || worker === null) begin();
      busy = true;
      await ready;
      const image = await unpacked(KERNELS[request.step]);
      if (mine === asked) worker.postMessage({...request, image, asked: mine});
    } catch (error) {
      worker = null;
      busy = false;
      say(`The emulator does not run in this browser: ${error.message}`);
    }
  };

  const table = (label, head, rows) => {
    const row = (cells, tag) => make('tr', {}, ...cells.map((c, k) => make(tag, {className: k ? 'r' : ''}, c)));
    const made = make('div', {className: 'scroll', tabIndex: 0}, make('table', {},
      make('thead', {}, row(head, 'th')), make('tbody', {}, ...rows.map((cells) => row(cells, 'td')))));
    made.setAttribute('role', 'group');
    made.setAttribute('aria-label', label);
    return made;
  };
  // A line, as a link into the version's page if the line is in the version's own file.
  const at = (step, {file, line}) => (file.startsWith(`${step}.`) ?
    make('a', {href: `${step}.html#L${line}`}, `${file}, line ${line}`) : `${file}, line ${line}`);
  const finding = (f, step) => {
    const item = make('li', {}, make('strong', {}, f.kind.replaceAll('_', ' ')), text(`: ${f.message}`));
    for (const party of f.parties ?? []) {
      if (party.line) item.append(text(' · '), at(step, party));
    }
    return item;
  };
  // The columns of a row. A row describes one launch, or several identical launches.
  const HEAD = ['launches', 'grid', 'block', 'registers', 'shared bytes', 'warp instructions', 'lanes active',
                'divergent branches', 'global sectors', 'over ideal', 'DRAM bytes', 'shared wavefronts',
                'over ideal'];
  const kinds = (total, names) => names.map((name) => total[name]).filter(Boolean);
  const all = (counts, of) => counts.reduce((n, c) => n + (c[of] ?? 0), 0);
  const ratio = (a, b) => (b ? `${(a / b).toFixed(2)} x` : '–');
  const warpsOf = (instructions) => Object.values(instructions ?? {}).reduce((n, c) => n + c[0], 0);
  const lanesOf = (instructions) => Object.values(instructions ?? {}).reduce((n, c) => n + c[1], 0);
  const extent = (counts) => counts.join(' x ').replace(/( x 1)+$/, '');
  const counters = (kernel) => {
    const {total} = kernel, warps = warpsOf(total.instructions);
    const global = kinds(total, ['global_load', 'global_store', 'global_atomic']);
    const shared = kinds(total, ['shared_load', 'shared_store', 'shared_atomic', 'shared_copy']);
    return [whole(kernel.launches), extent(kernel.grid), extent(kernel.block), kernel.registers,
            whole(kernel.static_shared_bytes + kernel.dynamic_shared_bytes), whole(warps),
            `${(100 * lanesOf(total.instructions) / warps / 32).toFixed(1)} %`, whole(total.divergent_branches),
            whole(all(global, 'sectors')), ratio(all(global, 'sectors'), all(global, 'ideal_sectors')),
            whole(all(global, 'dram_read_bytes') + all(global, 'dram_write_bytes')), whole(all(shared, 'wavefronts')),
            ratio(all(shared, 'wavefronts'), all(shared, 'ideal_wavefronts'))];
  };
  // The lines with the most warp instructions, over all launches.
  const lines = (kernels) => {
    const found = new Map();
    for (const l of kernels.flatMap((kernel) => kernel.lines)) {
      const key = `${l.file}, line ${l.line}`, counted = warpsOf(l.counts.instructions);
      if (l.line && counted) found.set(key, {...l, warps: counted + (found.get(key)?.warps ?? 0)});
    }
    return [...found.values()].sort((a, b) => b.warps - a.warps).slice(0, 8);
  };

  const shown = (result) => {
    if (result.asked !== asked) return;
    busy = false;
    out.replaceChildren();
    if (result.failed) return say(`The emulator stopped: ${result.failed}`);
    const step = form.elements.step.value;
    const rate = result.warp_instructions / result.seconds / 1e6;
    say(`${whole(result.launches.length)} launch${result.launches.length === 1 ? '' : 'es'}, `
        + `${whole(result.warp_instructions)} warp instructions in ${result.seconds.toFixed(2)} s `
        + `(${rate.toFixed(1)} million per second, in this page)`);
    const verdict = result.problem !== '' ? ['bad', `The launch failed: ${result.problem}`] :
      result.wrong >= 0 ? ['bad', `Wrong: element ${result.wrong} is ${result.result[result.wrong]}, `
                                  + `not ${result.expected[result.wrong]}`] :
      ['good', `Right: ${result.expected.length === 1 ? result.result[0] :
        `all ${whole(result.expected.length)} elements, the first of them `
        + Array.from(result.result.slice(0, 6), (v) => Number(v.toPrecision(6))).join(', ')}`];
    out.append(make('p', {id: 'live-result', className: verdict[0]}, verdict[1]));
    if (form.elements.checks.checked)
      out.append(make('h2', {}, 'Findings'), result.findings.length === 0 ?
        make('p', {id: 'live-findings'}, 'None: no race, no wrong address, no read of unwritten memory.') :
        make('ul', {id: 'live-findings'}, ...result.findings.slice(0, 10).map((f) => finding(f, step))));
    if (result.printed) out.append(make('h2', {}, 'Printed'), make('pre', {}, result.printed));
    const {kernels} = result.profile;
    if (kernels.length)
      out.append(make('h2', {}, 'Counters'), table('Counters', HEAD, kernels.map(counters)),
                 table('Lines', ['line', 'warp instructions'], lines(kernels).map((l) =>
                   [at(step, l), whole(l.warps)])));
  };

  const fill = () => {
    const about = stepOf(lab, form.elements.step.value);
    form.elements['block-x'].value = about.block[0];
    form.elements['block-y'].value = about.block[1];
    for (const side of ['x', 'y']) form.elements[`block-${side}`].disabled = Boolean(about.fixed);
    document.getElementById('live-fixed').hidden = !about.fixed;
    document.getElementById('live-step').href = `${form.elements.step.value}.html`;
  };
  if (typeof WebAssembly === 'undefined' || typeof DecompressionStream === 'undefined')
    return say('This browser is too old for the emulator: it has no WebAssembly or no DecompressionStream.');
  for (const {name, text: label, most, first} of stepOf(lab, form.elements.step.value).sizes) {
    const field = make('input', {type: 'number', name, min: 1, max: most, value: first});
    field.dataset.text = label;
    fields.append(make('label', {}, `${label} `, field));
  }
  const named = decodeURIComponent(location.hash.slice(1));  // live.html#03_sequential
  if (KERNELS[named]) form.elements.step.value = named;
  form.hidden = false;
  form.elements.step.addEventListener('change', fill);
  let soon;
  form.addEventListener('input', () => {
    clearTimeout(soon);
    soon = setTimeout(run, 300);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    clearTimeout(soon);
    run();
  });
  fill();
  run();
})();
