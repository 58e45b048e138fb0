// Language, light and dark, print, links into the list.
const dark = window.matchMedia('(prefers-color-scheme: dark)');
let theme = null;

function paint() {
  root.dataset.theme = theme || (dark.matches ? 'dark' : 'light');
}

function speak(lang) {
  root.dataset.lang = lang;
  root.lang = lang === 'zh' ? 'zh-CN' : 'en';
  for (const button of document.querySelectorAll('button.lang')) {
    button.setAttribute('aria-pressed', String(button.dataset.lang === lang));
  }
  for (const attribute of ['aria-label', 'placeholder']) {
    for (const element of document.querySelectorAll(`[data-${attribute}-${lang}]`)) {
      element.setAttribute(attribute, element.getAttribute(`data-${attribute}-${lang}`));
    }
  }
  for (const option of document.querySelectorAll(`option[data-text-${lang}]`)) {
    option.textContent = option.getAttribute(`data-text-${lang}`);
  }
  list();
}

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
  for (const group of groups.children) {
    if (open) fill(group);
    group.open = open;
  }
}

document.addEventListener('click', (event) => {
  const lang = event.target.closest('button.lang');
  if (lang) speak(lang.dataset.lang);
  const rule = event.target.closest('button.show-rule');
  if (rule) showRule(rule.dataset.rule);
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === window.location.hash) follow();
});
document.getElementById('theme').addEventListener('click', () => {
  theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
  paint();
});
document.getElementById('print').addEventListener('click', () => window.print());
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
let waiting = 0;
search.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(list, 120);
});
dark.addEventListener('change', paint);
window.addEventListener('hashchange', follow);
window.addEventListener('beforeprint', () => {
  root.dataset.theme = 'light';
  if (chosen().length <= 2000) openAll(true);
});
window.addEventListener('afterprint', paint);

paint();
list();
follow();
