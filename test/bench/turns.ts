/** How long each of `works` takes, in ms, run by turns so that what slows the machine slows all of them. */
export async function timeInTurns<Name extends string>(
  works: Record<Name, (i: number) => Promise<unknown>>,
  times: number,
  warmUp: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(works) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let i = -warmUp; i < times; i++) {
    for (const name of names) {
      const start = performance.now();
      await works[name](i + warmUp);
      if (i >= 0) taken[name].push(performance.now() - start);
    }
  }
  return taken;
}
