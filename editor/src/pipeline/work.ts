import { saveStatus } from '../draft/save-status.ts';
import type { SaveState } from '../draft/save-queue.ts';
import { formatNumber, formatTime } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { StatusText } from '../ui/status-line.ts';
import {
  type Action,
  type BuildState,
  type DeployState,
  type ActionError,
  actionErrorReason,
} from './progress.ts';

/** How a test ended when it ran last, and whether that was with the present text and payload. `none`: it did not run. */
export interface TestStatus {
  verdict: 'passed' | 'failed' | 'ran' | 'none';
  isCurrent: boolean;
}

/**
 * All that is known of how far the plugin is saved, built, tested and deployed. The status line, the panels, the badges and
 * the buttons are drawn from this alone, by the functions below, so that no two of them contradict each other.
 */
export interface Work {
  save: SaveState;
  /** Whether the service answered when it was asked last. */
  isOnline: boolean;
  /** Whether nothing may be changed here. */
  isReadOnly: boolean;
  /** Whether what is built may be deployed here. */
  canDeploy: boolean;
  /** Identifies the text as it is (`sourceKeyOf`). */
  sourceKey: string;
  build: BuildState;
  deployment: DeployState;
  /** The version that runs when none is asked for, where the service says so. */
  live: string | undefined;
  /** The action that runs. */
  action: Action | undefined;
  /** The errors whose cause ended after they last occurred. */
  resolved: ReadonlySet<ActionError>;
  /** While tests run: how many of them have, and how many are to. */
  testing: { done: number; all: number } | undefined;
  tests: readonly TestStatus[];
  /** How many problems are known in the text as it is, and how many of them are of severity `error`. */
  problems: number;
  errors: number;
}

export type StatusPart = 'saved' | 'built' | 'tested' | 'deployed' | 'connection';

/** The status line. A part that has nothing to say is `undefined`. */
export const statusOf = (work: Work): Record<StatusPart, StatusText | undefined> => ({
  saved: work.isReadOnly ? { text: texts().save.readOnly, tone: 'calm' } : saveStatus(work.save),
  built: work.isReadOnly && !work.canDeploy ? undefined : buildStatus(work),
  tested: testStatus(work),
  deployed: deployStatus(work),
  connection: work.isOnline ? undefined : { text: texts().status.offline, tone: 'bad' },
});

/** Whether the present text is the one that was deployed last. */
export const isDeployed = ({ deployment, sourceKey }: Work) =>
  deployment.kind === 'deployed' && deployment.sourceKey === sourceKey;

export function buildStatus(work: Work): StatusText {
  const { problems, errors } = work;
  const { text, tone } = lastBuildStatus(work);
  // The panel of builds shows their number, also before a build and after one that succeeded: language help finds more than it.
  if (!errors || tone === 'busy' || tone === 'bad') return { text, tone };
  const { status } = texts();
  return { text: status.withProblems(text, status.problems(problems)), tone: 'calm' };
}

function lastBuildStatus(work: Work): StatusText {
  const { build, sourceKey, deployment } = work;
  const { status } = texts();
  switch (build.kind) {
    case 'none':
      // A deployment builds what it deploys.
      if (isDeployed(work)) return { text: status.built, tone: 'good' };
      if (deployment.kind === 'deployed') return { text: status.changedSinceBuild, tone: 'calm' };
      return { text: build.hasNeverRun ? status.neverBuilt : status.notBuilt, tone: 'calm' };
    case 'building':
      return { text: status.building, tone: 'busy' };
    case 'built': {
      if (build.sourceKey !== sourceKey) return { text: status.changedSinceBuild, tone: 'calm' };
      return { text: build.at ? status.builtAt(formatTime(build.at)) : status.built, tone: 'good' };
    }
    case 'failed': {
      if (build.sourceKey !== sourceKey) return { text: status.changedSinceFailedBuild, tone: 'calm' };
      const { problems } = build;
      const text = problems ? status.buildFailedWith(status.problems(problems)) : status.buildFailed;
      return { text, tone: 'bad' };
    }
    default:
      return isResolved(build.error, work)
        ? { text: status.buildUnfinished, tone: 'calm' }
        : { text: status.notBuiltBecause(actionErrorReason(build.error)), tone: toneOf(build.error) };
  }
}

/** What the status line says of the tests: nothing before one ran. */
export function testStatus({ testing, action, tests }: Work): StatusText | undefined {
  const { status } = texts();
  if (testing && testing.all > 1) {
    const { done, all } = testing;
    return { text: status.testing(formatNumber(done), formatNumber(all)), tone: 'busy' };
  }
  if (action === 'test') return { text: status.running, tone: 'busy' };
  const counted = countTests(tests);
  if (counted.failed) {
    const failed = status.testsFailed(formatNumber(counted.failed), formatNumber(tests.length));
    return { text: failed, tone: 'bad' };
  }
  if (counted.passed) return { text: status.testsPassed(counted.passed), tone: 'good' };
  if (counted.ran) return { text: status.testsRan(counted.ran), tone: 'calm' };
  if (tests.some(({ verdict }) => verdict !== 'none')) return { text: status.testsOutdated, tone: 'calm' };
  return undefined;
}

/** How many tests passed, failed, or ran without an expectation, with the present text and payloads. */
export function countTests(tests: readonly TestStatus[]): Record<'passed' | 'failed' | 'ran', number> {
  const count = (wanted: TestStatus['verdict']) =>
    tests.filter(({ verdict, isCurrent }) => isCurrent && verdict === wanted).length;
  return { passed: count('passed'), failed: count('failed'), ran: count('ran') };
}

export function deployStatus(work: Work): StatusText {
  const { deployment, live } = work;
  const { status } = texts();
  switch (deployment.kind) {
    case 'none':
      return { text: deployment.hasNeverRun ? status.neverDeployed : status.notDeployed, tone: 'calm' };
    case 'deploying':
      return { text: status.deploying, tone: 'busy' };
    case 'deployed': {
      const { version } = deployment;
      if (live !== undefined && live !== version)
        return { text: status.deployedLiveIs(version, live), tone: 'calm' };
      if (!isDeployed(work)) return { text: status.deployedNewer(version), tone: 'calm' };
      return { text: live ? status.deployedAndLive(version) : status.deployed(version), tone: 'good' };
    }
    default: {
      const { error } = deployment;
      const reason = actionErrorReason(error);
      // The request was sent and not answered, so the service may have deployed it.
      if (error === 'connection' || error === 'service')
        return { text: status.perhapsDeployed(reason), tone: 'bad' };
      return isResolved(error, work)
        ? { text: status.notDeployed, tone: 'calm' }
        : { text: status.notDeployedBecause(reason), tone: toneOf(error) };
    }
  }
}

/** The sentence in the panel of builds about the last build. */
export function buildLabel(work: Work): string {
  const { build, sourceKey } = work;
  const { problems } = texts();
  switch (build.kind) {
    case 'none':
      return isDeployed(work) ? problems.builtBefore : problems.never;
    case 'building':
      return problems.building;
    case 'built':
      if (!build.at) return build.sourceKey === sourceKey ? problems.builtBefore : problems.never;
      return build.sourceKey === sourceKey ? problems.succeeded : problems.succeededBefore;
    case 'failed':
      return build.sourceKey === sourceKey ? problems.failed : problems.failedBefore;
    default:
      return problems.unfinished;
  }
}

/** The number beside the tab of the tests. */
export function testsBadge({ tests }: Work): {
  number: number;
  label: string;
  tone: 'calm' | 'bad' | 'good';
} {
  const { failed, passed } = countTests(tests);
  const words = texts().tests;
  if (passed && passed === tests.length)
    return { number: passed, label: texts().status.testsPassed(passed), tone: 'good' };
  return failed
    ? {
        number: failed,
        label: words.badgeFailed(formatNumber(failed), formatNumber(tests.length)),
        tone: 'bad',
      }
    : { number: tests.length, label: words.badge(tests.length), tone: 'calm' };
}

/** Whether the cause of an error has ended. */
export const isResolved = (
  error: ActionError,
  { isOnline, save, resolved }: Pick<Work, 'isOnline' | 'save' | 'resolved'>,
): boolean =>
  (error === 'connection' && isOnline) ||
  (error === 'not-saved' && save.kind !== 'failed') ||
  resolved.has(error);

const toneOf = (error: ActionError) => (error === 'stopped' ? 'calm' : 'bad');
