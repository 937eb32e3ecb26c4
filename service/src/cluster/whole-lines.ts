const lineBreak = 0x0a;

/** Puts the lines of a stream together again, which come in pieces. */
export class WholeLines {
  #rest: Buffer = Buffer.alloc(0);

  /** Adds a piece, and returns the lines that are whole by now, each with its line break; empty where there are none. */
  add(piece: Buffer): string {
    const end = piece.lastIndexOf(lineBreak) + 1;
    const text = end > 0 ? Buffer.concat([this.#rest, piece.subarray(0, end)]).toString() : '';
    const rest = piece.subarray(end);
    this.#rest = end > 0 ? rest : Buffer.concat([this.#rest, rest]);
    return text;
  }
}
