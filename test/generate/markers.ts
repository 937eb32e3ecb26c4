/**
 * A Markdown text with what stands between its markers `<!-- begin NAME -->` and `<!-- end NAME -->` written anew.
 * @throws Error for a name whose markers are not there
 */
export function fillMarkers(markdown: string, blocks: ReadonlyMap<string, string>): string {
  let filled = markdown;
  for (const [name, block] of blocks) {
    const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
    const [head, rest] = split(filled, begin);
    const [, tail] = split(rest, end);
    filled = `${head}${begin}\n\n${block.trim()}\n\n${end}${tail}`;
  }
  return filled;
}

function split(text: string, at: string): [before: string, after: string] {
  const parts = text.split(at);
  if (parts.length !== 2) throw new Error(`${at} must be there once`);
  return parts as [string, string];
}
