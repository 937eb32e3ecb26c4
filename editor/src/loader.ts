// The first script of the page, which sees to it that the others come. It imports nothing, so that it can do that whatever
// becomes of them, and keeps its name, which is made of its content, from one version of the editor to the next.
//
// While a service is upgraded, nodes of two versions may answer behind one address: the page is then of one version, and
// the node that is asked for one of its files has the other and answers 404. Asked again, another node may answer. What
// came stays in the browser's cache, because a file with a hash in its name stays good; so the page is loaded anew, and is
// of the same version with all its files there, or of the other.

/** Tells that the editor cannot be loaded; `detail` says so in words. */
export type LoadFailedEvent = CustomEvent<string>;

declare global {
  interface WindowEventMap {
    'plugin-editor-load-failed': LoadFailedEvent;
  }
}

/** How often the page is loaded anew, and how often a file is asked for before that. */
const MAX_RELOADS = 3;
const MAX_REQUESTS = 4;

/** Before a file is asked for again, in ms; each time longer by as much. */
const PAUSE = 250;

const PROBLEM = 'The editor could not be loaded. Check your connection and reload the page.';

/** The key of the count in the state of the session's history, which outlives a reload also where storage is forbidden. */
const COUNT = 'pluginEditorReloads';

// With the token, which the next script takes out of the address: the page that is loaded anew needs it.
const address = location.href;

const stateOf = ({ state }: History) => (state ?? {}) as { [COUNT]?: number };

let recovering = false;

// That an element could not be loaded is an event that does not bubble, but can be captured.
addEventListener('error', ({ target }) => void (target instanceof HTMLScriptElement && recover()), {
  capture: true,
});

// A script waits for the style sheets of its page. One that could not be loaded is empty by now, or is not there.
const sheets = document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]');
if (Array.from(sheets).some(({ sheet }) => !sheet?.cssRules.length)) void recover();

// All scripts have run, or could not be loaded. The next time that a file is missing is another one.
addEventListener('load', () => {
  const { [COUNT]: reloads, ...state } = stateOf(history);
  if (!recovering && reloads) history.replaceState(state, '');
});

async function recover(): Promise<void> {
  if (recovering) return;
  recovering = true;
  const state = stateOf(history);
  const reloads = state[COUNT] ?? 0;
  if (reloads < MAX_RELOADS && (await areAnswered())) {
    history.replaceState({ ...state, [COUNT]: reloads + 1 }, '', address);
    location.reload();
    return;
  }
  const status = document.getElementById('waiting');
  if (status) status.textContent = PROBLEM;
  const failed: LoadFailedEvent = new CustomEvent('plugin-editor-load-failed', { detail: PROBLEM });
  dispatchEvent(failed);
}

/** Asks for all files that the page names. Answers whether the service answered for each: it has it, or has it no longer. */
async function areAnswered(): Promise<boolean> {
  const selector = 'script[src], link[rel=stylesheet], link[rel=modulepreload]';
  const files = Array.from(
    document.head.querySelectorAll(selector),
    (element) => element.getAttribute('src') ?? element.getAttribute('href') ?? '',
  );
  return (await Promise.all(files.map(isAnswered))).every(Boolean);
}

/** Asks for a file until it is there, and so in the browser's cache. */
async function isAnswered(file: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    let status = 0;
    try {
      ({ status } = await fetch(file));
    } catch {
      // The connection was lost; it may be back for the next try.
    }
    if (status === 200) return true;
    if (tries === MAX_REQUESTS) return status === 404;
    await new Promise((resolve) => setTimeout(resolve, PAUSE * tries));
  }
}
