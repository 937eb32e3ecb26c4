import {
  LSPPlugin,
  nextSignature,
  prevSignature,
  showSignatureHelp,
  signatureHelp,
} from '@codemirror/lsp-client';
import { Compartment, type Extension, Prec } from '@codemirror/state';
import { type Command, keymap } from '@codemirror/view';
import { texts } from '../locales/locale.ts';
import { sendClientRequest } from './client-request.ts';
import { showFailure, showMessage } from './cursor-message.ts';

const place = new Compartment();

/** The client has no command that closes a signature; one that is taken out of the editor and put back shows none. */
const closeSignature: Command = (view) => {
  if (!view.dom.querySelector('.cm-lsp-signature-tooltip')) return false;
  view.dispatch({ effects: place.reconfigure([]) });
  view.dispatch({ effects: place.reconfigure(signatureHelp({ keymap: false })) });
  return true;
};

/** Shows the parameters of the call at the cursor, or says why there are none: the client by itself would say nothing. */
export const showSignature: Command = (view) => {
  const plugin = LSPPlugin.get(view);
  if (plugin) void findSignature(plugin);
  return plugin !== null;
};

async function findSignature(plugin: LSPPlugin): Promise<void> {
  const { view } = plugin;
  const position = plugin.toPosition(view.state.selection.main.head);
  try {
    const found = await sendClientRequest(plugin, 'textDocument/signatureHelp', { position, byCommand: true })
      .result;
    if (found) showSignatureHelp(view);
    else showMessage(view, texts().languageHelp.noCall);
  } catch (error) {
    showFailure(view, error);
  }
}

/** Shows the parameters of the call that is being written; Escape closes them. */
export const signatures = (): Extension => [
  place.of(signatureHelp({ keymap: false })),
  Prec.high(
    keymap.of([
      { key: 'Escape', run: closeSignature },
      // Only while a function with several signatures is shown; else these keys are the text's.
      { key: 'Mod-Shift-ArrowDown', run: nextSignature },
      { key: 'Mod-Shift-ArrowUp', run: prevSignature },
    ]),
  ),
];
