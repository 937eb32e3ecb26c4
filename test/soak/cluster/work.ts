import { setTimeout } from 'node:timers/promises';
import { random } from '../random.ts';
import type { ClusterUser } from './user.ts';

const actEvery = 2000;
const buildEvery = 60_000;

/**
 * What one user does until `signal`: builds and deploys first and then every 60 s, and does something else every 2 s. It is
 * not at the same moments as what the others do.
 */
export async function work(user: ClusterUser, seed: number, signal: AbortSignal): Promise<void> {
  const chance = random(seed);
  // Not longer than a short round lasts, nor all at once.
  await wait(chance() * actEvery * 2, signal);
  let builtAt = -Infinity;
  while (!signal.aborted) {
    if (performance.now() - builtAt >= buildEvery) {
      // As though the one before had been at any moment.
      builtAt = performance.now() - (builtAt === -Infinity ? chance() * buildEvery : 0);
      await user.build();
      await wait(actEvery, signal);
      await user.deploy();
    } else await user.act(chance());
    await wait(actEvery * (0.5 + chance()), signal);
  }
}

const wait = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => {});
