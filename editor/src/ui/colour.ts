/** An opaque colour: red, green and blue from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** Reads `rgb(r, g, b)`, the only form that a host's colours come in; `undefined` for anything else. */
export function parseColour(value: unknown): Colour | undefined {
  if (typeof value !== 'string') return undefined;
  const parts = /^rgb\((\d{1,3}), ?(\d{1,3}), ?(\d{1,3})\)$/.exec(value)?.slice(1).map(Number);
  return parts?.every((part) => part <= 255) ? (parts as unknown as Colour) : undefined;
}

/** Reads `#rrggbb`, as in the style sheets. */
export const parseHex = (value: string): Colour =>
  [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16)) as unknown as Colour;

export const formatColour = ([red, green, blue]: Colour): string => `rgb(${red}, ${green}, ${blue})`;

/** A colour on the way from one to another; `share` is how much of the second is in it, from 0 to 1. */
export const mix = (one: Colour, other: Colour, share: number): Colour =>
  one.map((part, index) =>
    Math.round(part * (1 - share) + (other[index] as number) * share),
  ) as unknown as Colour;

/** Relative luminance, as WCAG 2.2 defines it: 0 is black, 1 is white. */
export function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of two colours, as WCAG 2.2 defines it: 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}
