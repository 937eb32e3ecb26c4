import type { JSValueHandle, QuickJS } from 'quickjs-wasi';

/** Is notified of what the guest's code does while it runs, and decides when it has to end. */
export interface GuestListener {
  /** The code logged a line. Returning true ends the code. */
  log(text: GuestText): boolean;
  /** The code threw an error: its text, and its stack. */
  error(error: GuestText, stack: GuestText): void;
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
    'invoke' | 'invokeJson' | 'toJson' | 'describe' | 'isNullText' | 'undefined' | 'true' | 'false',
    number
  >
>;

const silent: GuestListener = { log: () => false, error: () => {}, shouldEnd: () => false };

export const nullText = '<null>';

/** Restores a U+FEFF at the start of a text, which the library's decoder takes for a byte order mark and removes. */
export const restoreByteOrderMark = (text: string, length: number) =>
  text.length < length ? `\ufeff${text}` : text;

/** The functions and the clock that an engine uses on the host's side. */
export class EngineHost {
  memory: { readonly buffer: ArrayBuffer } = { buffer: new ArrayBuffer(0) };
  clockReads = 0;
  #listener = silent;
  // Undefined until the first run begins; until then the monotonic clock reads 0. The engine keeps that reading as
  // `performance.timeOrigin`, which is therefore 0 in every engine and reveals nothing to a plugin.
  #start: number | undefined;

  begin(listener: GuestListener): void {
    this.#listener = listener;
    this.#start = performance.now();
    this.clockReads = 0;
  }

  shouldEnd(): boolean {
    return this.#listener.shouldEnd();
  }

  /** Writes nanoseconds: the time of day, or for the monotonic clock the time since the run began. */
  readonly readClock = (clock: number, _precision: bigint, resultPointer: number): number => {
    this.clockReads += 1;
    const now = performance.now();
    // As a bigint, because the time of day in nanoseconds is more than a number can hold exactly.
    const nanoseconds =
      clock === 0 ? BigInt(Date.now()) * 1_000_000n : BigInt(Math.round((now - (this.#start ?? now)) * 1e6));
    new DataView(this.memory.buffer).setBigUint64(resultPointer, nanoseconds, true);
    return 0;
  };

  /** The names of the functions that the guest helpers take, in their order. */
  readonly functionNames = ['log', 'reportError'] as const;

  /** Connects these functions to an engine whose memory was restored from a snapshot. */
  register(vm: QuickJS, tokens: Tokens): void {
    const functions: Record<
      (typeof this.functionNames)[number],
      (...values: JSValueHandle[]) => JSValueHandle
    > = {
      log: (text, length, isNull) => {
        const shouldEnd = this.#listener.log(guestText(text, length, isNull));
        return vm.importHandle(shouldEnd ? tokens.true : tokens.false);
      },
      reportError: (error, length, isNull, stack, stackLength, stackIsNull) => {
        this.#listener.error(guestText(error, length, isNull), guestText(stack, stackLength, stackIsNull));
        return vm.importHandle(tokens.undefined);
      },
    };
    for (const name of this.functionNames) vm.registerHostCallback(name, functions[name]);
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
