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
    if (event === 'log') onLog(data);
    if (event !== 'result') continue;
    // What comes after it, nobody waits for.
    void reader.cancel();
    return checkShape(buildResultSchema, parsed(data, where), where);
  }
  throw new SchemaError(where, 'the stream ended without a result');
}

function parsed(data: string, where: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new SchemaError(where, 'the result is not JSON');
  }
}
