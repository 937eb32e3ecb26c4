import { compilerOptions, sandboxDeclarations } from '../types/declarations.ts';
import type { CheckedLanguage } from '../types/declarations.ts';
import type { LanguageServer } from './language-server.ts';

/*
 * The files that the language server works on. None of them is on a disk: each is open, as in an editor. That is also what keeps
 * it to them: with `noResolve` no import and no reference in a source makes it read another file (beside the declarations of the
 * language itself, which are its own).
 */

export const rootUri = 'file:///plugin-editor-language-help';

/** The URI of the plugin. */
export const pluginUri = (language: CheckedLanguage): string =>
  `${rootUri}/${language}/plugin.${language === 'javascript' ? 'js' : 'ts'}`;

const declarationsUri = `${rootUri}/types.d.ts`;

/** Opens the files, and brings them up to date before each request. */
export class PluginFiles {
  readonly #server: LanguageServer;
  /** What is open, with its text and version. */
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

  /** Puts a source in place of the former one, and returns its URI. `declarations`: see `PluginTypes`. */
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
