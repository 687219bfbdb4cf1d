// An editor for a source: a textarea, with the same text in colours behind it, line numbers on its left
// and the results of each line on its right. Tab leaves the editor, as it leaves every field.
'use strict';
(() => {
  const WORDS = new Set(('alignas auto bool break case char class const constexpr continue default do double else enum extern '
    + 'false float for if inline int long namespace new nullptr operator private public return short signed sizeof static '
    + 'static_assert struct switch template this true typedef typename union unsigned using void volatile while '
    + '__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__').split(' '));
  // Comment, string, preprocessor, name, number. Everything else stays plain.
  const TOKEN = /(\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(^[ \t]*#[^\n]*?(?=\/\/|\/\*|$))|([A-Za-z_]\w*)|(\d[\w.]*)/gm;
  const MOST = 200000; // characters that are coloured

  // The text as nodes with the classes of the pages' listings. Text is never parsed as markup.
  function coloured(text) {
    const out = document.createDocumentFragment();
    if (text.length > MOST) { out.append(text); return out; }
    let at = 0;
    for (const found of text.matchAll(TOKEN)) {
      const kind = found[1] ? 'c' : found[2] ? 's' : found[3] ? 'b' : found[5] ? 'n' : WORDS.has(found[4]) ? 'k' : '';
      if (!kind) continue;
      const span = document.createElement('span');
      span.className = kind;
      span.textContent = found[0];
      out.append(text.slice(at, found.index), span);
      at = found.index + found[0].length;
    }
    out.append(text.slice(at));
    return out;
  }

  // Builds an editor around `area`. Returns the element that replaces it, which has marks(lines).
  window.makeEditor = (area, changed) => {
    const box = document.createElement('div'), numbers = document.createElement('div'), middle = document.createElement('div');
    const shown = document.createElement('pre'), notes = document.createElement('div');
    box.className = 'editor';
    numbers.className = 'ed-numbers'; notes.className = 'ed-notes'; middle.className = 'ed-text'; shown.className = 'ed-shown';
    for (const hidden of [numbers, shown, notes]) hidden.setAttribute('aria-hidden', 'true');
    area.replaceWith(box);
    middle.append(shown, area);
    box.append(numbers, middle, notes);
    area.hidden = false;
    area.spellcheck = false;
    area.wrap = 'off';
    for (const off of ['autocomplete', 'autocapitalize', 'autocorrect']) area.setAttribute(off, 'off');
    let known = new Map(); // line: {text, bad, share}
    function draw() {
      const text = area.value, lines = text.split('\n');
      shown.replaceChildren(coloured(text), '\n');
      numbers.replaceChildren(...lines.map((_, i) => {
        const one = document.createElement('div');
        one.textContent = i + 1;
        if (known.get(i + 1)?.bad) one.className = 'bad';
        return one;
      }));
      box.classList.toggle('noted', known.size > 0);
      notes.replaceChildren(...lines.map((_, i) => {
        const one = document.createElement('div'), what = known.get(i + 1);
        if (what) {
          one.textContent = what.text;
          one.title = what.text;
          if (what.bad) one.className = 'bad';
          one.style.setProperty('--share', what.share || 0);
        }
        return one;
      }));
      area.style.width = `${Math.max(20, ...lines.map((line) => line.replace(/\t/g, '    ').length)) + 2}ch`;
      area.rows = lines.length + 1;
    }
    area.addEventListener('input', () => { known = new Map(); draw(); changed(); });
    area.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' || e.ctrlKey || e.metaKey || e.isComposing) return;
      const line = area.value.slice(area.value.lastIndexOf('\n', area.selectionStart - 1) + 1, area.selectionStart);
      const blanks = line.match(/^ */)[0] + (/\{\s*$/.test(line) ? '  ' : '');
      if (!blanks) return;
      e.preventDefault();
      document.execCommand('insertText', false, '\n' + blanks); // Ctrl+Z can undo this
    });
    draw();
    return {
      box,
      marks(lines) { known = lines; draw(); },
      set(text) { area.value = text; known = new Map(); draw(); },
      go(line) {
        const before = area.value.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
        area.focus();
        area.setSelectionRange(before, before + (area.value.split('\n')[line - 1] || '').length);
        numbers.children[line - 1]?.scrollIntoView({ block: 'center' });
      },
    };
  };
})();
