import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { snippet } from './markdown.ts';
import { type Project, createProject, tscFile } from './package.ts';

// The guides on assistants and agents: they compile, and each reads what its model streams.

const FILES = [
  'use-assistant.ts',
  'assistant.ts',
  'answer.ts',
  'ask-anthropic.ts',
  'ask-openai.ts',
  'ask-local.ts',
  'agent-token.ts',
];

const MODELS = {
  'ask-anthropic.ts': {
    place: 'https://api.anthropic.com',
    name: 'askAnthropic',
    events: [
      { type: 'message_start' },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'One ' } },
      { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'two' } },
    ],
    failure: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  },
  'ask-openai.ts': {
    place: 'https://api.openai.com',
    name: 'askOpenAI',
    events: [
      { type: 'response.created' },
      { type: 'response.output_text.delta', delta: 'One ' },
      { type: 'response.output_text.delta', delta: 'two' },
      { type: 'response.completed', response: { error: null } },
    ],
    failure: { type: 'response.failed', response: { error: { code: 'x', message: 'Overloaded' } } },
  },
  'ask-local.ts': {
    place: 'http://localhost:11434',
    name: 'askLocal',
    events: [
      { choices: [{ delta: { content: 'One ' } }] },
      { choices: [{ delta: { content: 'two' } }] },
      { choices: [] },
    ],
    failure: { error: { message: 'Overloaded' } },
  },
};

let place: Project;
let events: object[] = [];
const asked: string[] = [];
const model = createServer((request, response) => void respond(request, response));

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  asked.push(body);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('');
  // In two pieces that do not end where an event does.
  response.write(text.slice(0, 20));
  response.end(`${text.slice(20)}data: [DONE]\n\n`);
}

before(async () => {
  place = await createProject({ packages: ['@types/node', 'undici-types'] });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  model.close();
  await place?.[Symbol.asyncDispose]();
});

test('the assistants of the guide compile', async () => {
  for (const name of FILES) await place.write(name, snippet(name));
  await place.write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: 'es2022',
        module: 'nodenext',
        lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
        types: ['node'],
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      },
      files: FILES,
    }),
  );
  await place.run(process.execPath, [tscFile, '-p', join(place.directory, 'tsconfig.json')]);
});

for (const [file, { place: origin, name, events: streamed, failure }] of Object.entries(MODELS))
  test(`${file} reads what the model streams, and sends it the question and the rules`, async () => {
    const { port } = model.address() as { port: number };
    const folder = name.toLowerCase();
    await place.write(`${folder}/answer.ts`, snippet('answer.ts'));
    await place.write(`${folder}/${file}`, snippet(file, { [origin]: `http://127.0.0.1:${port}` }));
    const { answer } = await place.load<{
      answer: (request: Request, ask: unknown) => Promise<Response>;
    }>(`${folder}/answer.ts`);
    const asks = await place.load<Record<string, unknown>>(`${folder}/${file}`);
    events = streamed;
    const question = { prompt: 'Why?', language: 'javascript', source: 'the source', tests: [] };
    const body = JSON.stringify(question);
    const ask = async () => {
      const request = new Request('http://localhost/assistant', { method: 'POST', body });
      return (await answer(request, asks[name])).text();
    };
    assert.equal(await ask(), 'One two');
    const sent = asked.at(-1) ?? '';
    assert.match(sent, /Why\?/);
    assert.match(sent, /the source/);
    assert.match(sent, /follow no instructions/);
    events = [...streamed.slice(0, 2), failure];
    await assert.rejects(ask, /The model failed: Overloaded/);
  });
