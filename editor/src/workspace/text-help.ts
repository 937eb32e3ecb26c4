import type { CodeEditor } from '../code/code-editor.ts';
import type { ServiceRequestOptions } from '../language-help/service-request.ts';
import { loadPart } from '../ui/load-part.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notices } from '../ui/notices.ts';

type Part = typeof import('../language-help/language-help.ts');

/** The id of a command on the text at the cursor. */
export type TextCommand = keyof Part['textCommands'];

export interface TextHelpOptions extends ServiceRequestOptions {
  editor: CodeEditor;
  notices: Notices;
  /** Whether language help is offered changed. */
  onChange: () => void;
}

/** The languages that the service may have help with. */
const helpedLanguages: ReadonlySet<string> = new Set(['javascript', 'typescript']);

/** The events on the text that load language help. */
const triggers = ['keydown', 'pointermove', 'pointerdown'] as const;

const load = () => import('../language-help/language-help.ts');

/** Loads language help once the user types in the text or points at it, and runs its commands. */
export class TextHelp {
  readonly #options: TextHelpOptions;
  #part: Part | undefined;
  #loading: Promise<Part | undefined> | undefined;
  #close: (() => void) | undefined;
  #isAble = true;
  #isClosed = false;

  constructor(options: TextHelpOptions) {
    this.#options = options;
    for (const trigger of triggers) options.editor.element.addEventListener(trigger, this.#handleTrigger);
  }

  /** Whether there is language help for the language of the text. */
  get isOffered(): boolean {
    return this.#isAble && helpedLanguages.has(this.#options.editor.lang);
  }

  /** Runs a command; loads language help before, if it is not loaded yet. */
  async run(id: TextCommand): Promise<void> {
    const { editor, notices } = this.#options;
    const part = this.#part ?? (await this.#addLanguageHelp((one) => loadPartOrNotify(notices, one)));
    if (part) editor.run(part.textCommands[id]);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopWatching();
    this.#close?.();
  }

  readonly #handleTrigger = (): void => {
    this.#stopWatching();
    // Where it cannot be loaded now, the first command tries again.
    if (this.isOffered) void this.#addLanguageHelp((one) => loadPart(one).catch(() => undefined));
  };

  #stopWatching(): void {
    for (const trigger of triggers)
      this.#options.editor.element.removeEventListener(trigger, this.#handleTrigger);
  }

  /** Loads language help in the given way, and adds it to the text. Resolves with `undefined` where it cannot be loaded. */
  #addLanguageHelp(loadWith: (part: typeof load) => Promise<Part | undefined>): Promise<Part | undefined> {
    this.#loading ??= loadWith(load).then((part) => {
      this.#loading = undefined;
      if (!part || this.#part || this.#isClosed) return part;
      this.#part = part;
      const { editor, onChange, ...service } = this.#options;
      const help = new part.LanguageHelp(part.createServiceRequest(service), () => {
        this.#isAble = false;
        onChange();
      });
      this.#close = () => help.close();
      editor.addLanguageHelp((lang) => (helpedLanguages.has(lang) ? help.extension(lang) : []));
      return part;
    });
    return this.#loading;
  }
}
