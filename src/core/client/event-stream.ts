import { SchemaError } from '../errors.ts';
import { DEFAULT_MAX_BYTES } from '../request.ts';

/**
 * Reads a `text/event-stream` to its end, and calls `onEvent` with each event as soon as it is whole. Comments, ids and reconnection
 * times are left out: a build is never asked for again by itself.
 * @throws SchemaError when all together is longer than 8 MiB.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  where: string,
  onEvent: (type: string, data: string) => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let size = 0;
  let isAfterReturn = false;
  let type = '';
  let data: string[] = [];
  for (let part; !(part = await reader.read()).done;) {
    size += part.value.length;
    if (size > DEFAULT_MAX_BYTES) throw new SchemaError(where, `larger than ${DEFAULT_MAX_BYTES} bytes`);
    let text = decoder.decode(part.value, { stream: true });
    // The second half of a line end whose first half came with the part before.
    if (isAfterReturn && text[0] === '\n') text = text.slice(1);
    if (text) isAfterReturn = text.endsWith('\r');
    rest += text;
    // A long line that comes in many parts is not searched again with each of them.
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
