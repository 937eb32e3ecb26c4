import type { JSValueHandle, QuickJS } from 'quickjs-wasi';
import { answerIntl } from './intl-host.ts';

/** Is notified of what the guest's code does while it runs, and decides when it has to end. */
export interface GuestListener {
  /** The code logged a line. Returning true ends the code. */
  log(text: GuestText): boolean;
  /** The code threw an error: its text, and its stack. */
  error(error: GuestText, stack: GuestText): void;
  /** The code calls `fetch`. `head` is JSON. Returning false refuses the call, because the run has made too many. */
  call?(id: number, head: GuestText, body: Uint8Array | undefined): boolean;
  /** The code sets a timer of `delay` ms. Returning false refuses it, because the run has set too many. */
  startTimer?(id: number, delay: number): boolean;
  stopTimer?(id: number): void;
  /** Called again and again while the code runs. Returning true ends the code, in a way that it cannot catch. */
  shouldEnd(): boolean;
}

/** A text of the guest. `read` returns `undefined` when the engine has no memory left to hand it over. */
export interface GuestText {
  /** In UTF-16 code units. */
  readonly length: number;
  read(): string | undefined;
}

/**
 * The guest helpers, and constants that the library would otherwise create once for each engine and cache, although the next
 * restore removes them from the engine's memory. All of them are tokens for `importHandle`.
 */
export type Tokens = Readonly<
  Record<
    | 'invoke'
    | 'invokeJson'
    | 'toJson'
    | 'describe'
    | 'isNullText'
    | CallHelper
    | 'undefined'
    | 'true'
    | 'false',
    number
  >
>;

/** The functions of `guest-calls.ts`. */
export type CallHelper = 'connect' | 'open' | 'hasPending' | 'respond' | 'reject' | 'fire';

const silent: GuestListener = { log: () => false, error: () => {}, shouldEnd: () => false };

/** How many bytes `crypto.getRandomValues` gives at once. */
const maxRandomBytes = 65_536;

export const nullText = '<null>';

/** Restores a U+FEFF at the start of a text, which the library's decoder takes for a byte order mark and removes. */
export const restoreByteOrderMark = (text: string, length: number) =>
  text.length < length ? `\ufeff${text}` : text;

/** The functions and the clock that an engine uses on the host's side. */
export class EngineHost {
  memory: { readonly buffer: ArrayBuffer } = { buffer: new ArrayBuffer(0) };
  /** Whether code has read the time, or a random number of `crypto`, since the run began. */
  hasReadClockOrRandom = false;
  /** The sources of what a module may import, by names. */
  libraries: Readonly<Record<string, string>> | undefined;
  #listener = silent;
  // Undefined until the first run begins. Until then both clocks and all random bytes are 0, so that the first state of all engines
  // is the same: a run is put back into another engine than the one that it was taken out of. The engine keeps that reading as
  // `performance.timeOrigin`, which is therefore 0 in every engine and reveals nothing to a plugin.
  #start: number | undefined;

  /** `elapsed`: how many ms ago the run began, for one that is put back. */
  begin(listener: GuestListener, elapsed = 0): void {
    this.#listener = listener;
    this.#start = performance.now() - elapsed;
    this.hasReadClockOrRandom = false;
    this.libraries = undefined;
  }

  /** The source of a library. Throws where the module may not import it. */
  readLibrary(name: string): string {
    const { libraries } = this;
    const source = libraries && Object.hasOwn(libraries, name) ? libraries[name] : undefined;
    if (source === undefined) throw new ReferenceError(`There is no library ${JSON.stringify(name)}.`);
    return source;
  }

  shouldEnd(): boolean {
    return this.#listener.shouldEnd();
  }

  /** Writes nanoseconds: the time of day, or for the monotonic clock the time since the run began. */
  readonly readClock = (clock: number, _precision: bigint, resultPointer: number): number => {
    this.hasReadClockOrRandom = true;
    // As a bigint, because the time of day in nanoseconds is more than a number can hold exactly.
    const nanoseconds = this.#start === undefined ? 0n : this.#readAfterStart(clock, this.#start);
    new DataView(this.memory.buffer).setBigUint64(resultPointer, nanoseconds, true);
    return 0;
  };

  /** Writes random bytes: for `crypto`, and for its ciphers against attacks that measure. */
  readonly readRandom = (pointer: number, length: number): number => {
    this.hasReadClockOrRandom = true;
    const bytes = new Uint8Array(this.memory.buffer, pointer, length);
    if (this.#start === undefined) bytes.fill(0);
    else {
      for (let at = 0; at < length; at += maxRandomBytes)
        crypto.getRandomValues(bytes.subarray(at, at + maxRandomBytes));
    }
    return 0;
  };

  #readAfterStart(clock: number, start: number): bigint {
    if (clock === 0) return BigInt(Date.now()) * 1_000_000n;
    return BigInt(Math.round((performance.now() - start) * 1e6));
  }

  /** The names of the functions that the guest helpers take, in their order. */
  readonly functionNames = ['log', 'reportError', 'intl'] as const;

  /** The names of those that `guest-calls.ts` takes. */
  readonly callNames = ['call', 'startTimer', 'stopTimer'] as const;

  /** Connects these functions to an engine whose memory was restored from a snapshot. */
  register(vm: QuickJS, tokens: Tokens): void {
    const boolean = (value: boolean | undefined) => vm.importHandle(value ? tokens.true : tokens.false);
    const functions: Record<
      (typeof this.functionNames)[number] | (typeof this.callNames)[number],
      (...values: JSValueHandle[]) => JSValueHandle
    > = {
      log: (text, length, isNull) => {
        return boolean(this.#listener.log(guestText(text, length, isNull)));
      },
      reportError: (error, length, isNull, stack, stackLength, stackIsNull) => {
        this.#listener.error(guestText(error, length, isNull), guestText(stack, stackLength, stackIsNull));
        return vm.importHandle(tokens.undefined);
      },
      call: (id, head, length, body) => {
        const bytes = body && !body.isUndefined ? body.toUint8Array() : undefined;
        return boolean(this.#listener.call?.(id?.toNumber() ?? 0, guestText(head, length), bytes));
      },
      startTimer: (id, delay) =>
        boolean(this.#listener.startTimer?.(id?.toNumber() ?? 0, delay?.toNumber() ?? 0)),
      stopTimer: (id) => {
        this.#listener.stopTimer?.(id?.toNumber() ?? 0);
        return vm.importHandle(tokens.undefined);
      },
      intl: (operation, description, ...values) => {
        const answer = answerIntl(textFrom(operation), textFrom(description), ...values.map(valueFrom));
        // The time of the host's work is the run's.
        return vm.newString(this.#listener.shouldEnd() ? '!' : answer);
      },
    };
    for (const name of [...this.functionNames, ...this.callNames])
      vm.registerHostCallback(name, functions[name]);
  }
}

/** `isNull`: whether the text really is "<null>", which the library also returns when it cannot allocate memory. */
function guestText(text?: JSValueHandle, lengthHandle?: JSValueHandle, isNull?: JSValueHandle): GuestText {
  const length = lengthHandle?.toNumber() ?? 0;
  return {
    length,
    read: () => {
      const read = text?.toString() ?? '';
      return read === nullText && !isNull?.toBoolean() ? undefined : restoreByteOrderMark(read, length);
    },
  };
}

/** A text of the guest. Anything else is left unread, because an object's conversion would run the plugin's code in here. */
const textFrom = (value?: JSValueHandle): string => (value?.isString ? value.toString() : '');

const valueFrom = (value: JSValueHandle): string | number =>
  value.isNumber ? value.toNumber() : textFrom(value);
