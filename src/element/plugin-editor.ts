import { LitElement, type PropertyDeclarations, html, nothing } from 'lit';
import { ATTRIBUTES, type AttributeProperties, attributeOf, attributeRows } from '../core/config.ts';
import type { Assistant } from '../core/assistant.ts';
import type { PluginEditorError } from '../core/errors.ts';
import type { InitialSource } from '../core/messages.ts';
import type { FetchToken, TokenHeaders } from '../core/token.ts';
import { EditorController } from './controller.ts';
import { canRetry, renderError } from './error-view.ts';
import type { ShownPlugin } from './events.ts';
import type { FrameAttributes } from './connection.ts';
import type { PluginEditorState } from './element-state.ts';
import { type PluginEditorStrings, defaultStrings } from './strings.ts';
import { styles } from './styles.ts';

/**
 * Shows a plugin editor in a frame: gets an editor token from the page's own endpoint, builds the editor's address
 * from the attributes, and reports by events what happens in the editor.
 *
 * While a required attribute (`editor-url`, `builder`, `ident`, `fn`) or a token source (`token-endpoint` or
 * `fetchToken`) is missing, it is `idle` and does nothing.
 *
 * @element plugin-editor
 *
 * @fires {PluginEditorStateEvent} plugin-editor-state - Every change of `state`.
 * @fires {PluginEditorReadyEvent} plugin-editor-ready - The editor can be used. `confirmed`: whether the editor said so itself; `false` means that its page has loaded. Fires once for each plugin that is opened, and once more if the editor says so later.
 * @fires {PluginEditorErrorEvent} plugin-editor-error - The editor cannot be shown: `state` became `error`. Or a running editor could not be reloaded, such as after a sign-out, and stays: `state` is `ready`.
 * @fires {PluginEditorExpiringEvent} plugin-editor-expiring - The token is about to end, and the editor has not got a new one.
 * @fires {PluginEditorPluginEvent} plugin-editor-plugin - `plugin` changed.
 * @fires {PluginEditorDiscardEvent} plugin-editor-discard - Unsaved work is about to be lost; `preventDefault()` keeps it. `next`: the plugin that replaces this one, if any; `error`: why the editor did not save.
 * @fires {PluginEditorDirtyEvent} plugin-editor-dirty - `dirty` changed: unsaved work appeared, or is saved or gone.
 * @fires {PluginEditorSaveEvent} plugin-editor-save - The draft was saved.
 * @fires {PluginEditorBuildEvent} plugin-editor-build - A build ended.
 * @fires {PluginEditorTestEvent} plugin-editor-test - A test run ended, with a `result` or an `error`; `passed` only if the test asserts something.
 * @fires {PluginEditorDeployEvent} plugin-editor-deploy - A version was deployed; `unchanged`: it was the newest already.
 * @fires {PluginEditorLiveEvent} plugin-editor-live - Another version was made live; `null`: the newest is live again. Does not fire for a deploy.
 *
 * @slot idle - Shown while the element is `idle`.
 * @slot loading - Replaces the text and the bar while the element is `loading`.
 * @slot error - Replaces the message and the retry button in state `error`.
 *
 * @csspart frame - The frame.
 * @csspart status - What covers the frame while it loads.
 * @csspart error - The error view.
 * @csspart retry - The button in the error view.
 *
 * @cssstate idle - Nothing to show.
 * @cssstate loading - The token or the frame is loading.
 * @cssstate ready - The editor is shown.
 * @cssstate error - The error view is shown.
 *
 * @cssprop [--plugin-editor-height=36rem] - Height of the element.
 * @cssprop [--plugin-editor-font=1rem/1.5 system-ui, sans-serif] - Font of its views.
 * @cssprop [--plugin-editor-color=CanvasText] - Text colour of its views.
 * @cssprop [--plugin-editor-background=Canvas] - Background of its views.
 * @cssprop [--plugin-editor-accent=auto] - Colour of the loading bar.
 * @cssprop [--plugin-editor-border=0] - Border around the element.
 * @cssprop [--plugin-editor-radius=0] - Radius of its corners.
 * @cssprop [--plugin-editor-gap=1rem] - Space around and between the parts of its views.
 */
export class PluginEditorElement extends LitElement implements AttributeProperties {
  static override styles = styles;

  static override properties: PropertyDeclarations = {
    ...Object.fromEntries(
      attributeRows.map(([name, { initial }]) => [
        name,
        // `builder` and `template` are reflected, because `<plugin-features>` observes these two attributes.
        {
          attribute: attributeOf(name),
          type: initial.constructor,
          useDefault: true,
          reflect: /^(builder|template)$/.test(name),
        },
      ]),
    ),
    fetchToken: { attribute: false },
    tokenHeaders: { attribute: false },
    initialSource: { attribute: false },
    assistant: { attribute: false },
    strings: { attribute: false },
  };

  /** Address of the editor page, http or https; a relative one is resolved against the document. Required. */
  declare editorUrl: string | null;
  /** Base address of the builder interface, http or https, absolute. Required. */
  declare builder: string | null;
  /** Environment name, a period, tenant name, such as `com.acme.customer-7`. Required. */
  declare ident: string | null;
  /** Namespace of the plugin, as one segment of a path. */
  declare namespace: string | null;
  /** Name of the plugin, as one segment of a path. Required. */
  declare fn: string | null;
  /** Language for a new plugin: the `identifier` of a language in the features record, such as `typescript`. */
  declare template: string | null;
  /**
   * Address of your endpoint that answers with an editor token; a relative one is resolved against the document.
   * Required unless `fetchToken` is set.
   */
  declare tokenEndpoint: string | null;
  /** Method of the token request: `post`, with the plugin as JSON, or `get`, with the plugin as a query. */
  declare tokenMethod: 'post' | 'get' | null;
  /** Whether cookies go with the token request: `omit`, `same-origin` or `include`. */
  declare credentials: 'omit' | 'same-origin' | 'include' | null;
  /**
   * How the editor gets the token. `url`: as a parameter of its address. `message`: by the frame protocol, so that no
   * address holds the token; the frame starts loading during the token request.
   */
  declare tokenDelivery: 'url' | 'message' | null;
  /** `eager`: at once. `lazy`: nothing is fetched until the element comes near the viewport. */
  declare loading: 'eager' | 'lazy' | null;
  /** With `message` delivery: loads the frame as soon as `editor-url` is known, before there is a plugin. */
  declare preload: boolean;
  /**
   * Asks the editor to change nothing. Only the token's permissions decide what is allowed.
   */
  declare readOnly: boolean;
  /**
   * BCP 47 tag for the editor's texts, dates and numbers; while empty, the nearest `lang` attribute around the element. An
   * invalid tag is not sent to the editor.
   */
  declare locale: string | null;
  /** Turns off the question that the browser asks before the page is left while `dirty`. */
  declare unguarded: boolean;
  /**
   * Time limit in ms for each try of a token request, for `save()`, and for the frame to load (`url`) or be ready
   * (`message`). Above 0 and below 2 ** 31.
   */
  declare timeout: number | null;
  /** The attribute `sandbox` of the frame: its keywords; `none` removes it. */
  declare sandbox: string | null;
  /** The attribute `allow` of the frame. */
  declare allow: string | null;
  /** The attribute `referrerpolicy` of the frame. */
  declare referrerpolicy: string | null;
  /** The frame's accessible name; while empty it is `Plugin editor: ` and the plugin's name. */
  declare label: string | null;
  /**
   * Your function that gets tokens, instead of `token-endpoint`: called with `{ ident, namespace, fn, signal }`, it returns a
   * promise of a token or of `{ token, expires_in?, expires_at? }`. A new function restarts nothing.
   */
  declare fetchToken: FetchToken | undefined;
  /** Headers for the token request, such as one against cross-site request forgery, or a function that returns them. */
  declare tokenHeaders: TokenHeaders | undefined;
  /**
   * Source of a plugin that has no draft, instead of a template: `{ contents, lang, tests? }`, at most 1 MiB of JSON. Used if
   * `template` is empty or equals its `lang`. It goes to the editor only by message. A new object restarts nothing: it is
   * read at the next change of attributes or `reload()`.
   */
  declare initialSource: InitialSource | undefined;
  /**
   * Your function that answers authors' questions in the editor, with a model of yours: called with `{ prompt, ident,
   * namespace, fn, language, source, tests, declarations?, problems, failures, signal }`, it returns an async iterable of texts
   * and of proposals, `{ source?, tests? }`. An editor with the capability `assist` shows a panel for it. A new function
   * restarts nothing; removing it ends a running answer.
   */
  declare assistant: Assistant | undefined;
  /** Texts that replace the English ones, which are exported as `defaultStrings`. */
  declare strings: Partial<PluginEditorStrings> | undefined;

  #internals = this.attachInternals();
  #controller = new EditorController(this);

  constructor() {
    super();
    for (const [name, { initial }] of attributeRows) Object.assign(this, { [name]: initial });
    this.showState('idle');
  }

  /** The state of the element: `idle`, `loading`, `ready` or `error`. */
  get state(): PluginEditorState {
    return this.#controller.shown.state;
  }

  /** Why the state is `error`; else `undefined`. */
  get error(): PluginEditorError | undefined {
    return this.#controller.shown.error;
  }

  /** Whether the editor has unsaved work. */
  get dirty(): boolean {
    return this.#controller.shown.dirty;
  }

  /** The plugin that is shown, with what the editor said about it; `undefined` while there is none. */
  get plugin(): ShownPlugin | undefined {
    return this.#controller.shown.plugin;
  }

  /**
   * Starts over with a new token, also after `close()`. If no token can be got, a running editor stays. Resolves when the new
   * editor is ready or no longer wanted; rejects with a `PluginEditorError`. While `dirty`, the editor saves first if it can,
   * and a listener to `plugin-editor-discard` may put the reload off; then it resolves at once. `discard` skips both.
   */
  reload({ discard = false }: { discard?: boolean } = {}): Promise<void> {
    return this.#controller.reload(discard);
  }

  /**
   * Gets a new token and hands it to the running editor, which stays as it is. Rejects with a `PluginEditorError`:
   * `config` if no editor is open, `editor` if it takes no token while it runs, or the error of the request.
   */
  renewToken(): Promise<void> {
    return this.#controller.renewToken();
  }

  /**
   * Asks the editor to save now, also a plugin that has no draft yet. Resolves when it has saved; rejects with a
   * `PluginEditorError` of code `editor` if it could not save, or cannot be asked.
   */
  save(): Promise<void> {
    return this.#controller.save();
  }

  /** Reads the page's look again and tells the editor. Needed only after a change that starts no CSS transition. */
  refreshAppearance(): void {
    this.#controller.sendSettings();
  }

  /**
   * For signing out: aborts pending requests, tells the editor to forget its token and removes the frame. The element is
   * `idle` at once, and stays so until `reload()`. Resolves when the frame is gone, after up to 250 ms; never rejects.
   */
  close(): Promise<void> {
    return this.#controller.close();
  }

  /**
   * Opens the editor in a new tab, which has no `opener`, and whose token is not renewed. Call it from a click, or
   * the browser may block it. The tab gets only the plugin: no locale, look or initial source. Rejects with a
   * `PluginEditorError`; with code `config` in `message` delivery and while `read-only`.
   */
  openInNewTab(): Promise<void> {
    return this.#controller.openInNewTab();
  }

  /** Moves the focus to the frame, or to the button of the error view. */
  override focus(options?: FocusOptions): void {
    (this.#controller.frame ?? this.renderRoot?.querySelector('button'))?.focus(options);
  }

  /** @internal A move by `moveBefore` keeps the frame; without this callback it would count as removal and return. */
  connectedMoveCallback(): void {
    this.#controller.hostMoved();
  }

  /** @internal */
  frameAttributes(fn: string | undefined): FrameAttributes {
    const { label, strings, sandbox, allow, referrerpolicy } = this;
    return {
      title: label || [{ ...defaultStrings, ...strings }.frame, fn].filter(Boolean).join(': '),
      sandbox: /^none$/i.test(sandbox as string) ? null : (sandbox ?? ATTRIBUTES.sandbox.initial),
      allow: allow ?? ATTRIBUTES.allow.initial,
      referrerpolicy: referrerpolicy ?? ATTRIBUTES.referrerpolicy.initial,
    };
  }

  /** @internal */
  showState(state: PluginEditorState): void {
    const { states } = this.#internals;
    states.clear();
    states.add(state);
    this.requestUpdate();
  }

  protected override render(): unknown {
    const { state, error, editorMessage } = this.#controller.shown;
    const strings = { ...defaultStrings, ...this.strings };
    if (state === 'idle') return html`<slot name="idle"></slot>`;
    if (state === 'loading') {
      return html`<div part="status" role="status">
        <slot name="loading"
          ><label>${strings.loading}<progress></progress></label
        ></slot>
      </div>`;
    }
    if (!error) return nothing;
    return renderError(
      this,
      // `popup-blocked` has no text: it rejects `openInNewTab()`, and never leads to the state `error`.
      error.code as keyof PluginEditorStrings,
      strings,
      canRetry(error) && (() => this.reload()),
      editorMessage,
    );
  }
}
