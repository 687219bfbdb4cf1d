// A step's page: arrow keys go to the previous and the next step, and a link into a folded section
// opens it.
'use strict';
(() => {
  const rail = document.querySelector('.rail-steps');
  const current = rail.querySelector('[aria-current]');
  rail.scrollLeft = current.offsetLeft - rail.offsetLeft - rail.clientWidth / 2;
  rail.scrollTop = current.offsetTop - rail.offsetTop - rail.clientHeight / 2;

  document.addEventListener('keydown', (e) => {
    const rel = { ArrowLeft: 'prev', ArrowRight: 'next' }[e.key];
    const free = document.activeElement === document.body || rail.contains(document.activeElement);
    const link = rel && document.querySelector(`.around a[rel=${rel}]`);
    if (!link || !free || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    location.href = link.href;
  });

  function open(target) {
    const folded = target && target.closest('details.fold');
    if (!folded || folded.open) return;
    folded.open = true;
    target.scrollIntoView();
  }
  const reveal = () => open(document.getElementById(location.hash.slice(1)));
  addEventListener('hashchange', reveal);
  reveal();
})();
