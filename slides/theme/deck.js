// The presenter of a deck: keys, fragments, overview, the speaker's window with notes, timer and next
// slide. The audience's window and the speaker's exchange their positions by postMessage, which
// works from a file without a server.
const slides = [...document.querySelectorAll('main > .slide')];
const speaking = location.hash === '#speaker';
let now = 0, step = 0, other = speaking ? window.opener : null, began = Date.now(), typed = '';

const fragments = (i) => [...slides[i].querySelectorAll('.fragment')];
const at = (i) => Math.min(Math.max(i, 0), slides.length - 1);

function show(i, fragment, notify = true) {
  now = at(i);
  const steps = fragments(now);
  step = Math.min(Math.max(fragment, 0), steps.length);
  slides.forEach((s, k) => {
    s.classList.toggle('shown', k === now);
    s.classList.toggle('now', k === now);
  });
  steps.forEach((f, k) => f.classList.toggle('hidden', k >= step));
  if (speaking) showSpeaker();
  else if (!document.body.classList.contains('overview'))
    history.replaceState(null, '', '#' + (now + 1));
  if (notify && other) other.postMessage({deck: facts.name, now, step}, '*');
}
const next = () => step < fragments(now).length ? show(now, step + 1) : now + 1 < slides.length && show(now + 1, 0);
const back = () => step > 0 ? show(now, step - 1) : now > 0 && show(now - 1, fragments(now - 1).length);

function fit() {
  if (document.body.classList.contains('overview') || speaking) return;
  const scale = Math.min(innerWidth / 1280, innerHeight / 720);
  const left = (innerWidth - 1280 * scale) / 2, top = (innerHeight - 720 * scale) / 2;
  for (const s of slides) s.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
}

function overview() {
  const on = document.body.classList.toggle('overview');
  for (const s of slides) s.style.transform = '';
  if (on) slides[now].scrollIntoView({block: 'center'});
  else { fit(); show(now, step); }
}

function theme() {
  const dark = document.documentElement.dataset.theme === 'dark';
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
}

// ---- the speaker's window
const minutes = slides.map((s) => Number(s.dataset.minutes) || 0);
const planned = (i) => minutes.slice(0, i).reduce((a, b) => a + b, 0);
const clock = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')}`;

function place(box, slide, hide) {
  const copy = slide.cloneNode(true);
  copy.removeAttribute('id');
  copy.classList.add('shown');
  copy.querySelectorAll('.fragment').forEach((f, k) => f.classList.toggle('hidden', k >= hide));
  copy.style.transform = `scale(${box.clientWidth / 1280})`;
  box.replaceChildren(copy);
}

function showSpeaker() {
  const box = document.querySelector('#speaker');
  const [first, second] = box.querySelectorAll('.view');
  for (const v of [first, second]) v.style.height = v.clientWidth * 720 / 1280 + 'px';
  place(first, slides[now], step);
  const more = step < fragments(now).length;
  if (more) place(second, slides[now], step + 1);
  else if (now + 1 < slides.length) place(second, slides[now + 1], 0);
  else second.replaceChildren();
  box.querySelector('.text').innerHTML = slides[now].querySelector('.notes').innerHTML;
  box.querySelector('.place').textContent = `${now + 1} of ${slides.length}` + (more ? ', more to show' : '');
  tick();
}

function tick() {
  const spent = (Date.now() - began) / 1000;
  const due = planned(now + 1) * 60;
  const time = document.querySelector('#speaker .time');
  time.textContent = clock(spent);
  time.classList.toggle('late', spent > due);
  document.querySelector('#speaker .plan').textContent = `leave at ${clock(due)} of ${clock(planned(slides.length) * 60)}`;
}

function speaker() {
  other = window.open(location.href.split('#')[0] + '#speaker', 'speaker ' + facts.name, 'width=1280,height=800');
}

if (speaking) {
  document.body.classList.add('speaker');
  document.title = 'Speaker: ' + facts.title;
  document.body.insertAdjacentHTML('beforeend',
    '<div id="speaker"><div class="view"></div><div class="side"><div class="clock"><span class="time"></span>' +
    '<span class="plan"></span></div><div class="place"></div><div class="view"></div></div><div class="text"></div></div>');
  setInterval(tick, 500);
}

// ---- keys
const keys = {
  'ArrowRight': ['next', next], 'PageDown': ['next', next], ' ': ['next', next],
  'ArrowLeft': ['back', back], 'PageUp': ['back', back],
  'ArrowDown': ['next slide, complete', () => show(now + 1, 99)], 'ArrowUp': ['previous slide', () => show(now - 1, 99)],
  'Home': ['first slide', () => show(0, 0)], 'End': ['last slide', () => show(slides.length - 1, 99)],
  's': ['speaker window', speaker], 'o': ['overview', overview], 'Escape': ['overview', overview],
  'd': ['dark or light', theme], 'b': ['black', () => document.body.classList.toggle('black')],
  'f': ['full screen', () => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()],
  'n': ['print with notes', () => document.body.classList.toggle('with-notes')],
  't': ['reset the timer', () => { began = Date.now(); if (speaking) tick(); }],
  'Enter': ['after a number: go to that slide', () => { if (typed) show(Number(typed) - 1, 0); typed = ''; }],
  '?': ['this list', () => document.querySelector('#help').classList.toggle('shown')],
};
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.altKey || e.metaKey) return;
  if (/^\d$/.test(e.key)) typed += e.key;
  else if (keys[e.key]) { e.preventDefault(); keys[e.key][1](); if (e.key !== 'Enter') typed = ''; }
});
document.body.insertAdjacentHTML('beforeend', '<div id="help"><table>' + Object.entries(keys).map(
  ([k, [what]]) => `<tr><td><code>${k === ' ' ? 'space' : k}</code></td><td>${what}</td></tr>`).join('') + '</table></div>');
addEventListener('message', (e) => {
  if (!e.data || e.data.deck !== facts.name) return;
  if (e.data.hello) { other = e.source; show(now, step); }
  else show(e.data.now, e.data.step, false);
});
addEventListener('resize', () => { fit(); if (speaking) showSpeaker(); });
addEventListener('click', (e) => {
  const chosen = document.body.classList.contains('overview') && e.target.closest('main > .slide');
  if (chosen) { now = slides.indexOf(chosen); step = 0; overview(); }
});
if (matchMedia('(prefers-color-scheme: dark)').matches && !speaking) theme();
fit();
show(speaking ? 0 : (parseInt(location.hash.slice(1)) || 1) - 1, 0, false);
if (speaking && other) other.postMessage({deck: facts.name, hello: true}, '*');
