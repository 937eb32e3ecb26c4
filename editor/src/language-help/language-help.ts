import { autocompletion, startCompletion } from '@codemirror/autocomplete';
import { toggleComment } from '@codemirror/commands';
import { javascriptLanguage, typescriptLanguage } from '@codemirror/lang-javascript';
import { LSPClient, hoverTooltips } from '@codemirror/lsp-client';
import type { Extension } from '@codemirror/state';
import type { Command } from '@codemirror/view';
import { problemFix } from '../code/problem-fix.ts';
import { texts } from '../locales/locale.ts';
import type { SendHelpRequest } from './service-request.ts';
import { completionSources } from './completion.ts';
import { goToDefinition } from './definition.ts';
import { sanitizeDocumentation } from './documentation.ts';
import { formatText } from './format.ts';
import { cursorTooltip } from './cursor-message.ts';
import { showQuickFixes } from './quick-fixes.ts';
import { renameHere } from './rename.ts';
import { showSignature, signatures } from './signature.ts';
import { helpTheme } from './theme.ts';
import { HelpTransport } from './transport.ts';

export { createServiceRequest } from './service-request.ts';

/** One text is edited at a time, and its name is of no interest to the service. */
const TEXT_URI = 'file:///plugin';

/** Longer than a request of the editor's own may take, which ends by itself. */
const TIMEOUT = 60_000;

/** What can be done with a text by command; a command finds the help in the text. */
export const textCommands = {
  complete: startCompletion,
  fixes: showQuickFixes,
  definition: goToDefinition,
  rename: renameHere,
  format: formatText,
  signature: showSignature,
  comment: toggleComment,
} as const satisfies Record<string, Command>;

export type TextCommand = keyof typeof textCommands;

/** Help with one text, by asking the service. */
export class LanguageHelp {
  readonly #transport: HelpTransport;
  readonly #client: LSPClient;

  /** `onUnable`: the service has no help to give. */
  constructor(ask: SendHelpRequest, onUnable: () => void) {
    this.#transport = new HelpTransport({ ask, onUnable });
    this.#client = new LSPClient({
      timeout: TIMEOUT,
      sanitizeHTML: sanitizeDocumentation,
      highlightLanguage: (name) => (name === 'typescript' ? typescriptLanguage : javascriptLanguage),
      extensions: [hoverTooltips(), signatures()],
    });
    this.#client.connect(this.#transport);
  }

  /** What a text in a language that there is help for needs in its editor. */
  extension(lang: string): Extension {
    return [
      this.#client.plugin(TEXT_URI, lang),
      autocompletion({ override: completionSources(lang), activateOnTypingDelay: 10, updateSyncTime: 300 }),
      cursorTooltip,
      problemFix.of({ label: () => texts().commands.fixes, run: showQuickFixes }),
      helpTheme,
    ];
  }

  close(): void {
    this.#transport.close();
    this.#client.disconnect();
  }
}
