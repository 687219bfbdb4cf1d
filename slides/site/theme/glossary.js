// Filters the index of the glossary while you type. Enter goes to the first term that is left.
'use strict';
(() => {
  const field = document.querySelector('#filter'), count = document.querySelector('#filtered');
  const letters = [...document.querySelectorAll('.a-to-z li')];
  const terms = [...document.querySelectorAll('.a-to-z a')];
  const left = () => terms.filter((term) => !term.hidden);

  function filter() {
    const words = field.value.toLowerCase().trim();
    for (const term of terms) term.hidden = !term.textContent.toLowerCase().includes(words);
    for (const letter of letters) letter.hidden = !letter.querySelector('a:not([hidden])');
    count.textContent = words ? `${left().length} of ${terms.length} terms` : '';
  }
  field.addEventListener('input', filter);
  field.addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && left().length) left()[0].click();
  });
  filter();
})();
