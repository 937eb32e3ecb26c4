import type { PluginTarget } from './address.ts';
import { el } from './dom.ts';

/** The element tree of an open plugin, without what goes on in it. */
export interface WorkspaceFrame {
  element: HTMLElement;
  code: HTMLElement;
  language: HTMLElement;
  status: HTMLElement;
  cursor: HTMLElement;
  testsToggle: HTMLButtonElement;
  testsCount: HTMLElement;
}

export interface WorkspaceFrameOptions {
  target: PluginTarget;
  notices: HTMLElement;
  tests: HTMLElement;
  onSave: () => void;
}

/** The id of the words that say how to leave the text by keyboard. */
export const LEAVING_HINT = 'leaving-hint';

/** Builds the page of an open plugin: name, status and actions above, text and tests, and a line of facts below. */
export function workspaceFrame({ target, notices, tests, onSave }: WorkspaceFrameOptions): WorkspaceFrame {
  const { fn, namespace, ident } = target;
  const language = el('span', { class: 'badge' });
  const status = el('p', { class: 'status', role: 'status' });
  const testsCount = el('span', { class: 'count' });
  const save = el(
    'button',
    {
      type: 'button',
      class: 'button primary',
      onclick: onSave,
      'aria-keyshortcuts': 'Control+S Meta+S',
      title: `Save (${SAVE_KEY})`,
    },
    'Save',
  );
  const testsArea = el('aside', { id: 'tests', class: 'side', 'aria-label': 'Tests' }, tests);
  const testsToggle = el(
    'button',
    { type: 'button', class: 'button', 'aria-controls': 'tests' },
    'Tests',
    testsCount,
  );
  const code = el('div', { class: 'code' });
  const cursor = el('span', { class: 'cursor' });

  const showTests = (show: boolean) => {
    testsArea.hidden = !show;
    testsToggle.setAttribute('aria-expanded', String(show));
  };
  testsToggle.addEventListener('click', () => showTests(Boolean(testsArea.hidden)));
  showTests(matchMedia('(min-width: 760px)').matches);

  const element = el(
    'div',
    { class: 'workspace' },
    el(
      'header',
      { class: 'top' },
      el(
        'div',
        { class: 'plugin' },
        el('span', { class: 'namespace', title: `${ident} / ${namespace}` }, namespace),
        el('h1', { title: fn }, fn),
      ),
      el('div', { class: 'facts' }, language, status),
      el('div', { class: 'actions' }, testsToggle, save),
    ),
    notices,
    el('div', { class: 'middle' }, el('main', { class: 'text', 'aria-label': 'Source' }, code), testsArea),
    el(
      'footer',
      { class: 'bottom' },
      cursor,
      el('span', { id: LEAVING_HINT, class: 'hint' }, 'Esc, then Tab leaves the text'),
    ),
  );
  return { element, code, language, status, cursor, testsToggle, testsCount };
}

const SAVE_KEY = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '') ? '⌘S' : 'Ctrl+S';
