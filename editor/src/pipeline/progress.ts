import { texts } from '../locales/locale.ts';
import { type Failure, failureKey } from '../service/failure.ts';

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

/** What the user can have done with the text. */
export type Action = 'build' | 'test' | 'deploy';

/** An obstacle in a few words, for the end of a sentence. */
export function obstacleReason(obstacle: Obstacle): string {
  const { reasons } = texts().status;
  if (obstacle === 'not-saved') return reasons.notSaved;
  return reasons[obstacle === 'stopped' ? obstacle : failureKey(obstacle)];
}

/** What a notice says of something that came to no end, and whether trying again is worth a button. */
export function obstacleAdvice(
  action: Action,
  obstacle: Obstacle,
): { text: string; again: boolean } | undefined {
  const words = texts().obstacle;
  switch (obstacle) {
    case 'connection':
      return {
        text: { build: words.buildConnection, test: words.testConnection, deploy: words.deployConnection }[
          action
        ],
        again: true,
      };
    case 'busy':
      return { text: words.busy, again: true };
    case 'service':
      return { text: words.service[action], again: true };
    case 'session':
      return { text: words.session[action], again: false };
    case 'forbidden':
      return { text: words.forbidden, again: false };
    case 'too-large':
      return { text: action === 'test' ? words.payloadTooLarge : words.pluginTooLarge, again: false };
    case 'refused':
      return { text: action === 'deploy' ? words.deployRefused : words.refused[action], again: true };
    default:
      // Stopping is the user's own doing, and what is wrong with saving is said by the notice about that.
      return undefined;
  }
}
