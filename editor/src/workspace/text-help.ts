import type { CodeEditor } from '../code/code-editor.ts';
import type { ServiceRequestOptions } from '../language-help/service-request.ts';
import { loadPart } from '../ui/load-part.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notices } from '../ui/notices.ts';

type Part = typeof import('../language-help/language-help.ts');

/** What can be done with the text at the cursor. */
export type TextCommand = keyof Part['textCommands'];

export interface TextHelpOptions extends ServiceRequestOptions {
  editor: CodeEditor;
  notices: Notices;
  /** What is offered changed. */
  onChange: () => void;
}

/** The languages that the service may help with. */
const helped: ReadonlySet<string> = new Set(['javascript', 'typescript']);

/** What shows that help is wanted: the text is typed in, or pointed at. */
const signs = ['keydown', 'pointermove', 'pointerdown'] as const;

const load = () => import('../language-help/language-help.ts');

/** Loads language help once it is wanted, and has its commands act on the text. */
export class TextHelp {
  readonly #options: TextHelpOptions;
  #part: Part | undefined;
  #loading: Promise<Part | undefined> | undefined;
  #close: (() => void) | undefined;
  #isAble = true;
  #closed = false;

  constructor(options: TextHelpOptions) {
    this.#options = options;
    for (const sign of signs) options.editor.element.addEventListener(sign, this.#want);
  }

  /** Whether there is help with the text as it is. */
  get isOffered(): boolean {
    return this.#isAble && helped.has(this.#options.editor.lang);
  }

  /** Loads it where that is not done yet, and has a command act. */
  async run(id: TextCommand): Promise<void> {
    const { editor, notices } = this.#options;
    const part = this.#part ?? (await this.#add((one) => loadPartOrNotify(notices, one)));
    if (part) editor.run(part.textCommands[id]);
  }

  close(): void {
    this.#closed = true;
    this.#stopWatching();
    this.#close?.();
  }

  readonly #want = (): void => {
    this.#stopWatching();
    // What cannot be loaded now is loaded by the first command, or not at all: one can write without it.
    if (this.isOffered) void this.#add((one) => loadPart(one).catch(() => undefined));
  };

  #stopWatching(): void {
    for (const sign of signs) this.#options.editor.element.removeEventListener(sign, this.#want);
  }

  #add(loadWith: (part: typeof load) => Promise<Part | undefined>): Promise<Part | undefined> {
    this.#loading ??= loadWith(load).then((part) => {
      this.#loading = undefined;
      if (!part || this.#part || this.#closed) return part;
      this.#part = part;
      const { editor, onChange, ...service } = this.#options;
      const help = new part.LanguageHelp(part.createServiceRequest(service), () => {
        this.#isAble = false;
        onChange();
      });
      this.#close = () => help.close();
      editor.addLanguageHelp((lang) => (helped.has(lang) ? help.extension(lang) : []));
      return part;
    });
    return this.#loading;
  }
}
