import type { NamesWith } from '../core/attributes.ts';

/** Attributes of the frame that the page decides; `null` leaves one out. `label` becomes the `title`. */
export type FrameAttributes = Record<'title' | Exclude<NamesWith<'iframe'>, 'label'>, string | null>;

export interface FrameOptions {
  url: string;
  onLoad: () => void;
  /** Called when the page's content security policy forbids the frame. */
  onBlocked: () => void;
}

/**
 * One `<iframe>` and its listeners. It loads when it is put into the page, which comes after its first `setAttributes`. The
 * address of a live frame is never changed, because that would add an entry to the page's history. Another address needs another
 * `EditorFrame`.
 */
export class EditorFrame {
  declare readonly iframe: HTMLIFrameElement;
  declare readonly origin: string;
  /** Called with what the frame's own window posted from the editor's origin, and with nothing else. */
  declare onMessage: ((data: unknown) => void) | undefined;

  #listeners = new AbortController();
  #loadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor({ url, onLoad, onBlocked }: FrameOptions) {
    const iframe = (this.iframe = document.createElement('iframe'));
    const options = { signal: this.#listeners.signal };
    const { origin } = new URL(url);
    this.origin = origin;
    iframe.setAttribute('part', 'frame');
    iframe.src = url;
    iframe.addEventListener(
      'load',
      () => {
        clearTimeout(this.#loadTimer);
        // WebKit fires `load` for a blocked frame, too, and reports the violation one task later.
        this.#loadTimer = setTimeout(onLoad);
      },
      options,
    );
    addEventListener(
      'message',
      (event) => {
        const { source } = event;
        // `source` is `null` when the window has gone, and `contentWindow` is when the frame is not in the page.
        if (source && source === iframe.contentWindow && event.origin === origin)
          this.onMessage?.(event.data);
      },
      options,
    );
    // The event is dispatched on the document, not on the frame, and the frame may still fire `load`.
    document.addEventListener(
      'securitypolicyviolation',
      ({ disposition, effectiveDirective, blockedURI }) => {
        if (
          disposition === 'enforce' &&
          /^(frame|child)-src/.test(effectiveDirective) &&
          blockedURI &&
          url.startsWith(blockedURI)
        ) {
          onBlocked();
        }
      },
      options,
    );
  }

  /** Posts to the editor's origin alone, so that a page of another origin in the frame receives nothing. */
  post(message: object): void {
    this.iframe.contentWindow?.postMessage(message, this.origin);
  }

  /** Sets what differs. `sandbox` and `allow` take effect when the frame next loads, as in any frame. */
  setAttributes(attributes: FrameAttributes): void {
    warnOfOwnOrigin(this.origin, attributes.sandbox);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) this.iframe.removeAttribute(name);
      else if (value !== this.iframe.getAttribute(name)) this.iframe.setAttribute(name, value);
    }
  }

  /** Removes frame and listeners. A frame that stayed would load again if its host is put back in the same task. */
  dispose(): void {
    this.iframe.remove();
    clearTimeout(this.#loadTimer);
    this.#listeners.abort();
  }
}

let hasWarned = false;

function warnOfOwnOrigin(origin: string, sandbox: string | null): void {
  const canLiftSandbox = sandbox?.includes('allow-scripts') && sandbox.includes('allow-same-origin');
  if (hasWarned || !canLiftSandbox || origin !== location.origin) return;
  hasWarned = true;
  console.warn(
    "<plugin-editor>: an editor on the page's own origin could lift its sandbox; serve it from another origin",
  );
}
