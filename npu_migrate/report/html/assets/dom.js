// Elements are made with text nodes only: nothing that comes from the migrated code is ever parsed as HTML.
const data = JSON.parse(document.getElementById('data').textContent);
const LANGUAGES = ['en', 'zh'];

const language = () => LANGUAGES.indexOf(root.dataset.lang);

function say(name, facts = {}) {
  return data.words[name][language()].replace(/\{(\w+)\}/g, (whole, fact) => (fact in facts ? facts[fact] : whole));
}

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
