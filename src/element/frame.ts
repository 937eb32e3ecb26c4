import { PluginEditorError } from '../core/errors.ts';

/** Attributes that the page decides; `null` leaves one out. */
export type FrameAttributes = Record<'title' | 'sandbox' | 'allow' | 'referrerpolicy', string | null>;

export interface FrameOptions {
  url: string;
  attributes: FrameAttributes;
  /** From creation to `load`, in ms. */
  timeout: number;
  onLoad: () => void;
  onFail: (error: PluginEditorError) => void;
}

/**
 * One frame's life. An address is never changed in a live frame, as that adds an entry to the page's history: for
 * another address there is another `EditorFrame`.
 */
export class EditorFrame {
  readonly element: HTMLIFrameElement;
  #timer: ReturnType<typeof setTimeout>;
  #end = new AbortController();

  constructor({ url, attributes, timeout, onLoad, onFail }: FrameOptions) {
    const frame = (this.element = document.createElement('iframe'));
    const { signal } = this.#end;
    const { origin } = new URL(url);
    frame.setAttribute('part', 'frame');
    this.setAttributes(attributes);
    frame.src = url;
    warnOfOwnOrigin(origin, attributes.sandbox);
    this.#timer = setTimeout(
      () =>
        onFail(
          new PluginEditorError('frame-timeout', `The editor at ${origin} did not load within ${timeout} ms`),
        ),
      timeout,
    );
    frame.addEventListener(
      'load',
      () => {
        clearTimeout(this.#timer);
        // WebKit fires it for a blocked frame too, and says a task later that it was blocked.
        this.#timer = setTimeout(onLoad);
      },
      { signal },
    );
    // The browser tells the document, not the frame, and may fire `load` all the same.
    document.addEventListener(
      'securitypolicyviolation',
      ({ disposition, effectiveDirective, blockedURI }) => {
        if (
          disposition === 'enforce' &&
          /^(frame|child)-src/.test(effectiveDirective) &&
          blockedURI &&
          url.startsWith(blockedURI)
        ) {
          onFail(
            new PluginEditorError(
              'frame-blocked',
              `This page's content security policy lacks: frame-src ${origin}`,
            ),
          );
        }
      },
      { signal },
    );
  }

  /** Sandbox and permissions take effect when the frame next loads, as in any frame. */
  setAttributes(attributes: FrameAttributes): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) this.element.removeAttribute(name);
      else if (value !== this.element.getAttribute(name)) this.element.setAttribute(name, value);
    }
  }

  /** Leaves no timer or listener, and no frame that would load again if its host is put back in the same task. */
  dispose(): void {
    this.element.remove();
    clearTimeout(this.#timer);
    this.#end.abort();
  }
}

let warned = false;

function warnOfOwnOrigin(origin: string, sandbox: string | null): void {
  const given = sandbox?.split(/\s+/) ?? [];
  if (
    warned ||
    origin !== location.origin ||
    !['allow-scripts', 'allow-same-origin'].every((it) => given.includes(it))
  )
    return;
  warned = true;
  console.warn(
    "<plugin-editor>: the editor is on this page's own origin and could lift its sandbox. Serve it from another origin.",
  );
}
