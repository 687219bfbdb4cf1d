// Two stages of one picture, one over the other, and a divider between them.
'use strict';
(() => {
  const box = document.getElementById('before-after');
  if (!box) return;
  const stages = [...document.querySelectorAll('.stages figure')];
  const sides = ['left', 'right'].map((name) => [document.getElementById(name), document.getElementById(`pair-${name}`)]);
  const divider = document.getElementById('divider'), says = document.getElementById('pair-says');
  const name = (select) => select.selectedOptions[0].textContent;
  const move = () => {
    box.style.setProperty('--at', `${divider.value}%`);
    divider.setAttribute('aria-valuetext', `${divider.value} % ${name(sides[0][0])}, ${100 - divider.value} % ${name(sides[1][0])}`);
  };
  const choose = () => {
    for (const [select, image] of sides) {
      const of = stages[select.value];
      image.src = of.querySelector('img').src;
      image.alt = of.querySelector('img').alt;
    }
    says.textContent = sides.map(([select]) => stages[select.value].querySelector('p').textContent).join(' ');
    move();
  };
  sides.forEach(([select]) => select.addEventListener('change', choose));
  divider.addEventListener('input', move);
  document.querySelector('.pair').addEventListener('pointermove', (e) => {
    if (e.pointerType === 'mouse' && !e.buttons) return;
    const at = e.currentTarget.getBoundingClientRect();
    divider.value = Math.round(100 * (e.clientX - at.left) / at.width);
    move();
  });
  box.hidden = false;
  choose();
})();
