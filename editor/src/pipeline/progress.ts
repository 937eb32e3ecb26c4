import { texts } from '../locales/locale.ts';
import { type Failure, failureKey, withDetail } from '../service/failure.ts';

/** Why an action did not complete. */
export type ActionError = Failure | 'stopped' | 'not-saved' | 'not-built' | 'rollout-conflict';

/**
 * The last build, as far as this page knows. `sourceKey` identifies the text that was built. `hasNeverRun`: the plugin was never
 * built.
 */
export type BuildState =
  | { kind: 'none'; hasNeverRun?: boolean }
  | { kind: 'building' }
  | { kind: 'built'; sourceKey: string; at?: Date }
  | { kind: 'failed'; sourceKey: string; problems: number }
  | { kind: 'unfinished'; error: ActionError };

/** The last deployment, as far as this page knows. `hasNeverRun`: the plugin was never deployed. */
export type DeployState =
  | { kind: 'none'; hasNeverRun?: boolean }
  | { kind: 'deploying' }
  /** `sourceKey` is missing where this page does not know which text was deployed. */
  | { kind: 'deployed'; sourceKey?: string; version: string }
  | { kind: 'unfinished'; error: ActionError };

/** The actions that run in the service, one at a time. */
export type Action = 'build' | 'test' | 'deploy';

/** The reason that an error is, in a few words for the end of a sentence. */
export function actionErrorReason(error: ActionError): string {
  const { reasons } = texts().status;
  if (error === 'not-saved') return reasons.notSaved;
  if (error === 'rollout-conflict') return reasons.rolloutConflict;
  if (error === 'not-built') return reasons.refused;
  return reasons[error === 'stopped' ? error : failureKey(error)];
}

/**
 * The notice about an action that did not complete. `again`: it has a button to try again. `undefined`: there is none. `detail`:
 * what the service says of a refusal.
 */
export function actionErrorAdvice(
  action: Action,
  error: ActionError,
  detail?: string,
): { text: string; again: boolean } | undefined {
  const words = texts().actionError;
  switch (error) {
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
    case 'tenant-suspended':
      return { text: words.tenantSuspended, again: true };
    case 'too-many-plugins':
      return { text: words.tooManyPlugins, again: true };
    case 'too-large':
      return { text: action === 'test' ? words.payloadTooLarge : words.pluginTooLarge, again: false };
    case 'storage-full':
      return { text: words.storageFull, again: true };
    case 'storage-unavailable':
      return { text: words.storageUnavailable, again: true };
    case 'refused':
      return { text: withDetail(words.refused[action], detail), again: true };
    case 'not-built':
      return { text: action === 'deploy' ? words.deployNotBuilt : words.refused[action], again: true };
    case 'rollout-conflict':
      return { text: texts().rollout.conflict, again: true };
    case 'conflict':
    case 'deleted':
      // The draft is saved before a build or a run, and a notice says why that failed. Who may only deploy saves nothing.
      if (action !== 'deploy') return undefined;
      return {
        text: `${texts().status.notDeployedBecause(actionErrorReason(error))}.`,
        again: error === 'conflict',
      };
    default:
      // The user stopped it, or a notice about the failed save says why.
      return undefined;
  }
}
