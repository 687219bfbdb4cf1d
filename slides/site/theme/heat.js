// The table of the cost of each line. A heading sorts by its column and shows the column next to the source.
'use strict';
(() => {
  const table = document.getElementById('heat');
  if (!table) return;
  const heads = [...table.tHead.rows[0].cells].slice(0, -1), body = table.tBodies[0];
  const order = [...body.rows], now = document.getElementById('heat-now');

  function by(column) {
    const value = (row) => Number(row.cells[column].dataset.v);
    const rows = column ? [...order].sort((a, b) => value(b) - value(a)) : order;
    body.append(...rows);
    heads.forEach((h, k) => {
      if (k === column) h.setAttribute('aria-sort', column ? 'descending' : 'ascending');
      else h.removeAttribute('aria-sort');
    });
    for (const line of document.querySelectorAll('.line')) {
      line.removeAttribute('data-heat');
      line.style.removeProperty('--w');
    }
    document.querySelectorAll('pre.source').forEach((e) => e.classList.toggle('heated', column > 0));
    now.textContent = column ? `Sorted by ${heads[column].textContent}, which the source shows, too.` : 'In the order of the lines.';
    if (!column) return;
    for (const row of order) {
      const line = row.dataset.line && document.getElementById(row.dataset.line), cell = row.cells[column];
      if (!line || !value(row)) continue;
      line.dataset.heat = cell.textContent;
      line.style.setProperty('--w', cell.style.getPropertyValue('--w'));
    }
  }
  heads.forEach((h, k) => h.querySelector('button').addEventListener('click', () => by(k)));
  // Begins with a column of waste, if anything is wasted; otherwise with the stalls of warps.
  const named = (name) => heads.findIndex((h) => h.textContent === name);
  by(Math.max(0, ['bank conflicts', 'wasted sectors', 'stalls', 'instructions'].map(named).find((k) => k > 0) || 0));
})();
