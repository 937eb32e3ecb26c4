/* What runs in the page itself: each function is sent there as text, so it uses nothing from outside of it. */

export interface WatchedWindow {
  /** What every event said, in words. */
  eventsSaid: string[];
  /** What the browser itself said of its policy: the address of a frame that it blocked, if that is the page's own. */
  violationsSaid: string[];
}

/** Before any script of a page: writes down all that is dispatched, and what the browser itself fires of interest. */
export function watchEvents(): void {
  const eventsSaid: string[] = [];
  const violationsSaid: string[] = [];
  Object.assign(window, { eventsSaid, violationsSaid });

  /** All text of a value: fields, those of its classes, messages, stacks and causes. */
  const inWords = (value: unknown, seen = new Set<unknown>()): string => {
    if (typeof value !== 'object' || value === null) return String(value);
    if (seen.has(value) || value instanceof Node || value === window) return '';
    seen.add(value);
    const parts: string[] = [];
    for (
      let level = value;
      level && level !== Object.prototype;
      level = Object.getPrototypeOf(level) as object
    ) {
      for (const key of Reflect.ownKeys(level)) {
        if (key === 'constructor') continue;
        try {
          const field: unknown = Reflect.get(level, key, value);
          if (typeof field !== 'function') parts.push(`${String(key)}: ${inWords(field, seen)}`);
        } catch {
          // A getter of another frame's window, or of a prototype itself.
        }
      }
    }
    if (value instanceof Error) parts.push(value.message, value.stack ?? '', inWords(value.cause, seen));
    return parts.join('\n');
  };
  const note = (event: Event) =>
    void (event.type === 'securitypolicyviolation' ? violationsSaid : eventsSaid).push(inWords(event));

  // eslint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { dispatchEvent } = EventTarget.prototype;
  EventTarget.prototype.dispatchEvent = function (event) {
    note(event);
    return dispatchEvent.call(this, event);
  };
  const isTop = window === window.top;
  const native = [
    'error',
    'unhandledrejection',
    'securitypolicyviolation',
    'hashchange',
    'popstate',
    'storage',
  ];
  // In the editor's frame the launcher's messages bring the token: that is what they are for.
  for (const type of [...native, ...(isTop ? ['message'] : [])])
    addEventListener(type, note, { capture: true });
}

/** All that a frame holds now, by place. */
export async function readPlaces(): Promise<Record<string, string>> {
  const dom: string[] = [];
  const frameAddresses: string[] = [];
  const read = (node: Node): void => {
    if (node instanceof Element) {
      const isFrame = node.matches('iframe[part=frame]');
      for (const { name, value } of node.attributes) {
        if (isFrame && name === 'src') frameAddresses.push(value);
        else dom.push(`${name}=${value}`);
      }
      if ('value' in node) dom.push(String(node.value));
      if (node.shadowRoot) read(node.shadowRoot);
    } else if (node.nodeValue) {
      dom.push(node.nodeValue);
    }
    node.childNodes.forEach(read);
  };
  read(document);

  const databases: unknown[] = [];
  for (const { name = '' } of await indexedDB.databases()) {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open(name);
      opening.addEventListener('success', () => resolve(opening.result));
      opening.addEventListener('error', () => reject(opening.error as DOMException));
    });
    for (const store of database.objectStoreNames) {
      const all = database.transaction(store).objectStore(store).getAll();
      await new Promise((resolve) => all.addEventListener('success', resolve));
      databases.push(name, store, all.result);
    }
    database.close();
  }
  const kept: string[] = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const { url } of await cache.keys())
      kept.push(name, url, (await (await cache.match(url))?.text()) ?? '');
  }
  const { navigation } = window as unknown as { navigation: { entries: () => { url: string }[] } };
  const editor = document.querySelector('plugin-editor');
  // A tab that the page opened was not watched.
  const watched = window as unknown as Partial<WatchedWindow>;
  return {
    dom: dom.join('\n'),
    'frame address': frameAddresses.join('\n'),
    events: (watched.eventsSaid ?? []).join('\n'),
    'policy violation': (watched.violationsSaid ?? []).join('\n'),
    error: editor?.error
      ? `${editor.error.message} ${String((editor.error.cause as Error | undefined)?.message)}`
      : '',
    storage: JSON.stringify([localStorage, sessionStorage, document.cookie, window.name]),
    databases: JSON.stringify([databases, kept]),
    history: JSON.stringify([
      history.state,
      document.URL,
      document.baseURI,
      navigation.entries().map(({ url }) => url),
    ]),
    referrer: `referrer: ${document.referrer}`,
    timing: performance
      .getEntries()
      .map(({ name }) => name)
      .join('\n'),
  };
}
