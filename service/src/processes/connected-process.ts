/*
 * Replaces `node:child_process` in the process of a compiler whose client library starts a native program. The service has
 * already started that program (the `helper` of the language): this process reads its output from descriptor 0, and writes its
 * input to descriptor 1.
 */

let expected: readonly string[] | undefined;
let isTaken = false;

/** Sets the arguments that the service has started the program with. */
export function expectArguments(args: readonly string[]): void {
  expected = args;
}

/**
 * As `spawn` of `node:child_process`, as far as TypeScript's client needs it. Throws at a second call, and for other arguments
 * than those of {@link expectArguments}.
 */
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
