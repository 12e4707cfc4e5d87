'use strict';
// Makes the tables sort, the table of results filter, and figures show their row. The fragment of the URL holds the
// reader's choices. Nothing is fetched: the rows are in the page.
(() => {
  const root = document.documentElement;
  root.classList.add('js');

  /** An element with attributes and children; text is never parsed as markup. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  // -- The state, in the URL

  /** Choices of the reader: filters, sorts, the open row. Keys without a value are left out. */
  const state = new Map();

  function readState() {
    state.clear();
    const fragment = location.hash.slice(1);
    if (fragment.includes('=')) for (const [key, value] of new URLSearchParams(fragment)) state.set(key, value);
  }

  function setState(changes) {
    for (const [key, value] of Object.entries(changes)) {
      if (value === '' || value === null) state.delete(key);
      else state.set(key, String(value));
    }
    // Slashes, commas and equal signs of case ids are allowed in a fragment, and read better.
    const text = new URLSearchParams(state).toString().replaceAll('%2F', '/').replaceAll('%2C', ',');
    // Only the fragment: browsers refuse other changes of a file's URL.
    history.replaceState(null, '', text ? `#${text}` : '#');
  }

  // -- The files in the page

  /** Unpacks base64 of gzip. */
  function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  }

  const files = [...document.querySelectorAll('a.file')];

  /** Returns the cells of a row of a file as [name, text], and its own text; null if there is none. See cell_index.h. */
  async function readRow(file, row) {
    file.parts ??= Promise.all([unpack(file.href.slice(file.href.indexOf(',') + 1)).arrayBuffer(), unpack(file.dataset.cells).json()]);
    const [bytes, {begin, rows, cells, texts}] = await file.parts;
    if (row >= rows) return null;
    const before = numbers => Array.isArray(numbers) ? numbers.slice(0, row).reduce((sum, number) => sum + number, 0) : row * numbers;
    const own = numbers => numbers[row] ?? numbers;
    const text = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
    let at = cells.reduce((sum, {skip, length}) => sum + before(skip) + before(length), begin);
    const first = at + own(cells[0].skip);
    const found = cells.map(({name, skip, length}, cell) => {
      const from = at + own(skip);
      at = from + own(length);
      return [name, texts[`${row}.${cell}`] ?? text(from, at)];
    });
    return {cells: found, text: text(first, at)};
  }

  // -- Copying

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // where a browser grants files no clipboard
      const area = make('textarea', {'aria-hidden': 'true'});
      area.value = text;
      (document.querySelector('dialog[open]') ?? document.body).append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
  }

  /** Makes a screen reader speak without moving the focus. */
  const spoken = make('p', {role: 'status', class: 'spoken'});
  document.body.append(spoken);

  document.addEventListener('click', async event => {
    const button = event.target.closest('button[data-copy]');
    if (!button) return;
    await copy(button.dataset.copy);
    spoken.textContent = '';
    spoken.textContent = 'Copied';
    if (button.textContent === 'Copied') return;  // it gets its name back as it is
    const label = button.textContent;
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = label; }, 1500);
  });

  function copyButton(text, label) {
    return make('button', {type: 'button', class: 'copy', 'data-copy': text}, label);
  }

  // -- One row

  const dialog = make('dialog', {'aria-labelledby': 'row-title'});
  document.body.append(dialog);
  dialog.addEventListener('close', () => setState({row: null}));

  async function showRow() {
    const wanted = state.get('row');
    if (!wanted) {
      if (dialog.open) dialog.close();
      return;
    }
    const [number, row] = /^\d+\.\d+$/.test(wanted) ? wanted.split('.').map(Number) : [];
    const file = files[number];
    const found = file ? await readRow(file, row) : null;
    if (state.get('row') !== wanted) return;  // another one was requested meanwhile
    const close = make('button', {type: 'button', autofocus: '', onclick: () => dialog.close()}, 'Close');
    if (!found) {
      dialog.replaceChildren(make('div', {class: 'head'}, make('h2', {id: 'row-title'}, `There is no row ${wanted}.`), close));
    } else {
      const value = wanted => found.cells.find(([name]) => name === wanted)?.[1];
      const list = make('dl');
      for (const [name, text] of found.cells) if (text) list.append(make('dt', {}, name), make('dd', {}, text));
      // Close comes first: browsers scroll to the focus.
      const parts = [make('div', {class: 'head'}, make('h2', {id: 'row-title'}, value('case_id') || 'A row'), close),
                     make('p', {}, `Row ${row + 1} of ${file.dataset.name}. Empty cells are left out.`)];
      if (value('replay')) {
        parts.push(make('div', {class: 'command'}, make('code', {}, value('replay')),
                        copyButton(value('replay'), 'Copy the command')));
      }
      dialog.replaceChildren(...parts, list, copyButton(found.text, 'Copy the row as CSV'));
    }
    if (!dialog.open) dialog.showModal();
  }

  // -- Names of marks, for the pointer and for the keyboard

  const tip = make('p', {class: 'tip', 'aria-hidden': 'true', hidden: ''});
  document.body.append(tip);

  function showTip(mark) {
    const title = mark.querySelector('title');
    if (title) {  // or the browser would show it beside this one
      mark.setAttribute('aria-label', title.textContent);
      title.remove();
    }
    tip.textContent = mark.getAttribute('aria-label');
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const left = Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${scrollX + Math.max(left, 8)}px`;
    tip.style.top = `${scrollY + box.bottom + 6}px`;
  }

  for (const event of ['pointerover', 'focusin']) {
    document.addEventListener(event, ({target}) => {
      const mark = target.closest?.('svg a');
      if (mark) showTip(mark);
      else tip.hidden = true;
    });
  }
  addEventListener('scroll', () => { tip.hidden = true; }, {passive: true});

  // -- Tables that are in the page

  const fixed = [...document.querySelectorAll('.wide table')];

  function cellKey(row, column) {
    const cell = row.cells[column];
    if (!cell) return '';
    return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent.trim();
  }

  const inOrder = new Intl.Collator('en', {numeric: true}).compare;

  /** Sorts numbers before text, and empty cells last in either direction. */
  function compare(a, b, direction) {
    if (a === '' || b === '') return (a === '') - (b === '');
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return direction * (typeof a === 'number' ? a - b : inOrder(a, b));
  }

  function markSorted(headers, column, direction) {
    headers.forEach((header, i) => {
      if (i === column) header.setAttribute('aria-sort', direction < 0 ? 'descending' : 'ascending');
      else header.removeAttribute('aria-sort');
    });
  }

  function sortFixed(table) {
    const chosen = state.get(`sort${fixed.indexOf(table)}`);
    const body = table.tBodies[0];
    const kept = table.original.filter(row => row.classList.contains('axis'));
    const rows = table.original.filter(row => !row.classList.contains('axis'));
    const column = chosen ? parseInt(chosen, 10) : -1;
    const direction = chosen?.endsWith('d') ? -1 : 1;
    if (chosen) {
      const keyed = rows.map(row => [cellKey(row, column), row]);
      keyed.sort((a, b) => compare(a[0], b[0], direction));
      keyed.forEach(([, row], i) => { rows[i] = row; });
    }
    body.append(...kept, ...rows);
    markSorted([...table.tHead.rows[0].cells], column, direction);
  }

  for (const table of fixed) {
    table.original = [...table.tBodies[0].rows];
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      if (!header.textContent) return;
      const button = make('button', {type: 'button', onclick: () => {
        const key = `sort${fixed.indexOf(table)}`;
        // The largest first, then the other direction, then the order of the page.
        const next = {[`${column}d`]: `${column}a`, [`${column}a`]: ''}[state.get(key)] ?? `${column}d`;
        setState({[key]: next});
        sortFixed(table);
      }}, header.textContent);
      header.replaceChildren(button);
    });
  }

  // -- The table of results

  const perPage = 100;
  let table = null;

  /** Whether a key of the state chooses rows, rather than their order or an open one. */
  const isFilter = key => key !== 'row' && !key.startsWith('sort');
  const noFilters = () => Object.fromEntries([...state.keys()].filter(isFilter).map(key => [key, null]));

  function isWanted(row, words) {
    for (const {key, rows, keys, groups} of table.filters) {
      const wanted = state.get(key);
      if (wanted && wanted !== keys[rows[row]] && wanted !== groups?.[rows[row]]) return false;
    }
    return words.every(word => table.searched[row].includes(word));
  }

  function drawResults() {
    if (!table) return;
    const words = (state.get('q') ?? '').toLowerCase().split(/\s+/);
    const wanted = [...table.places.keys()].filter(row => isWanted(row, words));
    const sort = state.get('sort');
    const direction = sort?.startsWith('-') ? -1 : 1;
    const column = table.shown.findIndex(({key}) => key === (direction < 0 ? sort.slice(1) : sort));
    if (column >= 0) {
      const {rows, keys} = table.shown[column];
      wanted.sort((a, b) => compare(keys[rows[a]], keys[rows[b]], direction));
    }
    const pages = Math.max(1, Math.ceil(wanted.length / perPage));
    const page = Math.min(Math.max(1, parseInt(state.get('page') ?? '1', 10) || 1), pages);
    table.body.replaceChildren(...wanted.slice((page - 1) * perPage, page * perPage).map(drawRow));
    markSorted(table.headers, column, direction);
    table.count.textContent = `${wanted.length} of ${table.places.length} rows`;
    table.page.textContent = `page ${page} of ${pages}`;
    table.previous.disabled = page <= 1;
    table.next.disabled = page >= pages;
    table.previous.onclick = () => { setState({page: page - 1 > 1 ? page - 1 : null}); drawResults(); };
    table.next.onclick = () => { setState({page: page + 1}); drawResults(); };
    for (const control of table.controls) control.value = state.get(control.name) ?? '';
  }

  function drawRow(row) {
    return make('tr', {}, ...table.shown.map(({texts, rows, kinds, break_after, is_number}) => {
      const text = texts[rows[row]];
      if (kinds) return make('td', {}, make('span', {class: `status ${kinds[rows[row]]}`}, text));
      if (!break_after) return make('td', is_number ? {class: 'number'} : {}, text);
      const pieces = (text || '(no id)').split(new RegExp(`(?<=[${break_after}])`)).flatMap(piece => [piece, make('wbr')]);
      return make('th', {scope: 'row', class: 'id'}, make('a', {href: `#row=${table.places[row]}`}, ...pieces));
    }));
  }

  /** A choice among the values that occur, and further ones. */
  function choice({key, name, keys, choices}) {
    const select = make('select', {name: key, onchange: event => {
      setState({[key]: event.target.value, page: null});
      drawResults();
    }}, make('option', {value: ''}, 'all'));
    const values = [...new Set(keys)].filter(value => value !== '').map(value => [value, value]);
    for (const [value, text] of [...choices, ...values]) select.append(make('option', {value}, text));
    return make('label', {}, name, select);
  }

  /** Builds the table of `counts` rows of each run in `columns`: see result_table.h. */
  function buildTable(into, {counts, columns}) {
    // Numbers stand in their order.
    for (const one of columns) one.keys ??= one.is_number ? one.texts.map((text, i) => text && i) : one.texts;
    const places = counts.flatMap((count, file) => Array.from({length: count}, (_, row) => `${file}.${row}`));
    const searched = columns.filter(column => column.is_searched);
    const filters = columns.filter(column => column.choices);
    const shown = columns.filter(column => !column.is_hidden);
    const search = make('input', {name: 'q', type: 'search', placeholder: 'words of a case, a device, a reason', oninput: event => {
      setState({q: event.target.value, page: null});
      drawResults();
    }});
    const clear = make('button', {type: 'button', onclick: () => {
      setState({...noFilters(), sort: null});
      drawResults();
    }}, 'Show all');
    const controls = make('div', {class: 'controls', role: 'search'}, make('label', {}, 'Search', search), ...filters.map(choice), clear);
    const headers = shown.map(({key, name, is_number}) => make('th', {scope: 'col', class: is_number ? 'number' : ''}, make('button', {type: 'button', onclick: () => {
      const next = {[`-${key}`]: key, [key]: null};
      const now = state.get('sort');
      setState({sort: now in next ? next[now] : `-${key}`, page: null});
      drawResults();
    }}, name)));
    const body = make('tbody');
    const count = make('span', {id: 'count', role: 'status'});
    const page = make('span');
    const previous = make('button', {type: 'button'}, 'Previous');
    const next = make('button', {type: 'button'}, 'Next');
    into.replaceChildren(
        controls,
        make('div', {class: 'pager'}, count, previous, page, next),
        make('div', {class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'All results'},
             make('table', {}, make('caption', {}, 'Each row of results.csv; a case leads to all of its cells'),
                  make('thead', {}, make('tr', {}, ...headers)), body)));
    table = {places, filters, shown, body, headers, count, page, previous, next, controls: controls.querySelectorAll('[name]'),
             searched: places.map((_, row) => searched.map(({texts, rows}) => texts[rows[row]]).join(' ').toLowerCase())};
  }

  async function readResults() {
    const into = document.getElementById('table');
    if (!into.dataset.rows) return;
    into.replaceChildren(make('p', {role: 'status'}, 'Reading the rows…'));
    buildTable(into, await unpack(into.dataset.rows).json());
  }

  // -- All together

  function showState() {
    for (const one of fixed) if (one.original) sortFixed(one);
    drawResults();
    showRow();
  }

  /** Shows a part of the page, and moves the focus there. */
  function goTo(id) {
    const part = document.getElementById(id);
    part?.scrollIntoView();
    const heading = part?.querySelector('h1, h2');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({preventScroll: true});
  }

  /** A URL that chooses rows leads to their table, unless the reader is elsewhere already or an open row covers it. */
  function goToChosenRows() {
    const chosen = [...state.keys()].some(key => isFilter(key) || key === 'sort');
    if (chosen && !state.has('row') && scrollY === 0) goTo('results');
  }

  /** Links of the page keep what the reader chose. */
  document.addEventListener('click', event => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const target = link.getAttribute('href').slice(1);
    if (!target.includes('=')) {
      goTo(target);
      return;
    }
    const changes = Object.fromEntries(new URLSearchParams(target));
    if ('row' in changes) {
      setState(changes);
      showRow();
      return;
    }
    setState({...noFilters(), ...changes});
    drawResults();
    goTo('results');
  });
  addEventListener('hashchange', () => { readState(); showState(); goToChosenRows(); });

  readState();
  for (const one of fixed) sortFixed(one);
  showRow();
  readResults().then(() => { drawResults(); goToChosenRows(); }).catch(error => {
    document.getElementById('table').replaceChildren(make('p', {}, `The rows cannot be read here (${error.message}): this needs a browser of 2023 or later. The files below hold them.`));
  }).finally(() => root.classList.add('ready'));
})();
