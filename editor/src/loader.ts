// The first script of the page. It reloads the page when another script is missing, so it imports nothing itself, and its name,
// a hash of its content, rarely changes from one version of the editor to the next.
//
// While a service is upgraded, nodes of two versions may answer behind one address. The page may then come from one version, and
// the node that gets the request for one of its files may have the other version and answer 404. When the request is repeated,
// another node may answer it. Files that came stay in the browser's cache, because their names are hashes. So each reload gets
// closer to having all files of one version.

/** The editor cannot be loaded; `detail` is the message for the user. */
export type LoadFailedEvent = CustomEvent<string>;

declare global {
  interface WindowEventMap {
    'plugin-editor-load-failed': LoadFailedEvent;
  }
}

/** How often the page is reloaded, and how often a missing file is requested before each reload. */
const MAX_RELOADS = 3;
const MAX_REQUESTS = 4;

/** The wait before a file is requested again, in ms; each further wait is longer by as much. */
const PAUSE = 250;

const PROBLEM = 'The editor could not be loaded. Check your connection and reload the page.';

/** The key of the count of reloads in `history.state`, which survives a reload even where storage is forbidden. */
const COUNT = 'pluginEditorReloads';

// It has the token, which the next script removes from the address and the reloaded page needs.
const address = location.href;

const stateOf = ({ state }: History) => (state ?? {}) as { [COUNT]?: number };

let recovering = false;

/** What the addresses of the editor's scripts begin with. A script of a browser's extension may fail, too. */
const folder = new URL('.', address).href;

const handleError = ({ target }: Event): void => {
  if (target instanceof HTMLScriptElement && target.src.startsWith(folder)) void recover();
};

// The error event of a script element does not bubble, so it is captured.
addEventListener('error', handleError, true);

// Style sheets are loaded before this script runs, so one without rules could not be loaded.
const sheets = document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]');
if (Array.from(sheets).some(({ sheet }) => !sheet?.cssRules.length)) void recover();

// All scripts ran, or failed to load. If none failed, the count begins anew.
addEventListener('load', () => {
  removeEventListener('error', handleError, true);
  const { [COUNT]: reloads, ...state } = stateOf(history);
  if (!recovering && reloads) history.replaceState(state, '');
});

async function recover(): Promise<void> {
  if (recovering) return;
  recovering = true;
  const state = stateOf(history);
  const reloads = state[COUNT] ?? 0;
  if (reloads < MAX_RELOADS && (await fetchAllFiles())) {
    history.replaceState({ ...state, [COUNT]: reloads + 1 }, '', address);
    location.reload();
    return;
  }
  const status = document.getElementById('waiting');
  if (status) status.textContent = PROBLEM;
  const failed: LoadFailedEvent = new CustomEvent('plugin-editor-load-failed', { detail: PROBLEM });
  dispatchEvent(failed);
}

/** Requests all files that the page names. Resolves with whether nodes answered for each, be it with the file or with 404. */
async function fetchAllFiles(): Promise<boolean> {
  const selector = 'script[src], link[rel=stylesheet], link[rel=modulepreload]';
  const files = Array.from(
    document.head.querySelectorAll(selector),
    (element) => element.getAttribute('src') ?? element.getAttribute('href') ?? '',
  );
  return (await Promise.all(files.map(fetchFile))).every(Boolean);
}

/**
 * Requests a file until a node has it, so that the browser caches it, and gives up after `MAX_REQUESTS`. Resolves with whether a
 * node answered the last request, be it with the file or with 404.
 */
async function fetchFile(file: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    let status = 0;
    try {
      const response = await fetch(file);
      // A reload cancels what is still on its way, and the browser caches only what came to its end.
      await response.arrayBuffer();
      ({ status } = response);
    } catch {
      // The connection was lost; it may be back for the next try.
    }
    if (status === 200) return true;
    if (tries === MAX_REQUESTS) return status === 404;
    await new Promise((resolve) => setTimeout(resolve, PAUSE * tries));
  }
}
