import { nextSignature, prevSignature, showSignatureHelp, signatureHelp } from '@codemirror/lsp-client';
import { Compartment, type Extension, Prec } from '@codemirror/state';
import { type Command, keymap } from '@codemirror/view';
import { texts } from '../locales/locale.ts';
import { showMessage } from './cursor-message.ts';
import { sendClientRequest, textCommand } from './text-command.ts';

const compartment = new Compartment();

/** The client has no command that closes a signature. Its extension is taken out and put back, which has the same effect. */
const closeSignature: Command = (view) => {
  if (!view.dom.querySelector('.cm-lsp-signature-tooltip')) return false;
  view.dispatch({ effects: compartment.reconfigure([]) });
  view.dispatch({ effects: compartment.reconfigure(signatureHelp({ keymap: false })) });
  return true;
};

/** Shows the parameters of the call at the cursor, or why there are none, which the client's own command does not say. */
export const showSignature = textCommand(async (plugin) => {
  const { view } = plugin;
  const params = { position: plugin.toPosition(view.state.selection.main.head), byCommand: true };
  const found = await sendClientRequest(plugin, 'textDocument/signatureHelp', params).result;
  if (found) showSignatureHelp(view);
  else showMessage(view, texts().languageHelp.noCall);
});

/** Shows the parameters of the call that is being written; Escape closes them. */
export const signatures = (): Extension => [
  compartment.of(signatureHelp({ keymap: false })),
  Prec.high(
    keymap.of([
      { key: 'Escape', run: closeSignature },
      // These commands do nothing unless a function with several signatures is shown, and then the keys are the text's.
      { key: 'Mod-Shift-ArrowDown', run: nextSignature },
      { key: 'Mod-Shift-ArrowUp', run: prevSignature },
    ]),
  ),
];
