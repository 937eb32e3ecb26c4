import { LitElement, type PropertyDeclarations, html, nothing } from 'lit';
import { DEFAULTS, attributeOf } from '../core/config.ts';
import type { PluginEditorError } from '../core/errors.ts';
import type { FetchToken, TokenHeaders } from '../core/token.ts';
import { renderError } from './error-view.ts';
import type { FrameAttributes } from './frame.ts';
import { Session } from './session.ts';
import type { PluginEditorState } from './state.ts';
import { type PluginEditorStrings, defaultStrings } from './strings.ts';
import { styles } from './styles.ts';

/** All attributes, by property, with their defaults. */
const ATTRIBUTES = {
  ...DEFAULTS,
  sandbox:
    'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox',
  allow: 'clipboard-read; clipboard-write',
  referrerpolicy: 'origin',
  label: '',
  unguarded: false,
};

/**
 * Shows a plugin editor in a frame: gets an editor token from the page's own endpoint, builds the editor's address
 * from the attributes, and reports what becomes of it.
 *
 * While a required attribute (`editor-url`, `builder`, `ident`, `fn`) or a token source (`token-endpoint` or
 * `fetchToken`) is missing, it is `idle` and does nothing.
 *
 * @element plugin-editor
 *
 * @fires {PluginEditorStateEvent} plugin-editor-state - Every change of `state`.
 * @fires {PluginEditorReadyEvent} plugin-editor-ready - The editor can be used: it said so, or (`confirmed` is `false`) its page loaded, which is all that a browser tells.
 * @fires {PluginEditorErrorEvent} plugin-editor-error - The editor cannot be shown; `state` became `error`.
 * @fires {PluginEditorExpiringEvent} plugin-editor-expiring - The token is about to end, and the editor could not be given a new one.
 * @fires {PluginEditorDiscardEvent} plugin-editor-discard - Unsaved work is about to go; `preventDefault()` keeps it.
 * @fires {PluginEditorDirtyEvent} plugin-editor-dirty - Unsaved work appeared or went.
 * @fires {PluginEditorSaveEvent} plugin-editor-save - The draft was saved.
 * @fires {PluginEditorBuildEvent} plugin-editor-build - A build ended.
 * @fires {PluginEditorTestEvent} plugin-editor-test - A test run ended, with a `result` or an `error`.
 * @fires {PluginEditorDeployEvent} plugin-editor-deploy - A version was deployed.
 *
 * @slot idle - Shown while the element is `idle`.
 * @slot loading - Shown in place of the words and the bar while it is `loading`.
 * @slot error - Shown in place of the message and the retry button in state `error`.
 *
 * @csspart frame - The frame.
 * @csspart status - What covers the frame while it loads.
 * @csspart error - The error view.
 * @csspart retry - The button in the error view.
 *
 * @cssstate idle - Nothing to show.
 * @cssstate loading - Token or frame under way.
 * @cssstate ready - The editor is shown.
 * @cssstate error - The error view is shown.
 *
 * @cssprop [--plugin-editor-height=36rem] - Height of the element.
 * @cssprop [--plugin-editor-font=1rem/1.5 system-ui, sans-serif] - Font of the element's own views.
 * @cssprop [--plugin-editor-color=CanvasText] - Text colour of these.
 * @cssprop [--plugin-editor-background=Canvas] - Background of these.
 * @cssprop [--plugin-editor-accent=auto] - Colour of the loading bar.
 * @cssprop [--plugin-editor-border=0] - Border around the element.
 * @cssprop [--plugin-editor-radius=0] - Radius of its corners.
 * @cssprop [--plugin-editor-gap=1rem] - Space around and between the parts of its own views.
 */
export class PluginEditorElement extends LitElement {
  static override styles = styles;

  static override properties: PropertyDeclarations = {
    ...Object.fromEntries(
      Object.entries(ATTRIBUTES).map(([name, value]) => [
        name,
        // `<plugin-features>` sees what scripts set by these two attributes.
        {
          attribute: attributeOf(name),
          type: value.constructor,
          useDefault: true,
          reflect: /^(builder|template)$/.test(name),
        },
      ]),
    ),
    fetchToken: { attribute: false },
    tokenHeaders: { attribute: false },
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
  /** Language for a new plugin: the `identifier` of one that the builder knows, such as `typescript`. */
  declare template: string | null;
  /**
   * Address of the page's own endpoint that answers with an editor token; a relative one is resolved against the
   * document. Needed unless `fetchToken` is set.
   */
  declare tokenEndpoint: string | null;
  /** Method of the token request: `post`, with the plugin as JSON, or `get`, with the plugin as a query. */
  declare tokenMethod: 'post' | 'get' | null;
  /** Whether cookies go with the token request: `omit`, `same-origin` or `include`. */
  declare credentials: 'omit' | 'same-origin' | 'include' | null;
  /**
   * How the editor gets the token. `url`: as a parameter of its address. `message`: by the frame protocol, for which the
   * frame starts loading beside the token request; no address holds the token then.
   */
  declare tokenDelivery: 'url' | 'message' | null;
  /** `eager`: at once. `lazy`: nothing is fetched until the element comes near the viewport. */
  declare loading: 'eager' | 'lazy' | null;
  /** With `message` delivery: the frame loads as soon as `editor-url` is known, while there is no plugin yet. */
  declare preload: boolean;
  /** Turns off the question that the browser asks before the page is left while `dirty`. */
  declare unguarded: boolean;
  /** Time limit in ms for one token request, and for the frame to load (`url`) or be ready (`message`). */
  declare timeout: number | null;
  /** The frame's sandbox, as keywords of that attribute; `none` removes it. */
  declare sandbox: string | null;
  /** The frame's permissions, as in the attribute of this name of an `<iframe>`. */
  declare allow: string | null;
  /** The frame's referrer policy, as in the attribute of this name of an `<iframe>`. */
  declare referrerpolicy: string | null;
  /** The frame's accessible name; while empty it is `Plugin editor: ` and the plugin's name. */
  declare label: string | null;
  /**
   * Gets tokens in place of `token-endpoint`: called with `{ ident, namespace, fn, signal }`, it returns a token or
   * `{ token, expires_in?, expires_at? }`. A new function restarts nothing.
   */
  declare fetchToken: FetchToken | undefined;
  /** Headers for the token request, such as one against cross-site request forgery, or a function that gives them. */
  declare tokenHeaders: TokenHeaders | undefined;
  /**
   * Texts in place of the English ones. What `error.message` adds in the error view is for developers, in English; where
   * there is a text for the error's code, that stands alone.
   */
  declare strings: Partial<PluginEditorStrings> | undefined;

  #internals = this.attachInternals();
  #session = new Session(this);

  constructor() {
    super();
    Object.assign(this, ATTRIBUTES);
    this.showState('idle');
  }

  /** Where the element stands: `idle`, `loading`, `ready` or `error`. */
  get state(): PluginEditorState {
    return this.#session.state;
  }

  /** Why the state is `error`; else `undefined`. */
  get error(): PluginEditorError | undefined {
    return this.#session.error;
  }

  /** Whether the editor said that it holds work that is not saved. */
  get dirty(): boolean {
    return this.#session.dirty;
  }

  /**
   * Starts over with a new token, also after `close()`. Resolves when the editor is ready or no longer wanted, rejects
   * with a `PluginEditorError`. While `dirty`, `plugin-editor-discard` may put it off, unless `discard` is set; put
   * off, it resolves at once.
   */
  reload({ discard = false }: { discard?: boolean } = {}): Promise<void> {
    return this.#session.reload(discard);
  }

  /**
   * Gets a new token and hands it to the running editor. Rejects with a `PluginEditorError`, also when the editor takes
   * none while it runs; in any case it stays as it is.
   */
  renewToken(): Promise<void> {
    return this.#session.renewToken();
  }

  /**
   * For signing out: aborts what is under way, tells the editor to forget its token and removes the frame. The element
   * stays `idle` until `reload()`.
   */
  close(): Promise<void> {
    return this.#session.close();
  }

  /**
   * Opens the editor in a new tab, which has no `opener`, and whose token is not renewed. To be called from a click, or
   * the browser may block it. Rejects with a `PluginEditorError`.
   */
  openInNewTab(): Promise<void> {
    return this.#session.openInNewTab();
  }

  /** Moves the focus to the frame, or to the button of the error view. */
  override focus(options?: FocusOptions): void {
    (this.#session.frame ?? this.renderRoot.querySelector('button'))?.focus(options);
  }

  /** @internal A move by `moveBefore` keeps the frame; without this callback it would count as removal and return. */
  connectedMoveCallback(): void {}

  /** @internal */
  frameAttributes(fn: string | undefined): FrameAttributes {
    const { label, strings, sandbox, allow, referrerpolicy } = this;
    return {
      title: label || [{ ...defaultStrings, ...strings }.frame, fn].filter(Boolean).join(': '),
      sandbox: sandbox === 'none' ? null : (sandbox ?? ATTRIBUTES.sandbox),
      allow: allow ?? ATTRIBUTES.allow,
      referrerpolicy: referrerpolicy ?? ATTRIBUTES.referrerpolicy,
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
    const { state, error } = this.#session;
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
    return renderError(this, error.code as 'config', error, strings, () => this.reload());
  }
}
