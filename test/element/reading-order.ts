import { expect } from '@open-wc/testing';

// How wide a text is depends on the fonts of the machine, and with it where lines wrap. What is the same on all of them
// is the order in which things stand within whatever lines there are, and that none of them leaves its box.

/** Boxes that touch may overlap by a rounded pixel. */
const ROUNDING = 1;

/** The lines that elements stand in, given in the order in which they are read. */
export function linesOf(elements: readonly Element[]): DOMRect[][] {
  const lines: DOMRect[][] = [];
  for (const rect of elements.map((one) => one.getBoundingClientRect())) {
    const line = lines.at(-1);
    const isBelow = !line || line.every(({ bottom }) => rect.top >= bottom - ROUNDING);
    if (isBelow) lines.push([rect]);
    else line.push(rect);
  }
  return lines;
}

/**
 * Checks that elements, given in the order in which they are read, stand in their box as in a text that is written from
 * the right: every line starts at the right edge, each element in it is to the left of the one before, and none leaves
 * the box.
 */
export function expectFromRight(elements: readonly Element[], box: Element): void {
  expect(elements.length).to.be.greaterThan(0);
  const inner = contentBoxOf(box);
  for (const line of linesOf(elements)) {
    expect(line[0]?.right).to.be.closeTo(inner.right, ROUNDING);
    for (const [index, { left, width }] of line.entries()) {
      expect(width).to.be.greaterThan(0);
      expect(left).to.be.at.least(inner.left - ROUNDING);
      const next = line[index + 1];
      if (next) expect(next.right).to.be.at.most(left + ROUNDING);
    }
  }
}

/** The inline edges of what is inside of an element's border and padding. */
function contentBoxOf(box: Element): { left: number; right: number } {
  const { left, right } = box.getBoundingClientRect();
  const style = getComputedStyle(box);
  return {
    left: left + parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft),
    right: right - parseFloat(style.borderRightWidth) - parseFloat(style.paddingRight),
  };
}
