/*
 * Answers the editor on the front page from a recording of the demo, which `test/docs/record.ts` makes, so that the site needs no
 * service. It also maps the editor's own files, whose addresses begin with `/editor/`, to where the site has them.
 */

/**
 * @typedef {object} Entry One recorded request and its response.
 * @property {string} request method, path with query, and a digest of the body if there is one
 * @property {boolean} afterDeploy whether it was made once the draft was deployed
 * @property {number} status
 * @property {Record<string, string>} headers
 * @property {string} body
 */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const folder = new URL('.', location.href);

/** @type {Promise<Entry[]> | undefined} */
let recording;
const readRecording = () =>
  (recording ??= fetch(new URL('recording.json', folder)).then((response) => response.json()));

/** The pages whose visitor has deployed. @type {Set<string>} */
const deployed = new Set();

worker.addEventListener('install', () => void worker.skipWaiting());
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('fetch', (event) => {
  const { pathname, search, origin } = new URL(event.request.url);
  if (origin !== location.origin) return;
  if (pathname.startsWith('/editor/')) event.respondWith(file(pathname.slice(1)));
  else if (pathname.startsWith('/api/v1/')) {
    const client = event.clientId || event.resultingClientId;
    event.respondWith(answer(event.request, pathname + search, client));
  }
});

/**
 * A file of the editor. It is a new response, because one with an address would make that the base of what a module imports.
 * @param {string} path
 */
async function file(path) {
  const found = await fetch(new URL(path, folder));
  return new Response(found.body, found);
}

/**
 * @param {Request} request
 * @param {string} path
 * @param {string} client
 */
async function answer(request, path, client) {
  const { method } = request;
  const body = await request.text();
  const key = `${method} ${path}${body ? ` ${await digest(body)}` : ''}`;
  /** @type {Entry[]} */
  const entries = await readRecording();
  const isAfter = deployed.has(client);
  // A version can be deployed with any message.
  const isDeploy = path.endsWith('/promote');
  const likely = entries.filter((entry) =>
    isDeploy ? entry.request.startsWith(`${method} ${path} `) : entry.request === key,
  );
  const found = likely.findLast(({ afterDeploy }) => afterDeploy === isAfter) ?? likely.at(-1);
  if (!found) return answerByKind(path, body);
  if (isDeploy) deployed.add(client);
  return new Response(found.body, { status: found.status, headers: found.headers });
}

/**
 * Answers what was not recorded: any text can be saved, and none can be built.
 * @param {string} path
 * @param {string} body
 */
function answerByKind(path, body) {
  const kind = path.split('/')[3];
  const reason =
    'This page plays a recording, so it builds the first text only. "npm start" runs everything.';
  if (kind === 'draft')
    return new Response(body, { headers: { 'content-type': 'application/json', etag: '"typed"' } });
  if (path.endsWith('/rollout'))
    return Response.json(
      { error: { code: 'rollout-not-found', message: 'There is no rollout.' } },
      { status: 404 },
    );
  if (kind === 'check') return Response.json({ diagnostics: [] });
  if (kind === 'language-help') return Response.json({ result: null });
  if (kind === 'build') {
    const result = JSON.stringify({ succeeded: false, outputLog: reason });
    return new Response(`event: result\ndata: ${result}\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    });
  }
  return Response.json({ error: { code: 'not-recorded', message: reason } }, { status: 501 });
}

/** @param {string} body */
async function digest(body) {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body));
  return Array.from(new Uint8Array(bytes).subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
