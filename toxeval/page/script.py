"""What the page does in the browser. Nothing is kept anywhere: all that counts travels with each question.

A result belongs to its rows. ``version`` counts what the visitor changed; an answer to an older version is marked as
such, or dropped.
"""

from toxeval.page.rows import LIMITS

SCRIPT = """
const find = (selector) => element.querySelector(selector);
const form = find('form'), text = find('#tox-text'), chooser = find('#tox-file'), reading = find('#tox-reading');
const message = find('#tox-message'), result = find('#tox-result'), status = find('#tox-status');
let file = null, source = null, header = null, columns = {}, files = {}, version = 0, readings = 0, timer = 0;

const narrow = () => innerWidth < 700;
const given = () => {
  const options = {};
  for (const input of form.querySelectorAll('[data-option]')) {
    if (input.type === 'checkbox') options[input.dataset.option] = input.checked;
    else if (input.type !== 'radio' || input.checked) options[input.dataset.option] = input.value;
  }
  return {text: file ? '' : text.value, file, header, columns, options, narrow: narrow()};
};
const silence = 'The server gave no answer; please try again.';
const ask = async (question, about) => {
  try { return await server[question](about); } catch {
    return {message: silence, html: `<p class="tox-error">${silence}</p>`, files: {}};
  }
};

// --- messages

const say = (words) => { status.textContent = words; };
const unsay = () => {
  message.textContent = '';
  form.querySelectorAll('[aria-invalid]').forEach((input) => input.removeAttribute('aria-invalid'));
};
const refuse = (words, option) => {
  const input = option && form.querySelector(`[data-option="${CSS.escape(option)}"]`);
  (input ? input.closest('.tox-control') : reading).after(message);
  if (input) {
    input.closest('details')?.setAttribute('open', '');
    input.setAttribute('aria-invalid', 'true');
  }
  message.textContent = words;
  message.scrollIntoView({block: 'nearest'});
  clear();
};
const clear = () => {
  result.innerHTML = '<p class="tox-empty">No result.</p>';
  result.classList.remove('tox-stale');
  files = {};
  say('');
};
const changed = () => {
  version += 1;
  files = {};
  unsay();
  if (!result.querySelector('.tox-cards')) return;
  result.querySelectorAll('.tox-take').forEach((part) => part.remove());
  result.classList.add('tox-stale');
  say('These numbers belong to other rows or options. Compute again.');
};

// --- rows

const show = (answer) => {
  const focused = reading.contains(document.activeElement) && document.activeElement.id;
  reading.innerHTML = answer.html;
  if (focused) find('#' + CSS.escape(focused))?.focus();
  if (answer.refused && file) clear();
};
const read = async () => {
  const mine = ++readings;
  reading.ariaBusy = 'true';
  const answer = await ask('read', given());
  if (mine !== readings) return;
  reading.ariaBusy = 'false';
  show(answer);
};
const choose = (chosen) => {
  file = null; source = chosen; header = null; columns = {};
  text.value = '';
  find('#tox-chosen').hidden = !chosen;
  find('#tox-box').hidden = Boolean(chosen);
  find('#tox-chosen strong').textContent = chosen ? chosen.name : '';
};
const take = (chosen) => {
  if (!chosen) return;
  choose(chosen);
  changed();
  if (chosen.size > MOST_BYTES) {
    const size = (chosen.size / 1e6).toFixed(1);
    file = {name: chosen.name, data: ''};
    return refuse(`${chosen.name}: ${size} MB; allowed: up to ${MOST_BYTES / 1e6} MB.`);
  }
  reading.ariaBusy = 'true';
  const reader = new FileReader();
  reader.onload = () => {
    file = {name: chosen.name, data: String(reader.result).split(',')[1] ?? ''};
    read();
  };
  reader.readAsDataURL(chosen);
};

// --- results

const present = (answer, origin) => {
  files = {...answer.files, [answer.rows.name]: [answer.rows.header, origin]};
  result.innerHTML = answer.html;
  result.classList.remove('tox-stale');
  say(answer.status);
};
const picture = (answer) => {
  find('#tox-picture').innerHTML = answer.html;
  for (const [name, content] of Object.entries(answer.files)) {
    files[name] = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  }
};
const compute = async () => {
  if (form.ariaBusy === 'true') return;
  const mine = version, sent = given(), origin = source ?? text.value;
  form.ariaBusy = 'true';
  unsay();
  say('Computing …');
  const answer = await ask('score', sent);
  form.ariaBusy = 'false';
  if (mine !== version) return say('Rows or options have changed. Compute again.');
  if (answer.message) return refuse(answer.message, answer.option);
  present(answer, origin);
  if (matchMedia('(max-width: 900px)').matches) find('#tox-step-3').scrollIntoView();
  const drawn = await ask('draw', sent);
  if (mine === version) picture(drawn);
};
const example = async (number) => {
  choose(null);
  changed();
  const mine = ++version, answer = await ask('example', {number, narrow: narrow()});
  if (mine !== version) return;
  if (answer.message) return refuse(answer.message);
  text.value = answer.text;
  find('#tox-options').innerHTML = answer.options;
  readings += 1;
  reading.ariaBusy = 'false';
  show(answer.read);
  present(answer.score, text.value);
  picture(answer.draw);
};
const save = (name) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([files[name]].flat()));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

const joinParts = (option) => {  // without a number, or with chances that are all 0, there is nothing to say
  const parts = [...form.querySelectorAll(`[data-part-of="${option}"]`)].filter(({value}) => value !== '');
  const none = parts.every(({type, dataset, value}) => type === 'range' && dataset.part && Number(value) === 0);
  const said = none ? [] : parts.map(({dataset, value}) => dataset.part ? `${dataset.part}=${value}` : value);
  form.querySelector(`[data-option="${option}"]`).value = said.join(', ');
};

// --- events

form.addEventListener('input', ({target}) => {
  if (target === chooser) return;
  if (target.dataset.partOf) joinParts(target.dataset.partOf);
  changed();
  if (target === text) {
    clearTimeout(timer);
    readings += 1;
    reading.ariaBusy = 'true';
    timer = setTimeout(read, 300);
  } else if (target.dataset.column) {
    const [input, field] = target.dataset.column.split('.');
    for (const other of reading.querySelectorAll('[data-column]')) {
      const name = other.dataset.column;
      if (other === target || field && name.startsWith(`${input}.`)) columns[name] = other.value;
    }
    read();
  } else if (target.id === 'tox-header' || target.dataset.option === 'config_name') {
    if (target.id === 'tox-header') header = target.checked;
    columns = {};
    read();
  }
});
form.addEventListener('submit', (event) => { event.preventDefault(); compute(); });
chooser.addEventListener('change', () => { take(chooser.files[0]); chooser.value = ''; });
for (const name of ['dragover', 'drop']) {
  form.addEventListener(name, (event) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);  // there is none before it is dropped
  });
}
element.addEventListener('click', ({target}) => {
  const button = target.closest('button');
  if (button?.dataset.example) example(Number(button.dataset.example));
  else if (button?.id === 'tox-remove') { choose(null); changed(); read(); text.focus(); }
  else if (button?.dataset.file && files[button.dataset.file]) save(button.dataset.file);
  else if (button && 'copy' in button.dataset) {
    getSelection().selectAllChildren(button.previousElementSibling);
    navigator.clipboard?.writeText(button.previousElementSibling.textContent);
    say('Copied.');
  }
});
example(0);
""".replace("MOST_BYTES", str(LIMITS.bytes))
