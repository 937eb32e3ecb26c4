import { mebibyte } from '../../units.ts';

/**
 * The limits of a WebAssembly module. The time and memory that the engine needs to compile a function grow with its code, with
 * its locals, and with their product: 1 KB of source can make a function whose compilation takes gigabytes. An ordinary function
 * of 500 lines has some 300 locals and 20 KB of code.
 */
export const moduleLimits = {
  /** Bytes of the whole module. */
  module: 2 * mebibyte,
  functions: 20_000,
  /** Locals of one function, parameters included. */
  locals: 4000,
  /** Bytes of one function's code. */
  code: mebibyte / 4,
  /** Locals times bytes of code of one function. At this limit, compiling it takes some 100 MB. */
  localsTimesCode: 16 * mebibyte,
  /** Entries of tables. */
  table: 100_000,
} as const;

// The numbers of the sections that are read, by the WebAssembly specification.
const section = { type: 1, function: 3, table: 4, functionBody: 10 } as const;

/**
 * Returns a message for the author of a plugin whose module is too large to be compiled; `undefined` for any other module. Only
 * sizes are checked: the engine finds out whether the module is valid.
 */
export function describeOversize(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength > moduleLimits.module) {
    return tooLarge('The compiled plugin', `${bytes.byteLength} bytes`, `${moduleLimits.module} bytes`);
  }
  try {
    return describeSections(new ModuleReader(bytes));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The engine refuses a malformed module, with a better message. One that it would accept, and this reader cannot read, is
    // refused here, because its sizes are unknown.
    return WebAssembly.validate(new Uint8Array(bytes)) ? unreadable : undefined;
  }
}

function describeSections(reader: ModuleReader): string | undefined {
  let parameterCounts: number[] = [];
  let typeOfFunction: number[] = [];
  reader.skip(8);
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const end = reader.integer() + reader.position;
    if (id === section.type) parameterCounts = readParameterCounts(reader);
    if (id === section.function) typeOfFunction = readIntegers(reader, moduleLimits.functions + 1);
    const problem =
      id === section.table
        ? describeTables(reader)
        : id === section.functionBody
          ? describeFunctions(reader, (index) => parameterCounts[typeOfFunction[index] ?? -1] ?? 0)
          : undefined;
    if (problem) return problem;
    reader.moveTo(end);
  }
  return undefined;
}

/** How many parameters each type has, up to the first type of another kind than a function's. */
function readParameterCounts(reader: ModuleReader): number[] {
  const counts: number[] = [];
  const functionType = 0x60;
  for (let left = reader.integer(); left > 0; left--) {
    if (reader.byte() !== functionType) return counts;
    const parameters = reader.integer();
    for (let i = 0; i < parameters; i++) reader.valueType();
    for (let results = reader.integer(); results > 0; results--) reader.valueType();
    counts.push(parameters);
  }
  return counts;
}

function readIntegers(reader: ModuleReader, max: number): number[] {
  return Array.from({ length: Math.min(reader.integer(), max) }, () => reader.integer());
}

function describeTables(reader: ModuleReader): string | undefined {
  for (let left = reader.integer(); left > 0; left--) {
    // The type of the entries, and whether there is a maximum.
    reader.valueType();
    const hasMaximum = reader.byte() & 1;
    const size = reader.integer();
    if (hasMaximum) reader.integer();
    if (size > moduleLimits.table) {
      return tooLarge('A table of the compiled plugin', `${size} entries`, `${moduleLimits.table}`);
    }
  }
  return undefined;
}

function describeFunctions(
  reader: ModuleReader,
  parametersOf: (index: number) => number,
): string | undefined {
  const count = reader.integer();
  if (count > moduleLimits.functions) {
    return tooLarge('The compiled plugin', `${count} functions`, `${moduleLimits.functions}`);
  }
  for (let index = 0; index < count; index++) {
    const code = reader.integer();
    const end = reader.position + code;
    let locals = parametersOf(index);
    for (let groups = reader.integer(); groups > 0; groups--) {
      locals += reader.integer();
      reader.valueType();
    }
    const { locals: maxLocals, code: maxCode, localsTimesCode } = moduleLimits;
    if (locals > maxLocals) return largeFunction(`${locals} variables`, `${maxLocals}`);
    if (code > maxCode) return largeFunction(`${code} bytes of code`, `${maxCode}`);
    if (locals * code > localsTimesCode) {
      const maxLocalsForCode = Math.floor(localsTimesCode / code);
      return largeFunction(
        `${locals} variables and ${code} bytes of code`,
        `${maxLocalsForCode} variables for that much code`,
      );
    }
    reader.moveTo(end);
  }
  return undefined;
}

const largeFunction = (size: string, limit: string) =>
  `${tooLarge('A function of the compiled plugin', size, limit)} Split it, or use fewer "@inline" functions in it.`;

const unreadable = 'The compiled plugin has parts of a kind that plugins cannot have.';

const tooLarge = (what: string, size: string, limit: string) =>
  `${what} is too large: it has ${size}, and the limit is ${limit}.`;

/** Reads the binary format. Throws a `RangeError` past the end, and for a number that is too long. */
class ModuleReader {
  readonly #bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#bytes.byteLength;
  }

  byte(): number {
    const byte = this.#bytes[this.position];
    if (byte === undefined) throw new RangeError('The module is cut off.');
    this.position += 1;
    return byte;
  }

  /** An unsigned integer of up to 32 bits in LEB128. */
  integer(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('A number is too long.');
  }

  /** Skips the type of a value: one byte, and for a reference the index of what it refers to. */
  valueType(): void {
    const type = this.byte();
    const [reference, nullableReference] = [0x64, 0x63];
    if (type === reference || type === nullableReference) this.integer();
    // Value types of one byte. Lower numbers are types of functions and other things that no local can hold.
    else if (type <= 0x60 || type > 0x7f) throw new RangeError(`No type begins with ${type}.`);
  }

  skip(count: number): void {
    this.moveTo(this.position + count);
  }

  moveTo(position: number): void {
    if (position < this.position || position > this.#bytes.byteLength) {
      throw new RangeError('The module is cut off.');
    }
    this.position = position;
  }
}
