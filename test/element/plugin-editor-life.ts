import * as fc from 'fast-check';
import type { FakeWorld } from './fake-world.ts';
import { type Life, type Model, begin, check, fail, framesIn } from './life-model.ts';
import { WHOLE, commands } from './life-steps.ts';

/** Checks what must hold at the end of every life. */
async function end(model: Model, life: Life): Promise<void> {
  const { world, element } = life;
  await element.updateComplete;
  await world.settle();
  check(model, life);
  // When nothing happens any more, loading ends.
  await world.advance(10 * 60_000);
  check(model, life);
  if (element.state === 'loading') fail('still loading after ten minutes');
  if (model.closed) {
    if (framesIn(life).length) fail('a frame though closed');
    if (world.left.timers) fail(`${world.left.timers} timers though closed`);
  }
  element.remove();
  model.connected = false;
  await element.updateComplete;
  await world.settle();
  check(model, life);
}

/** The number of lives, and of those with a ready editor, without which little is tested. */
export interface Tally {
  lives: number;
  ready: number;
}

/** Lives of an element from its creation to its removal. */
export const lives = (make: () => FakeWorld, tally: Tally = { lives: 0, ready: 0 }) =>
  fc.asyncProperty(
    fc.boolean(),
    fc.constantFrom('url', 'message'),
    fc.commands(commands, { maxCommands: 40, size: 'max' }),
    async (whole, delivery, steps) => {
      const world = make();
      const attributes = { ...(whole ? WHOLE : {}), 'token-delivery': delivery };
      const life = begin(world, attributes);
      const model: Model = {
        attributes: new Map(Object.entries(attributes)),
        connected: true,
        closed: false,
        keepsWork: false,
        putOff: false,
        reloading: 0,
        restored: false,
      };
      const { element } = life;
      let ready = 0;
      element.addEventListener('plugin-editor-ready', ({ confirmed }) => {
        if (confirmed) ready = 1;
      });
      element.addEventListener('plugin-editor-discard', (event) => {
        if (model.keepsWork) event.preventDefault();
      });
      element.addEventListener('plugin-editor-dirty', ({ dirty }) => {
        if (!dirty) model.putOff = false;
      });
      const onError = (event: ErrorEvent | PromiseRejectionEvent) => {
        life.faults.push(String('reason' in event ? event.reason : event.error));
        event.preventDefault();
      };
      window.addEventListener('error', onError);
      window.addEventListener('unhandledrejection', onError);
      try {
        await fc.asyncModelRun(() => ({ model, real: life }), steps);
        await end(model, life);
      } finally {
        tally.lives++;
        tally.ready += ready;
        window.removeEventListener('error', onError);
        window.removeEventListener('unhandledrejection', onError);
        life.place.remove();
        world.restore();
      }
    },
  );
