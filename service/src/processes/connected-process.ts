/*
 * Stands in for `node:child_process` in the process of a compiler whose client starts a native program by itself. The service
 * has started that program (`helper` of the language) and connected it: descriptor 0 is what it writes, 1 what it reads.
 */

let expected: readonly string[] | undefined;
let isTaken = false;

/** The arguments that the program was started with. */
export function expectArguments(args: readonly string[]): void {
  expected = args;
}

/** As `spawn` of `node:child_process`, as far as TypeScript's client uses what it gives. Once, and for that program alone. */
export function spawn(_command: string, args: readonly string[]): object {
  if (isTaken) throw new Error('The program is connected already, and another one cannot be started.');
  if (JSON.stringify(args) !== JSON.stringify(expected)) {
    throw new Error(`The program was started with other arguments than ${args.join(' ')}.`);
  }
  isTaken = true;
  return {
    stdin: stream(1),
    stdout: stream(0),
    exitCode: null,
    signalCode: null,
    unref: nothing,
    // The service ends it, together with this process.
    kill: nothing,
  };
}

const nothing = () => {};

const stream = (fd: number) => ({ _handle: { fd }, pause: nothing, unref: nothing, destroy: nothing });
