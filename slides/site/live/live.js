// Two versions of a lab next to each other, run in the page by the emulator after each change. KERNELS
// and SOURCES come from the lab's script.
'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId('live-form'), lab = byId('live').dataset.lab, status = byId('live-status');
  const SIDES = ['a', 'b'];
  const part = (side, name) => byId(`live-${name}-${side}`);
  const make = (tag, about = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), about);
    made.append(...inside);
    return made;
  };
  const whole = (n) => n.toLocaleString('en');
  const brief = (n) => n.toLocaleString('en', {notation: 'compact', maximumFractionDigits: 1});
  const stepIn = (side) => form.elements[`step-${side}`].value;
  const removed = {a: [], b: []};  // lines whose barrier is removed
  const shown = {a: null, b: null};  // the last result of each side

  // A number field with a slider. Each step of the slider is a quarter octave, a factor of 2^(1/4).
  const field = (name, label, most, first) => {
    const number = make('input', {type: 'number', name, min: 1, max: most, value: first, autocomplete: 'off'});
    const slider = make('input', {type: 'range', min: 0, max: Math.ceil(4 * Math.log2(most)), autocomplete: 'off'});
    const follow = () => {
      slider.value = Math.round(4 * Math.log2(Math.max(1, Number(number.value))));
      slider.setAttribute('aria-valuetext', number.value);
    };
    number.dataset.text = label;
    slider.setAttribute('aria-label', `${label}, slider`);
    slider.addEventListener('input', () => {
      number.value = Math.min(most, Math.round(2 ** (slider.value / 4)));
      slider.setAttribute('aria-valuetext', number.value);
    });
    number.addEventListener('input', follow);
    number.addEventListener('change', follow);
    follow();
    return make('div', {className: 'live-field'}, make('label', {}, `${label} `, number), slider);
  };
  const setNumber = (name, value) => {
    form.elements[name].value = value;
    form.elements[name].dispatchEvent(new Event('change'));
  };

  const number = (name) => {
    const input = form.elements[name], value = Number(input.value);
    if (!Number.isInteger(value) || value < 1 || value > Number(input.max))
      throw new Error(`${input.dataset.text}: enter a whole number from 1 to ${input.max}`);
    return value;
  };
  const valuesIn = (type) => {
    const numbers = form.elements.values.value.trim().split(/[\s,]+/).map(Number), isInt = type === 'int';
    const fits = (v) => (isInt ? Number.isInteger(v) && Math.abs(v) < 2 ** 31 : Math.abs(v) < 1e15);
    if (numbers.length > 4096 || !numbers.every(fits))
      throw new Error(`Values: enter ${isInt ? 'whole numbers' : 'numbers'}, separated by spaces`);
    return numbers;
  };
  const wanted = (side) => {
    const step = stepIn(side), about = stepOf(lab, step);
    const block = [number(`block-x-${side}`), number(`block-y-${side}`), 1];
    if (block[0] * block[1] > 1024) throw new Error('A block has at most 1024 threads');
    const sizes = Object.fromEntries(about.sizes.map(({name}) => [name, number(name)]));
    return {lab, step, sizes, block, numbers: valuesIn(about.type), removed: removed[side]};
  };

  const verdictOf = (result) => {
    if (result.problem)
      return ['bad', 'Stopped', result.findings.length ? 'because of these findings' : result.problem];
    if (result.wrong >= 0)
      return ['bad', 'Wrong', `element ${result.wrong} is ${result.result[result.wrong]}, `
                              + `not ${result.expected[result.wrong]}`];
    const first = Array.from(result.result.slice(0, 4), (v) => Number(v.toPrecision(6))).join(', ');
    const what = result.expected.length === 1 ? first : `all ${whole(result.expected.length)} elements: ${first}, …`;
    return result.findings.length ? ['bad', 'Right by luck', what] : ['good', 'Right', what];
  };
  const place = ({file, line}) => `${file}, line ${line}`;
  const findingItem = (f, side) => {
    const item = make('li', {}, make('strong', {}, f.kind.replaceAll('_', ' ')), `: ${f.message}`);
    const places = new Map((f.parties ?? []).filter(({line}) => line).map((party) => [place(party), party]));
    for (const [text, {file, line}] of places) {
      const own = file === SOURCES[stepIn(side)].file;
      item.append(' · ', own ? make('a', {href: `#${side}-L${line}`}, `line ${line}`) : text);
    }
    return item;
  };

  const drawVerdict = (side, result) => {
    const [kind, word, text] = verdictOf(result);
    const parts = [make('p', {className: `live-verdict ${kind}`}, make('strong', {}, word), ` ${text}`)];
    parts.push(result.findings.length ?
      make('ul', {className: 'live-findings'}, ...result.findings.slice(0, 4).map((f) => findingItem(f, side))) :
      make('p', {className: 'live-findings'}, 'No findings: no race, no wrong address, no read of unwritten memory.'));
    if (result.printed) parts.push(make('pre', {}, result.printed));
    part(side, 'verdict').replaceChildren(...parts);
  };

  // A bar per version. `most` is the length of a full bar.
  const bar = (side, value, most) => {
    const row = make('div', {className: `live-bar ${side}`}, make('span', {}, stepIn(side).slice(0, 2)), make('i'),
                     make('b', {}, whole(value)));
    row.style.setProperty('--w', most ? value / most : 0);
    return row;
  };
  const change = (before, after) => {
    if (before === after) return 'equal';
    if (!before || !after) return after ? 'new' : 'none left';
    const [less, more, word] = after < before ? [after, before, 'fewer'] : [before, after, 'more'];
    return more < 2 * less ? `${Math.max(1, Math.round(100 * Math.abs(after - before) / before))}% ${word}`
      : `${(more / less).toFixed(1)}x ${word}`;
  };
  // The cards of the costs; a cost that is 0 in all versions has none.
  const costCards = () => {
    const counted = SIDES.filter((side) => shown[side]).map((side) => [side, totalCosts(shown[side].profile)]);
    return COSTS.flatMap(({name}, k) => {
      const most = Math.max(0, ...counted.map(([, costs]) => costs[k]));
      if (!most) return [];
      const changed = counted.length === 2 ? change(counted[0][1][k], counted[1][1][k]) : '';
      return [make('div', {className: 'live-card'}, make('h3', {}, name, make('span', {}, changed)),
                   ...counted.map(([side, costs]) => bar(side, costs[k], most)))];
    });
  };
  // A run that stopped counted only a part of its work, so its costs are compared with nothing.
  const drawCosts = () => {
    const stopped = SIDES.filter((side) => shown[side]?.problem).map(stepIn);
    const note = () => make('p', {className: 'live-waiting'}, `${stopped.join(' and ')} stopped: not comparable`);
    byId('live-costs').replaceChildren(...(stopped.length ? [note()] : costCards()));
  };
  const say = (side, text) => part(side, 'verdict').replaceChildren(make('p', {className: 'live-waiting'}, text));
  // Without a result, a side says why.
  const sayWaiting = (text) => SIDES.filter((side) => !shown[side]).forEach((side) => say(side, text));

  const barrierButton = (side, line) => {
    const gone = removed[side].includes(line);
    const button = make('button', {type: 'button', className: 'live-barrier'},
                        gone ? 'put barrier back' : 'remove barrier');
    button.setAttribute('aria-label', `${gone ? 'Put back' : 'Remove'} the barrier of line ${line}`);
    button.addEventListener('click', () => {
      removed[side] = gone ? removed[side].filter((n) => n !== line) : [...removed[side], line];
      drawSource(side);
      part(side, 'source').querySelector(`#${side}-L${line} button`).focus();
      run();
    });
    return button;
  };
  const drawSource = (side) => {
    part(side, 'source').replaceChildren(...SOURCES[stepIn(side)].lines.map(([line, html]) => {
      const code = make('code');
      code.innerHTML = html || ' ';  // the builder's own colours
      const row = make('div', {id: `${side}-L${line}`, className: 'live-line'},
                       make('span', {className: 'live-cost'}), make('span', {className: 'live-number'}, line), code);
      row.classList.toggle('removed', removed[side].includes(line));
      if (/__syncthreads\(\);/.test(code.textContent)) row.append(barrierButton(side, line));
      return row;
    }));
    part(side, 'link').href = `${stepIn(side)}.html`;
  };
  const drawHeat = () => {
    const cost = COSTS[form.elements.cost.value];
    const heat = Object.fromEntries(SIDES.filter((side) => shown[side]).map((side) =>
      [side, costOfLines(shown[side].profile, SOURCES[stepIn(side)].file, cost)]));
    const most = Math.max(1, ...Object.values(heat).flatMap((lines) => [...lines.values()]));
    for (const side of Object.keys(heat)) {
      const bad = new Set(shown[side].findings.flatMap((f) => (f.parties ?? []).map((p) => p.line)));
      for (const row of part(side, 'source').children) {
        const line = Number(row.id.slice(3)), value = heat[side].get(line) ?? 0;
        row.firstChild.textContent = value ? brief(value) : '';
        row.style.setProperty('--w', value / most);
        row.classList.toggle('bad', bad.has(line));
      }
    }
  };

  const runner = makeRunner();
  let asked = 0;
  const run = async () => {
    const mine = ++asked;
    runner.stop();
    try {
      const requests = SIDES.map(wanted);
      sayWaiting('Running …');
      status.textContent = 'The emulator runs both kernels …';
      for (const [k, side] of SIDES.entries()) {
        const image = await unpacked(KERNELS[requests[k].step]);
        if (mine !== asked) return;
        const result = await runner.run({...requests[k], image});
        if (mine !== asked) return;
        if (result.failed) throw new Error(`The emulator stopped: ${result.failed}`);
        shown[side] = result;
        drawVerdict(side, result);
        drawCosts();
        drawHeat();
      }
      const instructions = sumOf(SIDES, (side) => shown[side].warp_instructions);
      const seconds = sumOf(SIDES, (side) => shown[side].seconds);
      status.textContent = `${whole(instructions)} warp instructions in ${seconds.toFixed(2)} s, in this page.`;
    } catch (error) {
      if (mine !== asked || !error) return;
      status.textContent = error.message;
      sayWaiting(`No result: ${error.message}`);
    }
  };

  const choose = (side, step, block = stepOf(lab, step).block) => {
    form.elements[`step-${side}`].value = step;
    removed[side] = [];
    shown[side] = null;
    setNumber(`block-x-${side}`, block[0]);
    setNumber(`block-y-${side}`, block[1]);
    drawSource(side);
  };
  const experiment = ({text, step, block}) => {
    const button = make('button', {type: 'button'}, text);
    button.addEventListener('click', () => {
      choose('a', step);
      choose('b', step, block);
      run();
    });
    return button;
  };

  if (typeof WebAssembly === 'undefined' || typeof DecompressionStream === 'undefined') {
    status.textContent = 'This browser is too old for the emulator: it has no WebAssembly or no DecompressionStream.';
    return;
  }
  const about = LABS[lab], names = Object.keys(about.steps);
  const named = names.indexOf(decodeURIComponent(location.hash.slice(1)));  // live.html#03_sequential
  byId('live-sizes').append(...about.sizes.map(({name, text, most, first}) => field(name, text, most, first)));
  byId('live-cost').append(...COSTS.map(({name}, k) => make('option', {value: k}, name)));
  byId('live-tries').append(...about.experiments.map(experiment));
  const first = named < 0 ? {a: about.compare[0], b: about.compare[1]}
    : {a: names[Math.max(0, named - 1)], b: names[named]};
  for (const side of SIDES) {
    part(side, 'block').append(field(`block-x-${side}`, 'block', 1024, 1), field(`block-y-${side}`, 'by', 1024, 1));
    choose(side, first[side]);
    form.elements[`step-${side}`].addEventListener('change', (event) => choose(side, event.target.value));
  }
  byId('live').hidden = false;
  form.elements.cost.addEventListener('change', drawHeat);
  let soon;
  form.addEventListener('input', () => {
    clearTimeout(soon);
    soon = setTimeout(run, 250);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  run();
})();
