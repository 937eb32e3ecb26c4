import { EventSourceParserStream } from 'eventsource-parser/stream';
import { SchemaError } from 'plugin-editor/client.js';
import { type BuildResult, buildResultSchema } from './records.ts';
import { type ServiceResponse, parseRecord } from './request.ts';

/**
 * Reads a streamed build: passes each `log` event to `onLog` as it comes, and resolves with the `result` event.
 * @throws SchemaError when the stream ends without a result; or what reading the stream throws.
 */
export async function readBuildStream(
  { body, label }: ServiceResponse,
  onLog: (text: string) => void,
): Promise<BuildResult> {
  const reader = body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (let part; (part = await reader?.read()) && !part.done;) {
    const { event, data } = part.value;
    if (event === 'log') onLog(data);
    if (event !== 'result') continue;
    // Nothing after the result is of interest, so the connection can end.
    reader?.cancel().catch(() => {});
    return parseRecord(buildResultSchema, data, label);
  }
  throw new SchemaError(label, 'the stream ended without a result');
}
