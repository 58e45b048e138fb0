// Changed code side by side; on a narrow screen the style sheet puts old above new.
function coloured(line, colours) {
  if (!colours) return [line];
  const characters = /[\ud800-\udfff]/.test(line) ? [...line] : line;
  const pieces = [];
  let start = 0;
  for (const [, letter, length] of colours.matchAll(/([a-z_])(\d+)/g)) {
    const end = start + Number(length);
    const piece = characters.slice(start, end);
    const text = typeof piece === 'string' ? piece : piece.join('');
    pieces.push(letter === '_' ? text : make('span', { class: `c-${letter}` }, text));
    start = end;
  }
  return pieces;
}

function words(line) {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gu) || [];
}

// The longest common subsequence of two lists, as two lists of flags.
function common(one, other) {
  const table = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      table[i][j] = one[i] === other[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const flags = [one.map(() => false), other.map(() => false)];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) {
      flags[0][i] = true;
      flags[1][j] = true;
      i += 1;
      j += 1;
    } else if (table[i + 1][j] >= table[i][j + 1]) i += 1;
    else j += 1;
  }
  return flags;
}

// Where two lines differ: stretches of characters on either side; none if they have too little in common.
function differences(old, changed) {
  const [one, other] = [words(old), words(changed)];
  if (one.length > 400 || other.length > 400) return [[], []];
  const flags = common(one, other);
  const shared = one.filter((word, index) => flags[0][index]).join('').trim().length;
  if (shared * 4 < Math.min(old.trim().length, changed.trim().length)) return [[], []];
  return [one, other].map((list, side) => {
    const stretches = [];
    let offset = 0;
    list.forEach((word, index) => {
      const last = stretches[stretches.length - 1];
      if (!flags[side][index]) {
        if (last && last[1] === offset) last[1] += word.length;
        else stretches.push([offset, offset + word.length]);
      }
      offset += word.length;
    });
    return stretches;
  });
}

// Wraps stretches of an element's text, across the coloured pieces that are in it already.
function mark(element, stretches, name) {
  for (const [start, end] of [...stretches].reverse()) {
    let offset = 0;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const [from, to] = [Math.max(start - offset, 0), Math.min(end - offset, node.data.length)];
      if (from < to) found.push([node, from, to]);
      offset += node.data.length;
    }
    for (const [node, from, to] of found) {
      const middle = node.splitText(from);
      middle.splitText(to - from);
      const wrap = make(name, {});
      middle.replaceWith(wrap);
      wrap.append(middle);
    }
  }
}

function cell(kind, text, colours) {
  return make('td', { class: `code ${kind}` }, text === null ? [] : coloured(text, colours));
}

function number(kind, value) {
  return make('td', { class: `line ${kind}` }, value === null ? '' : String(value));
}

function diffRow(row, lines) {
  if (row.length === 2) {
    const both = [number('same old', lines.old++), cell('same old', row[0], row[1])];
    return make('tr', {}, both, number('same', lines.new++), cell('same', row[0], row[1]));
  }
  const [old, oldColours, changed, newColours] = row;
  const left = old === null ? ['gap', null] : ['del', lines.old++];
  const right = changed === null ? ['gap', null] : ['ins', lines.new++];
  const cells = [cell(left[0], old, oldColours), cell(right[0], changed, newColours)];
  if (old !== null && changed !== null) {
    const [gone, come] = differences(old, changed);
    mark(cells[0], gone, 'del');
    mark(cells[1], come, 'ins');
  }
  return make('tr', { class: 'change' }, number(left[0], left[1]), cells[0], number(right[0], right[1]), cells[1]);
}

function diffTable(hunks, path) {
  const heads = ['old-line', 'old', 'new-line', 'new'].map((name) => {
    const text = make('span', name.endsWith('line') ? { class: 'hidden' } : {}, say(`script.${name}`));
    return make('th', { scope: 'col' }, text);
  });
  const columns = ['line', 'code', 'line', 'code'].map((kind) => make('col', { class: kind }));
  const bodies = hunks.map((hunk) => {
    const lines = { old: hunk.old, new: hunk.new };
    const title = make('th', { scope: 'rowgroup', colspan: 4 }, say('script.hunk', { line: hunk.old }));
    return make('tbody', {}, make('tr', { class: 'hunk' }, title), hunk.rows.map((row) => diffRow(row, lines)));
  });
  const caption = make('caption', {}, say('script.diff'), make('span', { class: 'hidden' }, ` ${path}`));
  const head = make('thead', {}, make('tr', {}, heads));
  return make('table', { class: 'diff' }, caption, make('colgroup', {}, columns), head, bodies);
}
