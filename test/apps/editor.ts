import type { Rule } from '../support/scripted-server-rules.ts';

/** An editor that uses the frame protocol, and reports some work as soon as it has opened a plugin. */
const SPEAKING = `<!doctype html><title>Editor</title><p></p><script>
  const hello = { channel: 'plugin-editor', version: 1, type: 'hello', capabilities: ['open'] };
  addEventListener('message', ({ data, source, origin }) => {
    if (source !== parent || data.type !== 'open') return;
    const { channel, version, session, fn, template = 'none', token } = data;
    document.querySelector('p').textContent = [fn, template, token].join(' ');
    const say = (message) => parent.postMessage({ channel, version, session, ...message }, origin);
    say({ type: 'ready' });
    say({ type: 'dirty', dirty: true });
    say({ type: 'dirty', dirty: false });
    say({ type: 'deploy', version: 'v1.0.0' });
  });
  parent.postMessage(hello, '*');
</script>`;

const features = {
  features: ['testing'],
  languages: [
    { identifier: 'javascript', pretty: 'JavaScript', short: 'JS' },
    { identifier: 'typescript', pretty: 'TypeScript', short: 'TS' },
  ],
};

/** The other origin: an editor with the frame protocol, one without, and a builder. */
export const EDITOR_RULES: Rule[] = [
  { path: '/speaking', html: SPEAKING },
  { path: '/silent', html: '<!doctype html><title>Editor</title><p>silent</p>' },
  { path: '/api/v1/features', json: features },
];
