import { SchemaError } from '../errors.ts';
import { DEFAULT_MAX_BYTES, readTextChunks } from '../request.ts';

/** An event of a stream; `type` is empty where the stream names none. */
export interface StreamEvent {
  type: string;
  data: string;
}

/**
 * Yields each event of a `text/event-stream` as soon as it is whole. Comments, ids and reconnection times are ignored, because
 * a stream that breaks off is not requested again. The stream is cancelled when whoever reads stops early.
 * @throws SchemaError when one event is longer than 8 MiB.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  label: string,
): AsyncGenerator<StreamEvent, void> {
  /** The beginning of a line whose end has not arrived. */
  let rest = '';
  let isAfterReturn = false;
  let type = '';
  /** Each line of data ends with a line feed. */
  let data = '';
  for await (const chunk of readTextChunks(body, Infinity, label)) {
    // A line end of two characters may be divided between two chunks.
    const text: string = isAfterReturn && chunk[0] === '\n' ? chunk.slice(1) : chunk;
    if (chunk) isAfterReturn = chunk.endsWith('\r');
    rest += text;
    // Without this, a long line in many chunks would be searched again from its beginning with each of them.
    const lines = /[\r\n]/.test(text) ? rest.split(/\r\n|\r|\n/) : [rest];
    rest = lines.pop() as string;
    for (const line of lines) {
      const [, field, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) as RegExpExecArray;
      if (field === 'data') data += value + '\n';
      if (field === 'event') type = value;
      if (line) continue;
      if (data) yield { type, data: data.slice(0, -1) };
      type = data = '';
    }
    if (rest.length + data.length > DEFAULT_MAX_BYTES)
      throw new SchemaError(label, `an event larger than ${DEFAULT_MAX_BYTES} bytes`);
  }
}
