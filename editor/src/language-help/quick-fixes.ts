import type { LSPPlugin } from '@codemirror/lsp-client';
import type { EditorView } from '@codemirror/view';
import { html, render } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { showAtCursor, showMessage } from './cursor-message.ts';
import type { HelpResult } from './results.ts';
import { applyEdits, rememberPlace, sendClientRequest, textCommand } from './text-command.ts';

type Fix = HelpResult<'textDocument/codeAction'>[number];

/** Shows a menu with the fixes for the problem at the cursor, or else for those of its line. */
export const showQuickFixes = textCommand(async (plugin) => {
  const { view } = plugin;
  const isStillThere = rememberPlace(view);
  const fixes = await findFixes(plugin);
  if (!isStillThere()) return;
  if (fixes.length) showMenu(plugin, fixes);
  else showMessage(view, texts().languageHelp.noFix);
});

async function findFixes(plugin: LSPPlugin): Promise<readonly Fix[]> {
  const { doc, selection } = plugin.view.state;
  const { from, to } = selection.main;
  const request = (start: number, end: number) =>
    sendClientRequest(plugin, 'textDocument/codeAction', {
      range: { start: plugin.toPosition(start), end: plugin.toPosition(end) },
    }).result;
  const here = await request(from, to);
  return here.length ? here : request(doc.lineAt(from).from, doc.lineAt(to).to);
}

function applyFix(plugin: LSPPlugin, { edits }: Fix): void {
  applyEdits(plugin, edits, 'input.fix');
  plugin.view.focus();
}

/** The title in the language of the page; for a fix that this editor does not know, the service's title. */
function titleOf({ title, data }: Fix): string {
  const titles = texts().languageHelp.fix;
  if (!data || !Object.hasOwn(titles, data.fix)) return title;
  const own = titles[data.fix as keyof typeof titles];
  return typeof own === 'string' ? own : own(data.name ?? '');
}

function showMenu(plugin: LSPPlugin, fixes: readonly Fix[]): void {
  const { view } = plugin;
  const close = () => {
    view.dispatch({ effects: showAtCursor.of(null) });
    view.focus();
  };
  const create = () => {
    const dom = document.createElement('div');
    dom.className = 'cm-quick-fixes';
    dom.setAttribute('role', 'menu');
    dom.setAttribute('aria-label', texts().languageHelp.fixes);
    render(
      fixes.map(
        (fix) =>
          html`<button
            type="button"
            role="menuitem"
            tabindex="-1"
            class="menu-item"
            @click=${() => applyFix(plugin, fix)}
          >
            ${titleOf(fix)}
          </button>`,
      ),
      dom,
    );
    const items = [...dom.querySelectorAll('button')];
    dom.addEventListener('keydown', (event) => handleKey(event, items, close));
    dom.addEventListener('focusout', ({ relatedTarget }) => {
      const isLeft = !dom.contains(relatedTarget as Node | null);
      // It stays where the whole page lost the focus.
      if (isLeft && dom.isConnected && document.hasFocus()) removeMenu(view);
    });
    return { dom, mount: () => items[0]?.focus() };
  };
  view.dispatch({ effects: showAtCursor.of({ pos: view.state.selection.main.head, create }) });
}

/** Removes the menu, after the present update of the editor: that may be what took the focus. */
function removeMenu(view: EditorView): void {
  queueMicrotask(() => view.dispatch({ effects: showAtCursor.of(null) }));
}

function handleKey(event: KeyboardEvent, items: readonly HTMLElement[], close: () => void): void {
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === 'Escape' || event.key === 'Tab') close();
  else if (to !== undefined) items.at(to % items.length)?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
