import { signatureHelp } from '@codemirror/lsp-client';
import { Compartment, type Extension, Prec } from '@codemirror/state';
import { type Command, keymap } from '@codemirror/view';

const place = new Compartment();

/** The client has no command that closes a signature; one that is taken out of the editor and put back shows none. */
const closeSignature: Command = (view) => {
  if (!view.dom.querySelector('.cm-lsp-signature-tooltip')) return false;
  view.dispatch({ effects: place.reconfigure([]) });
  view.dispatch({ effects: place.reconfigure(signatureHelp({ keymap: false })) });
  return true;
};

/** Shows the parameters of the call that is being written; Escape closes them. */
export const signatures = (): Extension => [
  place.of(signatureHelp({ keymap: false })),
  Prec.high(keymap.of([{ key: 'Escape', run: closeSignature }])),
];
