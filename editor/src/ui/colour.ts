/** An opaque colour: red, green and blue from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** Reads `rgb(r, g, b)`, the only form that a host's colours come in; `undefined` for anything else. */
export function parseColour(value: unknown): Colour | undefined {
  if (typeof value !== 'string') return undefined;
  const parts = /^rgb\((\d{1,3}), ?(\d{1,3}), ?(\d{1,3})\)$/.exec(value);
  if (!parts) return undefined;
  const colour: Colour = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return colour.every((part) => part <= 255) ? colour : undefined;
}

/** Reads `#rrggbb`, as in the style sheets. */
export function parseHex(value: string): Colour {
  const part = (at: number) => parseInt(value.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

export const formatColour = ([red, green, blue]: Colour): string => `rgb(${red}, ${green}, ${blue})`;

/** A colour on the way from one to another; `share` is how much of the second is in it, from 0 to 1. */
export function mix(one: Colour, other: Colour, share: number): Colour {
  const part = (index: 0 | 1 | 2) => Math.round(one[index] * (1 - share) + other[index] * share);
  return [part(0), part(1), part(2)];
}

/** Relative luminance, as WCAG 2.2 defines it: 0 is black, 1 is white. */
export function luminance(colour: Colour): number {
  const linear = (part: number) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const [red, green, blue] = colour;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Contrast of two colours, as WCAG 2.2 defines it: 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
