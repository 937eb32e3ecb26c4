import type { CodeEditor } from '../code/code-editor.ts';
import { lazyModule } from '../ui/lazy-module.ts';
import type { PluginSession } from './plugin-session.ts';

type HelpModule = typeof import('../language-help/language-help.ts');

/** The id of a command on the text at the cursor. */
export type TextCommand = keyof HelpModule['textCommands'];

/** The languages that the service may have help with. */
const helpedLanguages: ReadonlySet<string> = new Set(['javascript', 'typescript']);

/** The events on the text that load language help. */
const triggers = ['keydown', 'pointermove', 'pointerdown'] as const;

const languageHelp = lazyModule(() => import('../language-help/language-help.ts'));

/** Loads language help once the user types in the text or points at it, and runs its commands. */
export class TextHelp {
  readonly #session: PluginSession;
  readonly #editor: CodeEditor;
  #isAdded = false;
  #isAble = true;

  constructor(session: PluginSession, editor: CodeEditor) {
    this.#session = session;
    this.#editor = editor;
    const { signal } = session;
    const triggered = new AbortController();
    const handleTrigger = () => {
      triggered.abort();
      // Where it cannot be loaded now, the first command tries again.
      if (this.isOffered) this.#add().catch(() => {});
    };
    for (const trigger of triggers)
      editor.element.addEventListener(trigger, handleTrigger, {
        signal: AbortSignal.any([signal, triggered.signal]),
      });
  }

  /** Whether there is language help for the language of the text. */
  get isOffered(): boolean {
    return this.#isAble && helpedLanguages.has(this.#editor.lang);
  }

  /** Runs a command; loads language help before, if it is not loaded yet. */
  async run(id: TextCommand): Promise<void> {
    const { activeElement } = document;
    const module =
      languageHelp.loaded() ?? (await this.#session.notices.notifyIfMissing(languageHelp.load()));
    if (!module) return;
    await this.#add();
    // A user who went elsewhere meanwhile is left alone.
    if (document.activeElement === activeElement) this.#editor.run(module.textCommands[id]);
  }

  /** Loads language help and adds it to the text. */
  async #add(): Promise<void> {
    const module = await languageHelp.load();
    const { client, location, screen, signal } = this.#session;
    if (this.#isAdded || signal.aborted) return;
    this.#isAdded = true;
    const onUnable = () => {
      this.#isAble = false;
      screen.draw();
    };
    const help = new module.LanguageHelp({ client, location, onUnable });
    signal.addEventListener('abort', () => help.close());
    this.#editor.addLanguageHelp((lang) => (helpedLanguages.has(lang) ? help.extension(lang) : []));
  }
}
