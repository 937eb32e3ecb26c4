import type { Failure } from '../service/failure.ts';
import type { StatusText } from '../ui/status-line.ts';

/** Why something that the user asked for came to no end. */
export type Obstacle = Failure | 'stopped' | 'not-saved';

/** What was built, as far as this page knows; `never`: the plugin is new. `sourceKey` identifies the text that was built. */
export type BuildState =
  | { kind: 'none'; never?: boolean }
  | { kind: 'building' }
  | { kind: 'built'; sourceKey: string; at?: Date }
  | { kind: 'failed'; sourceKey: string; errors: number }
  | { kind: 'unfinished'; obstacle: Obstacle };

/** What was deployed, as far as this page knows. */
export type DeployState =
  | { kind: 'none'; never?: boolean }
  | { kind: 'deploying' }
  /** Without `sourceKey`, it was made of a text that this page does not know. */
  | { kind: 'deployed'; sourceKey?: string; version: string }
  | { kind: 'unfinished'; obstacle: Obstacle };

const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** What the status line says of the build, when `currentKey` identifies the text in the editor. */
export function buildWords(state: BuildState, currentKey: string): StatusText {
  switch (state.kind) {
    case 'none':
      return { text: state.never ? 'Not built yet' : 'Not built since opening', tone: 'calm' };
    case 'building':
      return { text: 'Building…', tone: 'busy' };
    case 'built':
      return state.sourceKey === currentKey
        ? { text: state.at ? `Built ${time.format(state.at)}` : 'Built', tone: 'good' }
        : { text: 'Changed since the build', tone: 'calm' };
    case 'failed':
      return state.sourceKey === currentKey
        ? { text: failedText(state.errors), tone: 'bad' }
        : { text: 'Changed since the failed build', tone: 'calm' };
    default:
      return { text: `Not built: ${because(state.obstacle)}`, tone: toneOf(state.obstacle) };
  }
}

/** What the status line says of the deployment. */
export function deployWords(state: DeployState, currentKey: string): StatusText {
  switch (state.kind) {
    case 'none':
      return { text: state.never ? 'Not deployed yet' : 'Not deployed since opening', tone: 'calm' };
    case 'deploying':
      return { text: 'Deploying…', tone: 'busy' };
    case 'deployed':
      return state.sourceKey === currentKey
        ? { text: `${state.version} deployed`, tone: 'good' }
        : { text: `${state.version} deployed, draft is newer`, tone: 'calm' };
    default:
      // Sent, and no answer came: it may be deployed all the same.
      return state.obstacle === 'connection' || state.obstacle === 'service'
        ? { text: `Perhaps deployed: ${because(state.obstacle)}`, tone: 'bad' }
        : { text: `Not deployed: ${because(state.obstacle)}`, tone: toneOf(state.obstacle) };
  }
}

const failedText = (errors: number) =>
  errors ? `Build failed: ${errors === 1 ? 'one problem' : `${errors} problems`}` : 'Build failed';

const toneOf = (obstacle: Obstacle) => (obstacle === 'stopped' ? 'calm' : 'bad');

const reasons: Record<Obstacle, string> = {
  connection: 'connection lost',
  service: 'the service has a problem',
  busy: 'the service is busy',
  session: 'your session ended',
  forbidden: 'you cannot edit this plugin',
  conflict: 'changed elsewhere',
  'too-large': 'the plugin is too large',
  refused: 'the service refused it',
  stopped: 'stopped',
  'not-saved': 'not saved',
};

const because = (obstacle: Obstacle): string => reasons[obstacle];

/** What a notice says of something that came to no end, and whether trying again is worth a button. */
export function obstacleAdvice(
  action: 'build' | 'test' | 'deploy',
  obstacle: Obstacle,
): { text: string; again: boolean } | undefined {
  const what = { build: 'The build', test: 'The run', deploy: 'The deployment' }[action];
  switch (obstacle) {
    case 'connection':
      return {
        text:
          action === 'deploy'
            ? 'The connection was lost before the service answered. The version may be deployed or not; deploying again is safe, and makes a version of the same text at most.'
            : `The connection was lost, so ${what.toLowerCase()} gave no result. Your text is safe.`,
        again: true,
      };
    case 'busy':
      return { text: 'The service is busy and took no more work for now. Your text is safe.', again: true };
    case 'service':
      return {
        text: `The service has a problem: ${what.toLowerCase()} gave no result. Your text is safe.`,
        again: true,
      };
    case 'session':
      return {
        text: `${what} needs a session, and yours ended. Your text is safe. Open the editor again from the page you came from.`,
        again: false,
      };
    case 'forbidden':
      return {
        text: `The service does not let you do that with this plugin. Your text is safe.`,
        again: false,
      };
    case 'too-large':
      return {
        text:
          action === 'test'
            ? 'The payload is larger than the service takes.'
            : 'The plugin is larger than the service takes.',
        again: false,
      };
    case 'refused':
      return {
        text:
          action === 'deploy'
            ? 'The service refused to deploy: the draft is no longer what was built. Build it again, then deploy.'
            : `The service refused ${what.toLowerCase()} as it is.`,
        again: true,
      };
    default:
      // Stopping is the user's own doing, and what is wrong with saving is said by the notice about that.
      return undefined;
  }
}
