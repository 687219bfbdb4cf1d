// A slider along the points of a sweep: shows the text of the chosen point, which is already on the page.
// Without this script, all points are listed one after the other.
'use strict';
for (const section of document.querySelectorAll('.sweep')) {
  const input = section.querySelector('input[type=range]'), output = section.querySelector('output');
  const places = input.dataset.places.split('|');
  const choose = () => {
    output.textContent = places[input.value];
    input.setAttribute('aria-valuetext', places[input.value]);
    for (const e of section.querySelectorAll('.readout')) e.hidden = e.dataset.at !== input.value;
    for (const e of section.querySelectorAll('.picked'))
      e.setAttribute('visibility', e.dataset.at === input.value ? 'visible' : 'hidden');
  };
  input.addEventListener('input', choose);
  choose();
}
