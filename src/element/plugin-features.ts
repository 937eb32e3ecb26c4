import { type PropertyDeclarations, type PropertyValues, html, isServer, nothing } from 'lit';
import type { Features } from '../core/records.ts';
import { canRetry, renderError } from './error-view.ts';
import { PluginFeaturesErrorEvent, PluginFeaturesLoadEvent } from './features-events.ts';
import { EditorLink, type LinkedEditor, linkedAttribute } from './features-link.ts';
import { type FetchFeaturesToken, FeaturesStore } from './features-store.ts';
import { type PluginFeaturesStrings, defaultFeaturesStrings } from './strings.ts';
import { featuresStyles } from './features-styles.ts';
import { renderFeatures } from './features-view.ts';
import { FormControl } from './form-control.ts';
import type { PluginEditorState } from './element-state.ts';

const flag = { type: Boolean, reflect: true };

/**
 * Shows what a builder supports: its languages, as a list or to choose one of, and its features.
 *
 * The record is requested once for all elements that name the same builder and have no `fetchToken`. It is kept as long
 * as one of them is in a page. After a failure, the next element that is added requests it again.
 *
 * With `for`, the choice and the editor's `template` are kept the same, and the latest change wins. At first, `value` takes
 * precedence over the editor's `template`. The choice is always the language that the editor shows: once the editor says
 * that the plugin exists, its language is chosen, and no other can be until another plugin is opened. The element is not
 * `disabled` then, and the language is submitted.
 *
 * In a form it is a control like a native group of radio buttons: `value` is the `identifier` that is chosen, and the
 * attribute of this name its default. As with a `<select>`, a value that no language has chooses nothing and is not
 * submitted; it is kept, in case a refresh brings that language. Until the languages are known, any value counts as one of them.
 *
 * @element plugin-features
 *
 * @fires {PluginFeaturesLoadEvent} plugin-features-load - The record arrived, for the first time or after a refresh.
 * @fires {PluginFeaturesErrorEvent} plugin-features-error - The record could not be loaded; `state` became `error`.
 * @fires {Event} input - The user chose a language.
 * @fires {Event} change - The user chose a language.
 *
 * @slot loading - Replaces the text while the record loads.
 * @slot error - Replaces the message and the retry button in state `error`.
 * @slot empty - Replaces the text when there are no languages.
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
 * @cssstate loading - The record is loading.
 * @cssstate ready - The record is shown.
 * @cssstate error - The error view is shown.
 * @cssstate testing - The builder has a testing service.
 *
 * @cssprop [--plugin-editor-font=inherit] - Font.
 * @cssprop [--plugin-editor-color=inherit] - Text colour, from which all other colours are mixed.
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
  /** Id of a `<plugin-editor>` in the same tree; the choice sets its `template`. */
  declare htmlFor: string | null;
  /** Whether the user can choose a language; with `for`, the user always can. */
  declare selectable: boolean;
  /** The name under which a form submits the choice. */
  declare name: string | null;
  /** The `identifier` that is chosen initially and after a reset of the form, such as `typescript`. */
  declare defaultValue: string | null;
  /** Whether the form needs a choice. */
  declare required: boolean;
  /** Whether the control is disabled: nothing can be chosen, and nothing is submitted. */
  declare disabled: boolean;
  /** Accessible name of the list or group; while empty it is `languages` of `strings`. */
  declare label: string | null;
  /**
   * Your function that gets a token, which is sent as Bearer: called with `{ signal }`, it returns a promise of one. If it is
   * set, the request is not shared with other elements. A new function restarts nothing.
   */
  declare fetchToken: FetchFeaturesToken | undefined;
  /** Texts that replace the English ones, which are exported as `defaultFeaturesStrings`. */
  declare strings: Partial<PluginFeaturesStrings> | undefined;

  #store: FeaturesStore | undefined;
  /** Identifies what `#store` was made for; empty without a store. */
  #storeKey = '';
  #link = new EditorLink(() => this.#sync());
  #editor: LinkedEditor | null | undefined;
  /** What the editor's `template` was when last seen or set. */
  #template = '';
  /** What a user or script chose; `undefined` until then. */
  #chosen: string | null | undefined;
  /** The language that the editor shows; `undefined` where it does not say whether the plugin exists. */
  #shownLanguage: string | undefined;
  /** Whether the editor shows a plugin that exists, whose language cannot be changed. */
  #isLocked = false;
  /** Whether the editor has not handled the latest choice yet. */
  #isChoicePending = false;

  constructor() {
    super();
    this.selectable = this.required = this.disabled = false;
  }

  /** The chosen `identifier`, or an empty string. */
  get value(): string {
    return this.#shownLanguage ?? this.#chosen ?? this.defaultValue ?? this.#template;
  }
  set value(value: string) {
    if (this.#isLocked) return;
    this.#chosen = value;
    this.#shownLanguage = undefined;
    this.#isChoicePending = true;
    this.#sync(true);
    // The form value is set at once, because listeners to the choice may read the form.
    this.#updateFormValue();
    // Unsaved work may keep the editor on its plugin, whose language is then chosen again.
    void this.#endPendingChoice();
  }

  /** `idle` (there is no builder), `loading` (also during a refresh), `ready` or `error`. */
  get state(): PluginEditorState {
    // A server requests nothing, and renders what the browser renders first.
    return this.#store?.state ?? (isServer && (this.builder || this.htmlFor) ? 'loading' : 'idle');
  }

  /** The features record of the builder: frozen, and shared with other elements. A refresh that fails leaves it as it is. */
  get record(): Readonly<Features> | undefined {
    return this.#store?.record;
  }

  /**
   * Why the state is `error`: a `PluginEditorError` with the code `config` or one of the `token-` codes, or `HttpError`,
   * `NetworkError`, `TimeoutError` or `SchemaError` of the request. `undefined` in any other state.
   */
  get error(): Error | undefined {
    return this.#store?.error;
  }

  /**
   * Requests the record again, for all elements that share it. Resolves when the new record is shown, or at once if there is
   * no builder; rejects with what becomes `error`.
   */
  async refresh(): Promise<void> {
    // Before its first connection an element is never updated. After a removal, the next update leaves the store.
    if (this.renderRoot) await this.updateComplete;
    await this.#store?.load();
  }

  /** Moves the focus to the chosen language, or else to what comes first. */
  override focus(options?: FocusOptions): void {
    const checked = this.renderRoot?.querySelector<HTMLElement>(':checked');
    if (checked) checked.focus(options);
    else super.focus(options);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  /** The next update ends a pending request, unless the element was only moved. */
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.requestUpdate();
  }

  /** @internal */
  formResetCallback(): void {
    this.value = this.defaultValue ?? '';
    if (!this.#isLocked) this.#chosen = undefined;
  }

  /** @internal */
  formStateRestoreCallback(value: string): void {
    this.value = value;
  }

  /** Waits until the editor has handled the choice, and then takes over what it shows. */
  async #endPendingChoice(): Promise<void> {
    await this.#editor?.updateComplete;
    this.#isChoicePending = false;
    this.#sync();
  }

  /**
   * Brings the choice, the editor's `template` and the record in step with what is set now.
   * @param isChoosing whether the choice was made just now, and so decides
   */
  #sync(isChoosing = false): void {
    const before = this.value;
    const editor = this.#link.find(this, this.htmlFor);
    if (editor) this.#syncTemplate(editor, isChoosing);
    this.#syncLanguage(editor);
    this.#editor = editor;
    this.#syncStore();
    this.requestUpdate('value', before);
  }

  #syncTemplate(editor: LinkedEditor, isChoosing: boolean): void {
    const template = linkedAttribute(editor, 'template');
    if (editor === this.#editor && template !== this.#template && !isChoosing) this.#chosen = template;
    this.#template = this.#chosen ?? this.defaultValue ?? template;
    // It is set as an attribute, because the editor may not be upgraded yet.
    if (this.#template !== template) editor.setAttribute('template', this.#template);
  }

  /** Takes over the language of the plugin that the editor shows. */
  #syncLanguage(editor: LinkedEditor | null | undefined): void {
    const plugin = editor?.plugin;
    // While the editor goes from one plugin to another, the one that existed still decides.
    if (this.#isLocked && !plugin && editor === this.#editor && editor?.state === 'loading') return;
    const isLocked = !!plugin?.exists && !!plugin.language;
    // A plugin that was saved just now keeps its language, but no other can be chosen any longer.
    if (isLocked !== this.#isLocked) this.requestUpdate();
    this.#isLocked = isLocked;
    if (!plugin || !this.#isChoicePending)
      this.#shownLanguage = plugin?.exists === undefined ? undefined : plugin.language;
  }

  /** Subscribes to the record of the builder that is set now, and to no other. */
  #syncStore(): void {
    const builder = this.isConnected && (this.builder || linkedAttribute(this.#editor, 'builder'));
    const key = builder ? `${!this.fetchToken} ${builder}` : '';
    if (key !== this.#storeKey) {
      this.#storeKey = key;
      this.#store?.unsubscribe(this);
      this.#store = builder ? FeaturesStore.subscribe(builder, this) : undefined;
      this.requestUpdate('state');
    }
  }

  protected override willUpdate(): void {
    if (!isServer) this.#sync();
  }

  protected override updated(changed: PropertyValues): void {
    const { record, state, error } = this;
    const { states } = this.internals;
    states.clear();
    states.add(state);
    if (record?.features.includes('testing')) states.add('testing');
    // Not bound in the template: Lit would not set again what the user has changed since.
    for (const input of this.renderRoot.querySelectorAll('input')) input.checked = input.value === this.value;
    this.#updateFormValue();

    if (!changed.has('state')) return;
    if (error) this.dispatchEvent(new PluginFeaturesErrorEvent({ error }));
    if (state === 'ready') this.dispatchEvent(new PluginFeaturesLoadEvent({ record: record as Features }));
  }

  /** Sets the value that the form submits, and whether it is valid. */
  #updateFormValue(): void {
    const { record, value } = this;
    // Until the languages are known, a value counts as one of them.
    const isKnown =
      !record || this.#isLocked || record.languages.some(({ identifier }) => identifier === value);
    const formValue = (this.#canChoose() && isKnown && value) || null;
    this.internals.setFormValue(formValue);
    this.internals.setValidity(
      { valueMissing: this.#canChoose() && this.required && !formValue },
      this.#texts().required,
      this.renderRoot?.querySelector('input') ?? undefined,
    );
  }

  #canChoose(): boolean {
    return this.selectable || !!this.htmlFor;
  }

  #texts(): PluginFeaturesStrings {
    return { ...defaultFeaturesStrings, ...this.strings } as PluginFeaturesStrings;
  }

  protected override render(): unknown {
    const { record, state, error } = this;
    const strings = this.#texts();
    return [
      record
        ? renderFeatures(record, {
            strings,
            label: this.label || strings.languages,
            selectable: this.#canChoose(),
            required: this.required,
            disabled: this.disabled || this.isDisabledByAncestor,
            locked: this.#isLocked,
            value: this.value,
            onInput: this.#handleInput,
            onChange: this.#handleChange,
          })
        : state === 'loading'
          ? html`<div role="status">
              <slot name="loading"><p>${strings.loading}</p></slot>
            </div>`
          : nothing,
      error ? renderError(this, 'error', strings, canRetry(error) && (() => this.refresh())) : nothing,
    ];
  }

  #handleInput = ({ target }: Event): void => {
    this.value = (target as HTMLInputElement).value;
    // The user moved the choice, also where it is refused or taken back before the next update.
    this.requestUpdate();
  };

  /** Unlike `input`, a native `change` does not leave the shadow root. */
  #handleChange = (): void => {
    this.dispatchEvent(new Event('change', { bubbles: true }));
  };
}
