// The list of sites: filtered and grouped at once, but written into the page only where somebody opens a group.
const CHUNK = 100;
const filters = document.getElementById('filters');
const groups = document.getElementById('groups');
const search = document.getElementById('search');

const sites = data.sites.map((row, index) => {
  const [file, rule, status, line, column, cell, message, source, edit, symbol, safety] = row;
  return {
    index, file, line, column, cell,
    path: data.files[file],
    rule: data.rules[rule],
    status: data.statuses[status],
    message: data.texts[message],
    source: data.texts[source],
    edit: edit === null ? null : data.texts[edit],
    symbol: symbol === null ? '' : data.texts[symbol],
    safety: safety === null ? null : data.texts[safety],
    hay: null,
  };
});

function haystack(site) {
  if (site.hay === null) {
    const texts = [site.path, site.rule, site.symbol, ...site.source, ...(site.edit || []), ...site.message.flat()];
    site.hay = texts.join(' ').toLowerCase();
  }
  return site.hay;
}

const order = ['unreadable', 'unsupported', 'manual', 'rewritten', 'advice', 'kept', 'suppressed'];
const groupings = {
  file: (site) => site.path,
  rule: (site) => site.rule,
  status: (site) => site.status,
};

function chosen() {
  const statuses = new Set([...filters.querySelectorAll('[name=status]:checked')].map((box) => box.value));
  const rule = document.getElementById('by-rule').value;
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  return sites.filter(
    (site) =>
      statuses.has(site.status) &&
      (!rule || site.rule === rule) &&
      wanted.every((word) => haystack(site).includes(word)),
  );
}

function prose(turns) {
  return turns.map((text, index) => (index % 2 ? make('code', {}, text) : text));
}

function siteItem(site) {
  const [head, marked, tail] = site.source;
  const place = site.cell === null ? say('script.place', site) : say('script.cell-place', site);
  const label = groupBy() === 'file' ? place : `${site.path}, ${place}`;
  const meta = make(
    'p',
    { class: 'meta' },
    make('span', { class: `badge ${site.status}` }, say(`status.${site.status}`)),
    make('a', { href: `#site-${site.index}` }, label),
    make('a', { href: `#rule-${site.rule}`, class: 'code' }, site.rule),
    site.safety ? make('span', { class: 'dim' }, say(`safety.${site.safety}`)) : null,
  );
  const source = head + marked + tail ? make('pre', {}, make('code', {}, head, make('mark', {}, marked), tail)) : null;
  const edit = site.edit
    ? make('p', { class: 'edit' }, make('del', {}, site.edit[0]), ' → ', make('span', { class: 'hidden' }, say('script.becomes')), make('ins', {}, site.edit[1]))
    : null;
  const message = make('p', {}, prose(site.message[language()]));
  return make('li', { id: `site-${site.index}`, class: `site ${site.status}`, tabindex: -1 }, meta, message, source, edit);
}

function more(list, rest) {
  const button = make('button', { type: 'button' }, say('script.more', { count: Math.min(rest.length, CHUNK) }));
  button.addEventListener('click', () => {
    const added = rest.slice(0, CHUNK).map(siteItem);
    list.append(...added);
    button.replaceWith(...(rest.length > CHUNK ? [more(list, rest.slice(CHUNK))] : []));
    added[0].focus();
  });
  return button;
}

function fill(group) {
  if (group.filled) return;
  group.filled = true;
  const list = make('ol', {}, group.sites.slice(0, CHUNK).map(siteItem));
  group.append(list);
  if (group.sites.length > CHUNK) group.append(more(list, group.sites.slice(CHUNK)));
  const hunks = groupBy() === 'file' ? data.diffs[group.sites[0].file] : null;
  if (hunks) group.append(make('div', { class: 'scroll' }, diffTable(hunks, group.sites[0].path)));
}

// Open groups that are still empty. They are filled a moment at a time, so that the page answers while thousands come.
const queue = new Set();

function fillQueued(until = performance.now() + 80) {
  for (const group of queue) {
    if (performance.now() > until) break;
    queue.delete(group);
    fill(group);
  }
  if (queue.size) setTimeout(fillQueued);
}

const groupBy = () => document.getElementById('by-group').value;

function groupHead(key, found) {
  const counts = order.map((status) => [status, found.filter((site) => site.status === status).length]);
  const badges = counts
    .filter(([, count]) => count)
    .map(([status, count]) => make('span', { class: `badge ${status}` }, `${say(`status.${status}`)} ${count}`));
  const title = groupBy() === 'status' ? say(`status.${key}`) : key;
  return make('summary', {}, make('b', { class: 'code' }, title), make('span', { class: 'badges' }, badges));
}

function groupElement(key, found, open) {
  const group = make('details', { class: 'fold group' }, groupHead(key, found));
  group.sites = found;
  group.dataset.key = key;
  group.addEventListener('toggle', () => group.open && !queue.has(group) && fill(group));
  if (open) {
    queue.add(group);
    group.open = true;
  }
  return group;
}

let first = true; // one group stands open at first, to show what is in them

function list() {
  const open = new Set([...groups.querySelectorAll('details[open]')].map((group) => group.dataset.key));
  const found = chosen();
  const keyed = new Map();
  for (const site of found) {
    const key = groupings[groupBy()](site);
    if (!keyed.has(key)) keyed.set(key, []);
    keyed.get(key).push(site);
  }
  const entries = [...keyed];
  if (groupBy() === 'status') entries.sort((one, other) => order.indexOf(one[0]) - order.indexOf(other[0]));
  if (first) open.add((entries[0] || [])[0]);
  first = false;
  queue.clear();
  groups.replaceChildren(...entries.map(([key, some]) => groupElement(key, some, open.has(key))));
  fillQueued();
  const facts = { shown: found.length.toLocaleString(), total: sites.length.toLocaleString() };
  document.getElementById('shown').textContent = found.length ? say('script.shown', facts) : say('script.none');
}

// Filters that would hide it are lifted, so that every link finds its site.
function show(index) {
  const site = sites[index];
  if (!site) return;
  if (!chosen().includes(site)) {
    search.value = '';
    document.getElementById('by-rule').value = '';
    filters.querySelector(`[name=status][value=${site.status}]`).checked = true;
    list();
  }
  const key = groupings[groupBy()](site);
  const group = [...groups.children].find((one) => one.dataset.key === key);
  fill(group);
  group.open = true;
  while (!document.getElementById(`site-${index}`)) group.querySelector(':scope > button').click();
  const element = document.getElementById(`site-${index}`);
  element.scrollIntoView({ block: 'center' });
  element.focus({ preventScroll: true });
}

function showRule(code) {
  document.getElementById('by-rule').value = code;
  search.value = '';
  for (const box of filters.querySelectorAll('[name=status]')) box.checked = true;
  list();
  document.getElementById('sites').scrollIntoView();
  search.focus({ preventScroll: true });
}
