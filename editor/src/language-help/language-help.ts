import { autocompletion, startCompletion } from '@codemirror/autocomplete';
import { javascriptLanguage, typescriptLanguage } from '@codemirror/lang-javascript';
import { LSPClient, hoverTooltips } from '@codemirror/lsp-client';
import type { Extension } from '@codemirror/state';
import type { Command } from '@codemirror/view';
import { problemFix } from '../code/problems.ts';
import { texts } from '../locales/locale.ts';
import { completionSources } from './completion.ts';
import { goToDefinition } from './definition.ts';
import { sanitizeDocumentation } from './documentation.ts';
import { formatText } from './format.ts';
import { cursorTooltip } from './cursor-message.ts';
import { lateCompletions } from './late-completions.ts';
import { showQuickFixes } from './quick-fixes.ts';
import { renameAtCursor } from './rename.ts';
import { showSignature, signatures } from './signature.ts';
import { helpTheme } from './theme.ts';
import { HelpTransport, type TransportOptions } from './transport.ts';

/** The client's name for the text. The service does not get it. */
const TEXT_URI = 'file:///plugin';

/** The client's time limit in ms. It is longer than that of the requests to the service, so that these fail first. */
const TIMEOUT = 60_000;

/** The commands on a text. Each finds the language help in the editor that it runs in. */
export const textCommands = {
  complete: startCompletion,
  fixes: showQuickFixes,
  definition: goToDefinition,
  rename: renameAtCursor,
  format: formatText,
  signature: showSignature,
} as const satisfies Record<string, Command>;

export type TextCommand = keyof typeof textCommands;

/** Language help with one text, by the service. */
export class LanguageHelp {
  readonly #transport: HelpTransport;
  readonly #client: LSPClient;

  constructor(options: TransportOptions) {
    this.#transport = new HelpTransport(options);
    this.#client = new LSPClient({
      timeout: TIMEOUT,
      sanitizeHTML: sanitizeDocumentation,
      highlightLanguage: (name) => (name === 'typescript' ? typescriptLanguage : javascriptLanguage),
      extensions: [hoverTooltips(), signatures()],
    });
    this.#client.connect(this.#transport);
  }

  /** The extension for the editor of a text in a language that there is help with. */
  extension(lang: string): Extension {
    return [
      this.#client.plugin(TEXT_URI, lang),
      autocompletion({ override: completionSources(lang), activateOnTypingDelay: 10, updateSyncTime: 300 }),
      lateCompletions,
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
