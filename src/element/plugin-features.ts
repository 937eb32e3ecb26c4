import { type PropertyDeclarations, type PropertyValues, html, isServer, nothing } from 'lit';
import type { Features } from '../core/records.ts';
import { canRetry, renderError } from './error-view.ts';
import { PluginFeaturesErrorEvent, PluginFeaturesLoadEvent } from './features-events.ts';
import { EditorLink, type LinkedEditor } from './features-link.ts';
import { type FetchFeaturesToken, FeaturesSource } from './features-source.ts';
import { type PluginFeaturesStrings, defaultFeaturesStrings } from './features-strings.ts';
import { featuresStyles } from './features-styles.ts';
import { renderFeatures } from './features-view.ts';
import { FormControl } from './form-control.ts';
import type { PluginEditorState } from './state.ts';

const flag = { type: Boolean, reflect: true };

/**
 * Shows what a builder supports: its languages, as a list or to choose one of, and its features.
 *
 * The record is asked for once for all elements that name the same builder and have no `fetchToken`. It is kept as long
 * as one of them is in a page, and never a failure: one more element that comes then asks again.
 *
 * With `for`, the choice and the editor's `template` are kept the same, and the latest change wins: choosing sets the
 * `template`, and a `template` that changes becomes the choice. At first `value` goes before the editor's `template`. What is
 * chosen is never another language than the editor shows: once it says that the plugin exists, the plugin's language is
 * chosen, and nothing else can be until another plugin is opened. That is not `disabled`: the language is submitted.
 *
 * In a form it is a control like a native group of radio buttons: `value` is the `identifier` that is chosen, and the
 * attribute of this name its default. As with a `<select>`, a value that no language has chooses nothing and is not
 * submitted; it is kept, in case a refresh brings that language. Until the languages are known, a value stands as it is.
 *
 * @element plugin-features
 *
 * @fires {PluginFeaturesLoadEvent} plugin-features-load - The record arrived, for the first time or anew.
 * @fires {PluginFeaturesErrorEvent} plugin-features-error - The record could not be had; `state` became `error`.
 * @fires {Event} input - The user chose a language.
 * @fires {Event} change - The user chose a language.
 *
 * @slot loading - Shown in place of the words while the record is under way.
 * @slot error - Shown in place of the message and the retry button in state `error`.
 * @slot empty - Shown in place of the words when there are no languages.
 *
 * @csspart list - The languages as a whole.
 * @csspart language - One language.
 * @csspart name - Its name.
 * @csspart short - Its short name.
 * @csspart feature - One feature.
 * @csspart error - The error view.
 * @csspart retry - The button in the error view.
 *
 * @cssstate idle - There is no builder.
 * @cssstate loading - The record is under way.
 * @cssstate ready - The record is shown.
 * @cssstate error - The error view is shown.
 * @cssstate testing - The builder has a testing service.
 *
 * @cssprop [--plugin-editor-font=inherit] - Font.
 * @cssprop [--plugin-editor-color=inherit] - Text colour, which all other colours are mixed from.
 * @cssprop [--plugin-editor-background=none] - Background of a language.
 * @cssprop [--plugin-editor-accent=currentColor] - Colour of what is chosen and of the focus ring.
 * @cssprop [--plugin-editor-border=1px solid] - Border of a language.
 * @cssprop [--plugin-editor-radius=0.5em] - Radius of its corners.
 * @cssprop [--plugin-editor-gap=0.5em] - Space between languages and between features.
 */
export class PluginFeaturesElement extends FormControl {
  static override styles = featuresStyles;

  static override properties: PropertyDeclarations = {
    builder: {},
    htmlFor: { attribute: 'for' },
    selectable: flag,
    name: { reflect: true },
    defaultValue: { attribute: 'value' },
    value: { attribute: false },
    required: flag,
    disabled: flag,
    label: {},
    fetchToken: { attribute: false },
    strings: { attribute: false },
  };

  /** Base address of the builder interface, http or https, absolute; by default that of the editor that `for` names. */
  declare builder: string | null;
  /** Id of a `<plugin-editor>` in the same tree, whose `template` is chosen here. */
  declare htmlFor: string | null;
  /** Whether one of the languages can be chosen; with `for` it always can. */
  declare selectable: boolean;
  /** The name under which a form submits the choice. */
  declare name: string | null;
  /** The `identifier` that is chosen at first and after a reset of the form, such as `typescript`. */
  declare defaultValue: string | null;
  /** Whether a form needs a choice. */
  declare required: boolean;
  /** Whether nothing can be chosen, and nothing is submitted. */
  declare disabled: boolean;
  /** Accessible name of the list or group; while empty it is the word of `strings`. */
  declare label: string | null;
  /**
   * Gets a token, which is sent as Bearer: called with `{ signal }`, it returns one. A new function restarts nothing. The
   * request is then not shared with other elements.
   */
  declare fetchToken: FetchFeaturesToken | undefined;
  /** Texts in place of the English ones, which are exported as `defaultFeaturesStrings`. */
  declare strings: Partial<PluginFeaturesStrings> | undefined;

  #source: FeaturesSource | undefined;
  /** Identifies what `#source` was made for; empty without a source. */
  #key = '';
  #link = new EditorLink(() => this.#follow());
  #editor: LinkedEditor | null | undefined;
  /** What the editor's `template` was when last seen or set. */
  #template = '';
  /** What a user or script chose; until then the default holds. */
  #chosen: string | null | undefined;
  /** The language that the editor shows, where it says whether the plugin exists. */
  #shown: string | undefined;
  /** Whether the plugin exists, so that its language stays. */
  #locked = false;
  /** Whether a choice was made that the editor has not acted upon. */
  #asked = false;

  constructor() {
    super();
    this.selectable = this.required = this.disabled = false;
  }

  /** The chosen `identifier`, or an empty string. */
  get value(): string {
    return this.#shown ?? this.#chosen ?? this.defaultValue ?? this.#template;
  }
  set value(value: string) {
    if (this.#locked) return;
    this.#chosen = value;
    this.#shown = undefined;
    this.#asked = true;
    this.#follow(true);
    // The form value is set at once, because listeners to the choice may read the form.
    this.#report();
    // Unsaved work may keep the editor from following; then its language is chosen again.
    void this.#onceAsked();
  }

  /** `idle`: there is no builder; `error`: `error` says why. A refresh is `loading`, too. */
  get state(): PluginEditorState {
    // A server requests nothing and renders what the browser will render first.
    return this.#source?.state ?? (isServer && (this.builder || this.htmlFor) ? 'loading' : 'idle');
  }

  /** What the builder supports: frozen, and shared with other elements. A refresh that fails leaves it as it is. */
  get record(): Readonly<Features> | undefined {
    return this.#source?.record;
  }

  /**
   * Why the state is `error`: a `PluginEditorError` with the code `config` or one of the `token-` ones, or what became
   * of the request: `HttpError`, `NetworkError`, `TimeoutError`, `SchemaError`.
   */
  get error(): Error | undefined {
    return this.#source?.error;
  }

  /**
   * Asks the builder anew, for all elements that share the record. Resolves when the new one is shown, at once where
   * there is no builder, and rejects with what becomes `error`.
   */
  async refresh(): Promise<void> {
    await this.updateComplete;
    await this.#source?.load();
  }

  /** Moves the focus to what is chosen, or to what comes first. */
  override focus(options?: FocusOptions): void {
    const checked = this.renderRoot.querySelector<HTMLElement>(':checked');
    if (checked) checked.focus(options);
    else super.focus(options);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  /** What is under way ends with the next update, unless the element was only moved. */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.requestUpdate();
  }

  /** @internal */
  formResetCallback(): void {
    this.value = this.defaultValue ?? '';
    if (!this.#locked) this.#chosen = undefined;
  }

  /** @internal */
  formStateRestoreCallback(value: string): void {
    this.value = value;
  }

  /** Follows the editor again once it has handled the choice. */
  async #onceAsked(): Promise<void> {
    await this.#editor?.updateComplete;
    this.#asked = false;
    this.#follow();
  }

  /** Finds the editor and brings choice, `template` and source in step with what is set now. */
  #follow(choosing = false): void {
    const { isConnected, value: before } = this;
    const editor = this.#link.find(this, this.htmlFor);
    const read = (name: 'builder' | 'template') => editor?.[name] ?? editor?.getAttribute(name) ?? '';
    if (editor) {
      const template = read('template');
      if (editor === this.#editor && template !== this.#template && !choosing) this.#chosen = template;
      this.#template = this.#chosen ?? this.defaultValue ?? template;
      // It is set as an attribute, because the editor may not be upgraded yet.
      if (this.#template !== template) editor.setAttribute('template', this.#template);
    }
    const plugin = editor?.plugin;
    // Until another plugin is shown, the plugin before decides.
    if (plugin || editor !== this.#editor) {
      this.#locked = !!plugin?.exists && !!plugin.language;
      if (!this.#asked) this.#shown = plugin?.exists === undefined ? undefined : plugin.language;
    } else if (!this.#locked) {
      this.#shown = undefined;
    }
    this.#editor = editor;

    const builder = isConnected && (this.builder || read('builder'));
    const key = builder ? `${!this.fetchToken} ${builder}` : '';
    if (key !== this.#key) {
      this.#key = key;
      this.#source?.leave(this);
      this.#source = builder ? FeaturesSource.join(builder, this) : undefined;
      this.requestUpdate('state');
    }
    this.requestUpdate('value', before);
  }

  protected override willUpdate(): void {
    if (!isServer) this.#follow();
  }

  protected override updated(changed: PropertyValues): void {
    const { record, state, error } = this;
    const { states } = this.internals;
    states.clear();
    states.add(state);
    if (record?.features.includes('testing')) states.add('testing');
    this.#report();

    if (!changed.has('state')) return;
    if (error) this.dispatchEvent(new PluginFeaturesErrorEvent({ error }));
    if (state === 'ready') this.dispatchEvent(new PluginFeaturesLoadEvent({ record: record as Features }));
  }

  /** Tells the form what is chosen. */
  #report(): void {
    const { record, value } = this;
    const stands = !record || this.#locked || record.languages.some(({ identifier }) => identifier === value);
    const picked = (this.#canChoose() && stands && value) || null;
    this.internals.setFormValue(picked);
    this.internals.setValidity(
      { valueMissing: this.#canChoose() && this.required && !picked },
      this.#words().required,
      this.renderRoot?.querySelector('input') ?? undefined,
    );
  }

  #canChoose(): boolean {
    return this.selectable || !!this.htmlFor;
  }

  #words(): PluginFeaturesStrings {
    return { ...defaultFeaturesStrings, ...this.strings } as PluginFeaturesStrings;
  }

  protected override render(): unknown {
    const { record, state, error } = this;
    const strings = this.#words();
    return [
      record
        ? renderFeatures(record, {
            strings,
            label: this.label || strings.languages,
            selectable: this.#canChoose(),
            required: this.required,
            disabled: this.disabled || this.barred,
            locked: this.#locked,
            value: this.value,
            onInput: this.#choose,
            onChange: this.#confirm,
          })
        : state === 'loading'
          ? html`<div role="status">
              <slot name="loading"><p>${strings.loading}</p></slot>
            </div>`
          : nothing,
      error ? renderError(this, 'error', strings, canRetry(error) && (() => this.refresh())) : nothing,
    ];
  }

  #choose = ({ target }: Event): void => {
    this.value = (target as HTMLInputElement).value;
  };

  /** Unlike `input`, a native `change` does not leave the shadow root. */
  #confirm = (): void => {
    this.dispatchEvent(new Event('change', { bubbles: true }));
  };
}
