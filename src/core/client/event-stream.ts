import { DEFAULT_MAX_BYTES } from '../request.ts';
import { textParts } from '../text-parts.ts';

/**
 * Reads a `text/event-stream` to its end, and calls `onEvent` with each event as soon as it is whole. Comments, ids and
 * reconnection times are ignored, because a stream that breaks off is not requested again.
 * @throws SchemaError when the stream is longer than 8 MiB.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  label: string,
  onEvent: (type: string, data: string) => void,
): Promise<void> {
  /** The beginning of a line whose end has not arrived. */
  let rest = '';
  let isAfterReturn = false;
  let type = '';
  let data: string[] = [];
  for await (const part of textParts(body, DEFAULT_MAX_BYTES, label)) {
    // A line end of two characters may be divided between two parts.
    const text: string = isAfterReturn && part[0] === '\n' ? part.slice(1) : part;
    if (part) isAfterReturn = part.endsWith('\r');
    rest += text;
    // Without this, a long line in many parts would be searched again from its beginning with each of them.
    if (!/[\r\n]/.test(text)) continue;
    const lines = rest.split(/\r\n|\r|\n/);
    rest = lines.pop() as string;
    for (const line of lines) {
      const [, field, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) as RegExpExecArray;
      if (field === 'data') data.push(value);
      if (field === 'event') type = value;
      if (line) continue;
      if (data.length > 0) onEvent(type, data.join('\n'));
      type = '';
      data = [];
    }
  }
}
