// Plays recorded warps. A player is an element of class "warp": data-name is the version,
// data-beside is a second version, data-others lists the versions to compare with, and data-alone
// says that the page has no other player. A recording is a script, recorded/STEP.js. It is loaded
// when a player needs it, which works from disk, too.
'use strict';
(() => {
  const W = window.Warp, make = W.make;
  const button = (text, label, onclick) => {
    const e = make('button', '', text);
    e.type = 'button';
    if (label) e.setAttribute('aria-label', label);
    e.onclick = onclick;
    return e;
  };
  const labelled = (text, ...control) => {
    const e = make('label');
    e.append(...control, ` ${text}`);
    return e;
  };
  function choice(values, chosen) {
    const e = make('select');
    e.autocomplete = 'off';
    for (const value of values) e.append(new Option(value, value, false, value === chosen));
    return e;
  }
  const scrollable = (e, label) => {
    e.tabIndex = 0;
    e.setAttribute('role', 'group');
    e.setAttribute('aria-label', label);
    return e;
  };

  // Loads recordings, which are scripts that add themselves to window.WARPS.
  function load(name) {
    const known = window.WARPS = window.WARPS || {};
    if (known[name]) return Promise.resolve(known[name]);
    return new Promise((done, failed) => {
      const script = document.createElement('script');
      script.src = `recorded/${name}.js`;
      script.onload = () => done(window.WARPS[name]);
      script.onerror = failed;
      document.head.append(script);
    });
  }

  // One version: its picture with a sentence, its row of the cost strip, and its code.
  class Side {
    constructor(name, recording, player) {
      Object.assign(this, {name, r: recording, player, at: -1, which: 0});
      this.root = make('section', 'player');
      this.root.setAttribute('aria-label', name);
      this.where = make('span');
      const head = make('p', 'where');
      this.choices = make('span', 'choices');
      head.append(make('b', '', name), this.where, this.choices);
      this.said = make('p', 'sentence');
      this.picture = make('div');
      this.root.append(head, this.said, this.picture);
      this.source = scrollable(make('pre', 'lines-of-source'), `Source of ${name}`);
      this.ptx = scrollable(make('pre', 'ptx'), `PTX of ${name}`);
      this.code = make('div', 'code');
      this.code.append(this.source, this.ptx);
    }

    show(n) {
      if (n === this.at) return;
      this.at = n;
      this.which = 0;
      this.draw();
      this.showCode();
    }

    draw() {
      const all = W.accesses(this.r, this.r.steps[this.at]);
      this.where.textContent = W.where(this.r, this.at);
      this.sentence = W.sentence(this.r, this.at, this.which);
      this.said.textContent = this.sentence;
      this.said.classList.toggle('costly', W.costly(this.r.steps[this.at]));
      this.choices.replaceChildren(...(all.length > 1 ? all.map((_, k) => this.choose(k)) : []));
      const next = W.picture(this.r, this.at, this.which, this.player.values.checked);
      this.picture.replaceWith(next);
      this.picture = next;
    }

    // The button for one of several accesses of an instruction.
    choose(k) {
      const e = button(`access ${k + 1}`, '', () => { this.which = k; this.draw(); });
      e.setAttribute('aria-pressed', String(k === this.which));
      return e;
    }

    showCode() {
      const r = this.r, i = r.instructions[r.steps[this.at].i];
      const lines = i.file === undefined ? [] : Object.entries(r.files[i.file].lines);
      this.source.replaceChildren(...lines.map(([number, text]) => (
        make('span', Number(number) === i.line ? 'now' : '', `${number.padStart(4)}  ${text}`))));
      const first = Math.max(0, this.at - 3), last = Math.min(r.steps.length, this.at + 4);
      this.ptx.replaceChildren(...r.steps.slice(first, last).map((s, k) => (
        make('span', first + k === this.at ? 'now' : '', r.instructions[s.i].ptx))));
      for (const box of [this.source, this.ptx]) {
        const now = box.querySelector('.now');
        if (!now) continue;
        now.setAttribute('aria-current', 'true');
        box.scrollTop = now.offsetTop - box.clientHeight / 2;
      }
    }

    // The row of the cost strip: for each moment, a bar as high as the cost of the instruction.
    strip(moments, most) {
      const svg = W.drawing(moments.length, 100);
      const bar = (css, x, from, to, width = 0.84) => (
        W.rect(svg, css, {x: x + (1 - width) / 2, y: 100 - to, width, height: to - from}));
      moments.forEach((at, x) => {
        const s = this.r.steps[at], i = this.r.instructions[s.i], {n, ideal} = W.cost(s);
        if (x && moments[x - 1] === at) return;  // this version waits
        if (n) {
          bar('needed', x, 0, 100 * ideal / most);
          if (n > ideal) bar('excess', x, 100 * ideal / most, 100 * n / most);
        } else if (s.b || W.is.copy(i) || W.is.product(i)) bar('unit', x, 0, 30);
        else if (W.is.shuffle(i)) bar('shuffle', x, 0, 30);
        else if (W.is.barrier(i)) bar('barrier', x, 0, 100, 0.3);
        else bar('other', x, 0, 4);
      });
      return svg;
    }
  }

  class Player {
    constructor(root) {
      Object.assign(this, {root, timer: 0, moments: []});
      root.append(...this.frame());
    }

    frame() {
      this.sidesBox = make('div', 'sides');
      this.codes = make('div', 'sides codes');
      this.said = make('p', 'visually-hidden');
      this.said.setAttribute('role', 'status');
      return [this.sidesBox, this.stripBox(), this.legend(), this.controls(), this.options(),
              this.codes, this.said];
    }

    stripBox() {
      const box = make('div', 'strip');
      this.rows = make('div', 'rows');
      this.scrub = make('input');
      Object.assign(this.scrub, {type: 'range', min: 1, value: 1, autocomplete: 'off'});
      this.scrub.setAttribute('aria-label', 'Instruction');
      this.scrub.oninput = () => this.go(Number(this.scrub.value));
      this.cursor = make('div', 'cursor');
      box.append(this.rows, this.cursor, this.scrub);
      return box;
    }

    legend() {
      const e = make('p', 'legend');
      this.highest = make('span', 'highest');
      e.append(this.highest);
      for (const [css, text] of [['needed', 'needed'], ['excess', 'more than needed'],
                                 ['barrier', 'barrier'], ['shuffle', 'shuffle'],
                                 ['unit', 'TMA, wgmma, mbarrier']]) {
        const item = make('span');
        item.append(make('i', css), text);
        e.append(item);
      }
      return e;
    }

    controls() {
      const box = make('div', 'controls');
      box.setAttribute('role', 'group');
      box.setAttribute('aria-label', 'Player');
      this.playing = button('Play', '', () => this.play());
      this.playing.classList.add('main');
      this.costly = button('Next costly access', '', () => this.nextCostly());
      this.costly.classList.add('costly');
      this.number = make('span', 'number');
      const group = make('span', 'group');
      group.append(button('|◀', 'First instruction', () => this.go(1)),
                   button('◀', 'One instruction back', () => this.move(-1)), this.playing,
                   button('▶', 'One instruction forward', () => this.move(1)));
      box.append(group, this.costly, this.number);
      return box;
    }

    options() {
      const box = make('div', 'options');
      box.setAttribute('role', 'group');
      box.setAttribute('aria-label', 'Options of the player');
      this.loop = Object.assign(make('input'), {type: 'checkbox'});
      this.values = Object.assign(make('input'), {type: 'checkbox', onchange: () => this.redraw()});
      this.speed = choice(['1', '4', '16'], '4');
      this.speed.onchange = () => { if (this.timer) { this.stop(); this.play(); } };
      box.append(labelled('values', this.values), labelled('loop', this.loop),
                 labelled('per second', this.speed), ...this.comparison(), this.keys());
      return box;
    }

    comparison() {
      const others = (this.root.dataset.others || '').split(' ').filter(Boolean);
      this.beside = choice(['nothing', ...others], this.root.dataset.beside);
      this.beside.className = 'beside';
      this.beside.onchange = () => {
        this.open(this.beside.value === 'nothing' ? '' : this.beside.value);
      };
      this.sync = choice(['barriers', 'instructions'], 'barriers');
      this.sync.onchange = () => this.plan();
      const [compare, together] = [make('label'), make('label')];
      compare.append('compare with ', this.beside);
      compare.hidden = !others.length;
      together.append('in step at ', this.sync);
      this.together = together;
      return [compare, together];
    }

    keys() {
      const box = make('details', 'keys');
      box.append(make('summary', '', 'Keys'));
      const list = make('dl');
      for (const [key, what] of [['← →', 'one instruction'], ['w', 'next costly access'],
                                 ['space', 'play or stop'], ['?', 'this list'],
                                 ['Home End', 'first and last instruction']])
        list.append(make('dt', '', key), make('dd', '', what));
      box.append(list);
      this.keyList = box;
      return box;
    }

    // Shows the page's version, and next to it another one if `beside` is its name.
    async open(beside) {
      const names = [this.root.dataset.name, ...(beside ? [beside] : [])];
      const found = await Promise.all(names.map(load));
      const old = this.sides;  // undefined at first
      this.sides = found.map((recording, k) => new Side(names[k], recording, this));
      this.together.hidden = !beside;
      this.root.classList.toggle('two', !!beside);
      this.sidesBox.replaceChildren(...this.sides.map((s) => s.root));
      this.codes.replaceChildren(...this.sides.map((s) => s.code));
      this.plan(old ? old[0].at : W.opening(this.sides[0].r));
    }

    // The positions of all sides at each moment. Then shows the first side's instruction `at`.
    plan(at = this.sides[0].at) {
      this.moments = [];
      const recordings = this.sides.map((s) => s.r);
      const together = recordings.length > 1 && this.sync.value === 'barriers';
      const cuts = together ? W.segments(recordings) : recordings.map(() => [0]);
      for (let p = 0; p < cuts[0].length; p++) {
        const ranges = recordings.map((r, k) => (
          [cuts[k][p], (cuts[k][p + 1] ?? r.steps.length) - 1]));
        const length = Math.max(...ranges.map(([a, b]) => b - a + 1));
        for (let n = 0; n < length; n++)
          this.moments.push(ranges.map(([a, b]) => Math.min(a + n, Math.max(a, b))));
      }
      this.scrub.max = this.moments.length;
      this.drawStrip();
      this.show(1 + Math.max(0, this.moments.findIndex((moment) => moment[0] === at)));
    }

    drawStrip() {
      const most = Math.max(...this.sides.flatMap(({r}) => r.steps.map((s) => W.cost(s).n)));
      this.rows.replaceChildren(...this.sides.map((side, k) => {
        const row = make('div', 'row-of-costs');
        row.append(side.strip(this.moments.map((m) => m[k]), Math.max(4, most)));
        if (this.sides.length > 1) row.append(make('span', 'name', side.name));
        return row;
      }));
      this.highest.textContent = most ? `highest bar: ${most} sectors or wavefronts`
        : 'no access is counted';
      for (const i of this.root.querySelectorAll('.legend i'))
        i.parentNode.hidden = !this.rows.querySelector(`rect.${i.className}`);
      const costly = this.moments.filter((m) => this.isCostly(m)).length;
      this.costly.disabled = !costly;
      this.costly.textContent = `Next costly access${costly ? '' : ': none in this recording'}`;
      this.number.textContent = costly ? `${costly} in this recording` : '';
    }

    isCostly(moment) { return moment.some((n, k) => W.costly(this.sides[k].r.steps[n])); }

    show(n) {
      this.scrub.value = n;
      this.cursor.style.left = `${100 * (n - 0.5) / this.moments.length}%`;
      this.moments[n - 1].forEach((at, k) => this.sides[k].show(at));
      const said = this.sides.map((s) => `${s.name}, ${W.where(s.r, s.at)}: ${s.sentence}`)
        .join(' ');
      this.scrub.setAttribute('aria-valuetext', said);
      if (!this.timer) this.said.textContent = said;
    }
    redraw() { for (const side of this.sides) side.draw(); }
    go(n) {
      this.stop();
      this.show(Math.min(this.moments.length, Math.max(1, n)));
    }
    move(by) { this.go(Number(this.scrub.value) + by); }

    // In a text, a player opens where a version loses time, if one does.
    firstCostly() {
      const found = this.moments.findIndex((m) => this.isCostly(m));
      if (found >= 0) this.go(found + 1);
    }
    // Goes to the next moment at which an access of any side costs more than it must. After the
    // last such moment, goes to the first.
    nextCostly() {
      const here = Number(this.scrub.value);
      const order = [...this.moments.slice(here), ...this.moments.slice(0, here)];
      const found = order.findIndex((m) => this.isCostly(m));
      if (found >= 0) this.go((here + found) % this.moments.length + 1);
    }

    stop() {
      clearInterval(this.timer);
      this.timer = 0;
      this.playing.textContent = 'Play';
    }
    play() {
      if (this.timer) { this.stop(); return; }
      if (Number(this.scrub.value) === this.moments.length) this.show(1);
      this.playing.textContent = 'Stop';
      this.timer = setInterval(() => {
        const here = Number(this.scrub.value);
        if (here < this.moments.length) this.show(here + 1);
        else if (this.loop.checked) this.show(1);
        else this.stop();
      }, 1000 / Number(this.speed.value));
    }

    // Whether the player has handled a key.
    key(e) {
      const widget = e.target.closest('input:not([type=range]), select, summary, button');
      const actions = {
        ' ': () => this.play(), w: () => this.nextCostly(),
        ArrowRight: () => this.move(1), ArrowLeft: () => this.move(-1),
        Home: () => this.go(1), End: () => this.go(this.moments.length),
        '?': () => { this.keyList.open = !this.keyList.open; },
      };
      const arrow = e.key.startsWith('Arrow') && !e.target.closest('select');
      if (!actions[e.key] || (widget && !arrow)) return false;
      actions[e.key]();
      return true;
    }

    // The address may end with an instruction's number.
    linked() {
      const n = Number(location.hash.slice(1)) - 1;
      const at = this.moments.findIndex((m) => m[0] === n);
      if (at >= 0) this.go(at + 1);
    }
  }

  // On its own page, a player handles all keys. In a text, it handles those of its own elements.
  function start(root) {
    const player = new Player(root), alone = 'alone' in root.dataset;
    player.open(root.dataset.beside).then(() => {
      if (!alone) { player.firstCostly(); return; }
      player.linked();
      window.addEventListener('hashchange', () => player.linked());
    });
    (alone ? document : root).addEventListener('keydown', (e) => {
      const taken = e.defaultPrevented || e.altKey || e.ctrlKey || e.metaKey;
      if (!taken && player.moments.length && player.key(e)) e.preventDefault();
    });
  }
  for (const root of document.querySelectorAll('.warp')) {
    const fold = root.closest('details');
    if (fold) fold.addEventListener('toggle', () => start(root), {once: true});
    else start(root);
  }
})();
