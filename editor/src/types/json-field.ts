import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { history, historyKeymap, standardKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type TemplateResult, html, nothing } from 'lit';
import { codeMirrorPhrases, codeTheme, styleNonce, syncColourScheme } from '../code/code-theme.ts';
import { completionList } from '../code/completion-list.ts';
import { problemTheme } from '../code/problems.ts';
import { typeOver } from '../code/text-editing.ts';
import { wrapping } from '../code/wrapping.ts';
import { texts } from '../locales/locale.ts';
import { withLineFeeds } from '../plugin/source.ts';
import { LightElement, define } from '../ui/light-element.ts';
import { completeJson } from './json-completion.ts';
import { placeOf, syntaxPlace } from './json-tree.ts';
import { type SchemaProblem, SchemaCheck } from './schema-problems.ts';
import { type Schema, pathText } from './schema.ts';

/** How long after the last key the text is checked, in ms. */
const DEBOUNCE = 150;

/** How many problems are listed below the field at most; in the field all are marked. */
const MAX_LISTED = 4;

interface Found {
  message: string;
  path: string;
  from: number;
  to: number;
}

/** A field for JSON that is checked against a schema while one types, and completed from it. Fires `input` when it changed. */
export class JsonField extends LightElement {
  static override properties = {
    value: { attribute: false },
    schema: { attribute: false },
    label: { attribute: false },
    fieldId: { attribute: false },
    describedBy: { attribute: false },
    isReadOnly: { attribute: false },
    serviceProblem: { attribute: false },
    problems: { state: true },
  };

  declare value: string;
  declare schema: Schema | undefined;
  /** Its accessible name. */
  declare label: string;
  /** The id of the element that takes the focus. */
  declare fieldId: string;
  /** The id of the element that describes the field. */
  declare describedBy: string | undefined;
  declare isReadOnly: boolean;
  /** The problem that the service found when it ran with this text. */
  declare serviceProblem: SchemaProblem | undefined;
  declare protected problems: readonly Found[];
  #view: EditorView | undefined;
  #check: SchemaCheck | undefined;
  #unsyncScheme: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #settings = new Compartment();

  constructor() {
    super();
    this.value = '';
    this.label = '';
    this.fieldId = '';
    this.describedBy = undefined;
    this.isReadOnly = false;
    this.problems = [];
  }

  override focus(): void {
    if (this.#view) this.#view.focus();
    else void this.updateComplete.then(() => this.#view?.focus());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#unsyncScheme?.();
    this.#view?.destroy();
    this.#view = undefined;
  }

  protected override render(): TemplateResult {
    const words = texts().types;
    const listed = this.problems.slice(0, MAX_LISTED);
    const rest = this.problems.length - listed.length;
    return html`<div class="json-editor" dir="ltr"></div>
      <ul
        class="json-problems"
        id="${this.fieldId}-problems"
        ?hidden=${!listed.length}
        aria-label=${words.problems.title}
      >
        ${listed.map(
          ({ message, path, from }) =>
            html`<li>
              <button type="button" class="json-problem" @click=${() => this.#goTo(from)}>
                ${path ? html`<code>${path}</code> ` : nothing}<span>${message}</span>
              </button>
            </li>`,
        )}
        ${rest > 0 ? html`<li class="json-problem-rest">${words.problems.more(rest)}</li>` : nothing}
      </ul>`;
  }

  protected override updated(changed: ReadonlyMap<PropertyKey, unknown>): void {
    if (changed.has('schema'))
      this.#check = this.schema === undefined ? undefined : new SchemaCheck(this.schema);
    if (!this.#view) this.#open();
    const view = this.#view;
    if (!view) return;
    if (['label', 'fieldId', 'describedBy', 'isReadOnly', 'problems'].some((name) => changed.has(name))) {
      view.dispatch({ effects: this.#settings.reconfigure(this.#access()) });
    }
    const text = withLineFeeds(this.value);
    if (text !== view.state.doc.toString()) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    }
    // Its problems are drawn by a further update, which must not begin within this one.
    if (changed.has('schema') || changed.has('serviceProblem')) queueMicrotask(() => this.#checkNow());
  }

  #open(): void {
    const parent = this.querySelector('.json-editor');
    if (!parent || !this.isConnected) return;
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        doc: this.value,
        extensions: [
          json(),
          history(),
          closeBrackets(),
          bracketMatching(),
          completionList({ override: [completeJson(() => this.schema)] }),
          // Tab leaves the field, as it leaves any other.
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...standardKeymap]),
          EditorState.tabSize.of(2),
          wrapping,
          typeOver(),
          codeTheme(),
          problemTheme,
          styleNonce(),
          this.#settings.of(this.#access()),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (!docChanged) return;
            this.#checkSoon();
            const text = state.doc.toString();
            if (text === withLineFeeds(this.value)) return;
            this.value = text;
            this.dispatchEvent(new Event('input', { bubbles: true }));
          }),
        ],
      }),
    });
    this.#unsyncScheme = syncColourScheme(this.#view);
    queueMicrotask(() => this.#checkNow());
  }

  /** Whether the text can be changed, and its accessible name and description. */
  #access() {
    const isWrong = this.problems.length > 0;
    const described = [
      ...(isWrong ? [`${this.fieldId}-problems`] : []),
      ...(this.describedBy ? [this.describedBy] : []),
    ];
    return [
      codeMirrorPhrases(),
      EditorState.readOnly.of(this.isReadOnly),
      EditorView.contentAttributes.of({
        id: this.fieldId,
        'aria-label': this.label,
        'aria-invalid': String(isWrong),
        ...(described.length ? { 'aria-describedby': described.join(' ') } : {}),
      }),
    ];
  }

  #goTo(at: number): void {
    this.#view?.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    this.#view?.focus();
  }

  #checkSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#checkNow(), DEBOUNCE);
  }

  #checkNow(): void {
    clearTimeout(this.#timer);
    const view = this.#view;
    if (!view) return;
    const found = this.#find(view.state);
    view.dispatch(
      setDiagnostics(
        view.state,
        found.map(({ from, to, message }): Diagnostic => ({ from, to, message, severity: 'error' })),
      ),
    );
    if (JSON.stringify(found) !== JSON.stringify(this.problems)) this.problems = found;
  }

  #find(state: EditorState): Found[] {
    const text = state.doc.toString();
    // An empty field has no problems.
    if (!text.trim()) return [];
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return [{ path: '', message: texts().types.problems.syntax, ...syntaxPlace(state) }];
    }
    const own = this.#check?.problems(value) ?? [];
    const isKnown = own.some(
      ({ path }) => pathText(path) === (this.serviceProblem && pathText(this.serviceProblem.path)),
    );
    const all = this.serviceProblem && !isKnown ? [this.serviceProblem, ...own] : own;
    return all.flatMap(({ path, message }) => {
      const place = placeOf(state, path) ?? { from: 0, to: 1 };
      return [{ path: pathText(path), message, ...place }];
    });
  }
}

define('json-field', JsonField);

declare global {
  interface HTMLElementTagNameMap {
    'json-field': JsonField;
  }
}
