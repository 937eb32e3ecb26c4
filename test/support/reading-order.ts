// The width of a text, and where lines wrap, depends on the fonts of the machine. What is the same on all of them
// is the order in which things stand within whatever lines there are, and that none of them leaves its box.

/** The edges of something in a page, in CSS pixels: a `DOMRect`, or its copy through JSON. */
export interface Edges {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Boxes that touch may overlap by a rounded pixel. */
const ROUNDING = 1;

/** Groups things, given in reading order, by the lines that they stand in. */
export function linesOf<T extends Edges>(things: readonly T[]): T[][] {
  const lines: T[][] = [];
  for (const thing of things) {
    const line = lines.at(-1);
    const isBelow = !line || line.every(({ bottom }) => thing.top >= bottom - ROUNDING);
    if (isBelow) lines.push([thing]);
    else line.push(thing);
  }
  return lines;
}

/**
 * The faults in the positions of things, given in reading order, in a box whose text is written from the right. Every line has to
 * start at the right edge, each thing in it has to be to the left of the one before, and none may leave the box. Empty when all is
 * well.
 */
export function faultsFromRight(things: readonly Edges[], box: Pick<Edges, 'left' | 'right'>): string[] {
  const faults: string[] = things.length > 0 ? [] : ['nothing is there'];
  for (const [number, line] of linesOf(things).entries()) {
    for (const [index, { left, right }] of line.entries()) {
      const what = `thing ${index + 1} of line ${number + 1}, from ${left} to ${right},`;
      const before = line[index - 1];
      if (right <= left) faults.push(`${what} has no width`);
      if (left < box.left - ROUNDING) faults.push(`${what} leaves its box at ${box.left}`);
      if (before && right > before.left + ROUNDING) faults.push(`${what} is not left of ${before.left}`);
      if (!before && Math.abs(right - box.right) > ROUNDING) faults.push(`${what} is not at ${box.right}`);
    }
  }
  return faults;
}
