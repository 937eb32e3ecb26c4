import type { JSValueHandle, QuickJS } from 'quickjs-wasi';

/** What the guest tells the host while code runs. */
export interface GuestListener {
  /** Code logged a line, of which the host has `text` unless the engine was out of memory. True ends the code. */
  log(text: GuestText): boolean;
  /** An error that code threw, as text, and its stack. */
  error(error: GuestText, stack: GuestText): void;
  /** Asked again and again while code runs. True ends the code, in a way that it cannot catch. */
  shouldEnd(): boolean;
}

/** A text of the guest: `undefined` when the engine had no memory left to hand it over. */
export interface GuestText {
  /** In UTF-16 code units. */
  readonly length: number;
  read(): string | undefined;
}

/**
 * The guest helpers, and the values that the library would make once for each engine and keep: those would be gone with
 * the next restore. All as tokens for `importHandle`.
 */
export type Tokens = Readonly<
  Record<
    'invoke' | 'invokeJson' | 'toJson' | 'describe' | 'isNullText' | 'undefined' | 'true' | 'false',
    number
  >
>;

const silent: GuestListener = { log: () => false, error: () => {}, shouldEnd: () => false };

export const nullText = '<null>';

/** The library's decoder leaves out U+FEFF at the start of a text, as if it said how the text is encoded. */
export const withMark = (text: string, length: number) => (text.length < length ? `\ufeff${text}` : text);

/** What an engine calls and reads on the host's side. */
export class EngineHost {
  memory: { readonly buffer: ArrayBuffer } = { buffer: new ArrayBuffer(0) };
  clockReads = 0;
  #listener = silent;
  // Nothing until the first run begins. The engine keeps the time of its making as `performance.timeOrigin`: the clock
  // stands still at 0 until then, so that this time is the same in all engines and tells none from another.
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
    // The time of day in nanoseconds is more than a number holds exactly.
    const nanoseconds =
      clock === 0 ? BigInt(Date.now()) * 1_000_000n : BigInt(Math.round((now - (this.#start ?? now)) * 1e6));
    new DataView(this.memory.buffer).setBigUint64(resultPointer, nanoseconds, true);
    return 0;
  };

  /** The functions by which the guest's helpers talk to the host, in the order that they take them. */
  readonly functionNames = ['log', 'tell'] as const;

  /** Connects the functions of a memory that was restored. */
  register(vm: QuickJS, tokens: Tokens): void {
    const functions: Record<
      (typeof this.functionNames)[number],
      (...values: JSValueHandle[]) => JSValueHandle
    > = {
      log: (text, length, isNull) => {
        const shouldEnd = this.#listener.log(guestText(text, length, isNull));
        return vm.importHandle(shouldEnd ? tokens.true : tokens.false);
      },
      tell: (error, length, isNull, stack, stackLength, stackIsNull) => {
        this.#listener.error(guestText(error, length, isNull), guestText(stack, stackLength, stackIsNull));
        return vm.importHandle(tokens.undefined);
      },
    };
    for (const name of this.functionNames) vm.registerHostCallback(name, functions[name]);
  }
}

/** `isNull`: whether the text really is what the library answers when it cannot allocate. */
function guestText(text?: JSValueHandle, lengthHandle?: JSValueHandle, isNull?: JSValueHandle): GuestText {
  const length = lengthHandle?.toNumber() ?? 0;
  return {
    length,
    read: () => {
      const read = text?.toString() ?? '';
      return read === nullText && !isNull?.toBoolean() ? undefined : withMark(read, length);
    },
  };
}
