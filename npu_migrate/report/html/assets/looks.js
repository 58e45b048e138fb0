// Language, light and dark, print: what every page has.
const root = document.documentElement;
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
  for (const element of document.querySelectorAll(`[data-text-${lang}]`)) {
    element.textContent = element.getAttribute(`data-text-${lang}`);
  }
  root.dispatchEvent(new Event('spoken'));
}

document.addEventListener('click', (event) => {
  const lang = event.target.closest('button.lang');
  if (lang) speak(lang.dataset.lang);
});
document.getElementById('theme').addEventListener('click', () => {
  theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
  paint();
});
document.getElementById('print').addEventListener('click', () => window.print());
dark.addEventListener('change', paint);
window.addEventListener('beforeprint', () => {
  root.dataset.theme = 'light';
});
window.addEventListener('afterprint', paint);

paint();
