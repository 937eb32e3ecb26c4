/** A secret as it was made, and what it is. */
export interface Secret {
  kind: string;
  text: string;
}

/** What gives a secret away: itself, half of it, and it in other codings. */
function formsOf({ text }: Secret): string[] {
  const half = Math.floor(text.length / 2);
  const halves = [text.slice(0, half), text.slice(-half)];
  const bytes = Buffer.from(text, 'base64url');
  const standard = bytes.toString('base64');
  return [
    ...halves,
    ...halves.map(encodeURIComponent),
    standard,
    encodeURIComponent(standard),
    bytes.toString('hex'),
    bytes.toString('latin1'),
    // Encoded once more, without the first and last characters, which depend on what stands beside it.
    ...[0, 1, 2].map((skip) => btoa(text.slice(skip)).slice(0, -4)),
  ];
}

/** Six digits come by chance: they count where they stand alone. */
function holds(content: string, secret: Secret): boolean {
  if (secret.kind === 'code') return new RegExp(`(?<![\\w.-])${secret.text}(?![\\w.-])`).test(content);
  return formsOf(secret).some((form) => content.includes(form));
}

/** Where secrets are looked for: what each place held, at any time. Bytes are text in Latin-1. */
export class Places {
  readonly #contents = new Map<string, Set<string>>();

  add(place: string, ...contents: (string | Uint8Array)[]): void {
    const all = this.#contents.get(place) ?? new Set();
    this.#contents.set(place, all);
    for (const one of contents) {
      const text = typeof one === 'string' ? one : Buffer.from(one).toString('latin1');
      if (text) all.add(text);
    }
  }

  addAll(contents: Record<string, string>): void {
    for (const [place, content] of Object.entries(contents)) this.add(place, content);
  }

  /** The places that were looked at and held anything at all. */
  get seen(): string[] {
    return [...this.#contents]
      .filter(([, contents]) => contents.size)
      .map(([place]) => place)
      .toSorted();
  }

  /** Where a secret is. */
  of(secret: Secret): string[] {
    return [...this.#contents]
      .filter(([, contents]) => [...contents].some((content) => holds(content, secret)))
      .map(([place]) => place)
      .toSorted();
  }
}
