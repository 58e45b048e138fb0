// Links into the list, folds, keys.
function follow() {
  const [, kind, name] = window.location.hash.match(/^#(site|rule)-(\w+)$/) || [];
  if (kind === 'site') show(Number(name));
  const fold = kind === 'rule' ? document.getElementById(`rule-${name}`) : null;
  if (fold) {
    fold.open = true;
    fold.scrollIntoView();
    fold.querySelector('summary').focus({ preventScroll: true });
  }
}

function openAll(open) {
  queue.clear();
  for (const group of groups.children) {
    if (open) queue.add(group);
    group.open = open;
  }
  fillQueued();
}

document.addEventListener('click', (event) => {
  const rule = event.target.closest('button.show-rule');
  if (rule) showRule(rule.dataset.rule);
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === window.location.hash) follow();
});
document.getElementById('open-all').addEventListener('click', () => openAll(true));
document.getElementById('close-all').addEventListener('click', () => openAll(false));
document.addEventListener('keydown', (event) => {
  const typing = event.target.matches('input[type=search], select, textarea');
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
});
filters.addEventListener('submit', (event) => event.preventDefault());
filters.addEventListener('change', list);
root.addEventListener('spoken', list);
let waiting = 0;
search.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(list, 120);
});
window.addEventListener('hashchange', follow);
window.addEventListener('beforeprint', () => {
  if (chosen().length > 2000) return;
  openAll(true);
  fillQueued(Infinity);
});

list();
follow();
