import { SchemaError } from './errors.ts';

/**
 * Reads a body as text, part by part as it arrives. The body is cancelled when whoever reads stops early.
 * @param maxBytes how long the body may be
 * @param label names the request or response in the error
 * @throws SchemaError when the body is longer.
 */
export async function* textParts(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  label: string,
  decoder = new TextDecoder(),
): AsyncGenerator<string, void> {
  const reader = body.getReader();
  let size = 0;
  try {
    for (let part; !(part = await reader.read()).done;) {
      size += part.value.length;
      if (size > maxBytes) throw new SchemaError(label, `larger than ${maxBytes} bytes`);
      yield decoder.decode(part.value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    // Not awaited: where the response was cloned, cancelling one branch settles only once the other one is cancelled, too.
    void reader.cancel().catch(() => {});
  }
}
