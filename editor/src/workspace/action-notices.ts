import { texts } from '../locales/locale.ts';
import { type Action, type Obstacle, obstacleAdvice } from '../pipeline/progress.ts';
import type { Deployed } from '../service/records.ts';
import type { Notice, Notices } from '../ui/notices.ts';

const NOTICE = 'action';

/** The notice about the action that runs or ran last: a build, tests or a deployment. There is at most one. */
export class ActionNotices {
  readonly #notices: Notices;
  /** Stops the action. */
  readonly #onStop: () => void;
  #retry: () => void = () => {};
  /** What the notice is about: that the action waits for a busy service, why it did not complete, or something else. */
  #reason: 'waiting' | Obstacle | undefined;

  constructor(notices: Notices, onStop: () => void) {
    this.#notices = notices;
    this.#onStop = onStop;
  }

  /** An action begins; `retry` begins it once more. */
  begin(retry: () => void): void {
    this.#retry = retry;
    this.hide();
  }

  /** The action ended. */
  end(): void {
    if (this.#reason === 'waiting') this.hide();
  }

  /** What kept actions from completing is over: hides the notice about it. */
  endObstacles(ended: readonly Obstacle[]): void {
    if (ended.some((obstacle) => obstacle === this.#reason)) this.hide();
  }

  hide(): void {
    this.#reason = undefined;
    this.#notices.hide(NOTICE);
  }

  /** The service is busy and will be asked again in `wait` ms. */
  showBusy(action: Action, wait: number): void {
    this.#reason = 'waiting';
    const seconds = Math.max(1, Math.round(wait / 1000));
    this.#notices.show(NOTICE, () => ({
      tone: 'note',
      text: texts().obstacle.waiting(seconds),
      actions: [{ label: texts().obstacle.stop[action], run: this.#onStop }],
    }));
  }

  showObstacle(action: Action, obstacle: Obstacle): void {
    if (!obstacleAdvice(action, obstacle)) return this.hide();
    this.#reason = obstacle;
    this.#notices.show(NOTICE, () => {
      const advice = obstacleAdvice(action, obstacle);
      const tryAgain = { label: texts().common.tryAgain, primary: true, run: () => this.#retry() };
      const dismiss = this.#notices.dismiss(NOTICE);
      return {
        tone: 'alert',
        text: advice?.text ?? '',
        actions: advice?.again ? [tryAgain, dismiss] : [dismiss],
      };
    });
  }

  showDeployed({ version, unchanged, live }: Deployed): void {
    this.#reason = undefined;
    const otherLive = typeof live === 'string' && live !== version ? live : undefined;
    const notice = (): Notice => {
      const { deploy } = texts();
      const done = otherLive === undefined ? deploy.done(version) : deploy.doneNotLive(version, otherLive);
      return {
        tone: 'note',
        text: unchanged ? deploy.unchanged(version) : done,
        actions: [this.#notices.dismiss(NOTICE)],
      };
    };
    this.#notices.show(NOTICE, notice, { isPassing: true });
  }
}
