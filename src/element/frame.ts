import type { NamesWith } from '../core/attributes.ts';

/** Attributes of the frame that the page decides; `null` leaves one out. `label` becomes the `title`. */
export type FrameAttributes = Record<'title' | Exclude<NamesWith<'iframe'>, 'label'>, string | null>;

export interface FrameOptions {
  url: string;
  attributes: FrameAttributes;
  onLoad: () => void;
  /** Called when the page's content security policy forbids the frame. */
  onBlocked: () => void;
}

/**
 * One `<iframe>` and its listeners. The address of a live frame is never changed, because that would add an entry to the
 * page's history. Another address needs another `EditorFrame`.
 */
export class EditorFrame {
  declare readonly element: HTMLIFrameElement;
  declare readonly origin: string;
  /** Called with what the frame's own window posted from the editor's origin, and with nothing else. */
  declare onMessage: ((data: unknown) => void) | undefined;

  #listeners = new AbortController();
  #loadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor({ url, attributes, onLoad, onBlocked }: FrameOptions) {
    const frame = (this.element = document.createElement('iframe'));
    const options = { signal: this.#listeners.signal };
    const { origin } = new URL(url);
    this.origin = origin;
    frame.setAttribute('part', 'frame');
    this.setAttributes(attributes);
    frame.src = url;
    warnOfOwnOrigin(origin, attributes.sandbox);
    frame.addEventListener(
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
        if (source && source === frame.contentWindow && event.origin === origin) this.onMessage?.(event.data);
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
    this.element.contentWindow?.postMessage(message, this.origin);
  }

  /** Sets what differs. `sandbox` and `allow` take effect when the frame next loads, as in any frame. */
  setAttributes(attributes: FrameAttributes): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null) this.element.removeAttribute(name);
      else if (value !== this.element.getAttribute(name)) this.element.setAttribute(name, value);
    }
  }

  /** Removes frame and listeners. A frame that stayed would load again if its host is put back in the same task. */
  dispose(): void {
    this.element.remove();
    clearTimeout(this.#loadTimer);
    this.#listeners.abort();
  }
}

let hasWarned = false;

function warnOfOwnOrigin(origin: string, sandbox: string | null): void {
  const isLifted = sandbox?.includes('allow-scripts') && sandbox.includes('allow-same-origin');
  if (hasWarned || !isLifted || origin !== location.origin) return;
  hasWarned = true;
  console.warn(
    "<plugin-editor>: an editor on the page's own origin could lift its sandbox; serve it from another origin",
  );
}
