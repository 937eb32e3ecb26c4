/**
 * Reads a body as text, part by part as it arrives. Whoever stops early cancels it.
 * @param maxBytes how long it may be
 * @param tooLarge makes the error that is thrown when it is longer
 */
export async function* textParts(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
  decoder = new TextDecoder(),
): AsyncGenerator<string, void> {
  const reader = body.getReader();
  let size = 0;
  try {
    for (let part; !(part = await reader.read()).done;) {
      size += part.value.length;
      if (size > maxBytes) throw tooLarge();
      yield decoder.decode(part.value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    // It is not waited for, because the cancellation of a copy ends only when the other copy is cancelled, too.
    void reader.cancel().catch(() => {});
  }
}
