import { EventSourceParserStream } from 'eventsource-parser/stream';
import { SchemaError } from '../../../src/core/errors.ts';
import { checkShape } from '../../../src/core/request.ts';
import { type BuildResult, buildResultSchema } from './records.ts';

/**
 * Reads a streamed build: hands on each `log` event as it comes, and answers with the `result` event.
 * @throws SchemaError when the stream ends without a result; or what reading it throws.
 */
export async function readBuildStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onLog: (text: string) => void,
  where: string,
): Promise<BuildResult> {
  const reader = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (let part; !(part = await reader.read()).done;) {
    const { event, data } = part.value;
    if (event === 'log') onLog(logText(data));
    if (event !== 'result') continue;
    // What comes after it, nobody waits for.
    void reader.cancel();
    return checkShape(buildResultSchema, parsed(data, where), where);
  }
  throw new SchemaError(where, 'the stream ended without a result');
}

/** The text of a `log` event, which builders send as it is, as JSON text, or as the one text of a JSON object. */
function logText(data: string): string {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'string') return value;
    const texts = Object.values(Object(value) as object).filter((one) => typeof one === 'string');
    return typeof value === 'object' && texts.length === 1 ? (texts[0] as string) : data;
  } catch {
    return data;
  }
}

function parsed(data: string, where: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new SchemaError(where, 'the result is not JSON');
  }
}
