import { type PluginEditorElement, SECRET, frames } from './plugin-editor-setup.ts';

const METHODS = ['log', 'info', 'warn', 'error', 'debug'] as const;
type Method = (typeof METHODS)[number];

let restore: (() => void) | undefined;

afterEach(() => restore?.());

/** Collects the lines of the console until the end of the test, instead of showing them. */
export function watchConsole(): unknown[][] {
  const lines: unknown[][] = [];
  const before = Object.fromEntries(METHODS.map((name) => [name, console[name]])) as Pick<Console, Method>;
  for (const name of METHODS) console[name] = (...line: unknown[]) => lines.push(line);
  restore = () => {
    Object.assign(console, before);
    restore = undefined;
  };
  return lines;
}

/** Every text that can be reached from a value: own and inherited fields, those of errors and their causes included. */
function* texts(value: unknown, path: string, seen: Set<unknown>): Generator<[path: string, text: string]> {
  if (typeof value === 'string') yield [path, value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  // The frame, which can be reached from the element, is examined separately.
  if (value instanceof Node || value instanceof Window) return;
  for (
    let level: object | null = value;
    level && level !== Object.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    for (const key of Reflect.ownKeys(level)) {
      if (key !== 'constructor') yield* texts(Reflect.get(value, key), `${path}.${String(key)}`, seen);
    }
  }
}

/** Where the token can be found, other than in the frame's address. */
export function leaks(element: PluginEditorElement, events: Event[], lines: unknown[][]): string[] {
  const seen = new Set<unknown>();
  const root = document.createElement('div');
  // Its nodes are cloned because a shadow root cannot be.
  for (const node of element.shadowRoot?.childNodes ?? []) root.append(node.cloneNode(true));
  for (const frame of root.querySelectorAll('iframe')) frame.removeAttribute('src');
  const found = [
    ...texts(events, 'events', seen),
    ...texts(element.error, 'error', seen),
    ...texts(lines, 'console', seen),
    ...frames(element).map((frame): [string, string] => ['name of the frame', frame.name]),
    ['shadow root', root.innerHTML] as [string, string],
    ['element', element.outerHTML] as [string, string],
    ['own fields', JSON.stringify(Object.entries(element).filter(([, value]) => typeof value === 'string'))],
  ] as [string, string][];
  return found.filter(([, text]) => text.includes(SECRET)).map(([path]) => path);
}
