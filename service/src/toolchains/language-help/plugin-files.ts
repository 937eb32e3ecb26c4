import { compilerOptions, sandboxDeclarations } from '../types/declarations.ts';
import type { CheckedLanguage } from '../types/declarations.ts';
import type { LanguageServer } from './language-server.ts';

/*
 * The files that the language server works on. None of them is on a disk: each one is open, as in an editor. With `noResolve`, no
 * import or reference in a source makes the server read any other file but its own declarations of the language.
 */

export const rootUri = 'file:///plugin-editor-language-help';

/** The URI of the plugin. */
const pluginUri = (language: CheckedLanguage): string =>
  `${rootUri}/${language}/plugin.${language === 'javascript' ? 'js' : 'ts'}`;

const declarationsUri = `${rootUri}/types.d.ts`;

/** Opens the files in the language server, and updates them before each request. */
export class PluginFiles {
  readonly #server: LanguageServer;
  /** The text and version of each open file, by its URI. */
  readonly #open = new Map<string, { text: string; version: number }>();

  constructor(server: LanguageServer) {
    this.#server = server;
    this.#set(`${rootUri}/sandbox.d.ts`, 'typescript', sandboxDeclarations);
    this.#set(declarationsUri, 'typescript', '');
    for (const language of ['javascript', 'typescript'] as const) {
      const project = {
        compilerOptions: { ...compilerOptions(language), noResolve: true },
        typeAcquisition: { enable: false },
        files: [pluginUri(language), `${rootUri}/sandbox.d.ts`, declarationsUri].map((uri) =>
          uri.slice('file://'.length),
        ),
      };
      this.#set(`${rootUri}/${language}/tsconfig.json`, 'json', JSON.stringify(project));
    }
  }

  /** Replaces the source, and returns its URI. `declarations`: see `PluginTypes`. */
  update(language: CheckedLanguage, source: string, declarations: string): string {
    this.#set(declarationsUri, 'typescript', declarations);
    const uri = pluginUri(language);
    this.#set(uri, language, source);
    return uri;
  }

  #set(uri: string, languageId: string, text: string): void {
    const known = this.#open.get(uri);
    if (known?.text === text) return;
    const version = (known?.version ?? 0) + 1;
    this.#open.set(uri, { text, version });
    if (!known) {
      this.#server.notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
    } else {
      this.#server.notify('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
    }
  }
}
