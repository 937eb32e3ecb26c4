import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { type Command, isComposing, isEnabled, isOffered, runCommand, shortcutText } from './commands.ts';
import { LightElement, define } from './light-element.ts';

/** Opens the palette: a dialog with all commands and a search. */
export function showPalette(commands: readonly Command[]): void {
  // It may have been asked for twice while it was loaded, or a dialog was opened meanwhile.
  if (document.querySelector('command-palette, dialog[open]')) return;
  const palette = new CommandPalette();
  palette.commands = commands.filter((command) => command.id !== 'palette' && isOffered(command));
  document.body.append(palette);
}

/** The commands whose labels and keywords have all typed words, in any order. Labels that begin with the typed text come first. */
export function findCommands(commands: readonly Command[], typed: string): readonly Command[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/);
  const found = commands.filter(({ label, keywords = '' }) => {
    const searched = `${label} ${keywords}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  const begins = ({ label }: Command) => label.toLowerCase().startsWith(text);
  return [...found.filter(begins), ...found.filter((command) => !begins(command))];
}

class CommandPalette extends LightElement {
  static override properties = {
    commands: { attribute: false },
    typed: { state: true },
    chosen: { state: true },
  };

  declare commands: readonly Command[];
  /** What is searched for. */
  declare protected typed: string;
  /** The place of the command that Enter runs, among those that are found. */
  declare protected chosen: number;

  constructor() {
    super();
    this.commands = [];
    this.typed = '';
    this.chosen = 0;
  }

  protected override firstUpdated(): void {
    this.#dialog?.showModal();
  }

  protected override updated(): void {
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  protected override render(): TemplateResult {
    const found = findCommands(this.commands, this.typed);
    return html`
      <dialog
        class="palette"
        aria-label=${texts().commands.list}
        @close=${() => this.remove()}
        @click=${(event: MouseEvent) => this.#handleBackdrop(event)}
      >
        <input
          class="field palette-search"
          type="text"
          role="combobox"
          aria-label=${texts().commands.search}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          aria-activedescendant=${found.length ? `palette-${this.chosen}` : nothing}
          placeholder=${texts().commands.search}
          autocomplete="off"
          spellcheck="false"
          .value=${this.typed}
          @input=${(event: Event) => this.#handleInput(event)}
          @keydown=${(event: KeyboardEvent) => this.#handleKey(event, found)}
        />
        <div class="palette-list" id="palette-list" role="listbox" aria-label=${texts().commands.list}>
          ${found.map((command, index) => this.#option(command, index))}
        </div>
        <p class="palette-none" role="status">${found.length ? nothing : texts().commands.noneFound}</p>
      </dialog>
    `;
  }

  get #dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog');
  }

  #option(command: Command, index: number): TemplateResult {
    const { label, shortcut, alternative } = command;
    return html`<div
      class="palette-item"
      id="palette-${index}"
      role="option"
      aria-selected=${index === this.chosen}
      aria-disabled=${!isEnabled(command)}
      @click=${() => this.#run(command)}
    >
      <span dir="auto">${label}</span>
      <span dir="ltr">
        ${[shortcut, alternative].map((key) => (key ? html`<kbd>${shortcutText(key)}</kbd>` : nothing))}
      </span>
    </div>`;
  }

  #handleInput(event: Event): void {
    this.typed = (event.target as HTMLInputElement).value;
    this.chosen = 0;
  }

  #handleBackdrop(event: MouseEvent): void {
    if (event.target === this.#dialog) this.#dialog?.close();
  }

  #handleKey(event: KeyboardEvent, found: readonly Command[]): void {
    if (isComposing(event)) return;
    const count = found.length;
    const to = { ArrowDown: this.chosen + 1, ArrowUp: this.chosen - 1 }[event.key];
    if (event.key === 'Enter') {
      const command = found[this.chosen];
      if (command) this.#run(command);
    } else if (to !== undefined && count) this.chosen = (to + count) % count;
    else return;
    event.preventDefault();
  }

  #run(command: Command): void {
    if (!isEnabled(command)) return;
    // The focus goes back first, because the command may move it elsewhere.
    this.#dialog?.close();
    this.remove();
    runCommand(command);
  }
}

define('command-palette', CommandPalette);
