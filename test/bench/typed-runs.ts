import type { Figure } from './figures.ts';
import { median } from './figures.ts';
import { startFixture } from './fixture-process.ts';
import { deploy as deployWith, signIn } from '../support/connection.ts';

/*
 * What types cost: plugins that take and give values, checked by schemas, against the same that read and write JSON themselves.
 */

const text = { type: 'string', maxLength: 100 };

const helloTypes = {
  input: {
    type: 'object',
    properties: {
      name: text,
      city: text,
      count: { type: 'integer' },
      isNew: { type: 'boolean' },
      price: { type: 'number' },
    },
    required: ['name', 'city', 'count', 'isNew', 'price'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      greeting: text,
      city: text,
      count: { type: 'integer' },
      isNew: { type: 'boolean' },
      price: { type: 'number' },
    },
    required: ['greeting', 'city', 'count', 'isNew', 'price'],
    additionalProperties: false,
  },
};
const hello = 'const greet = ({ name, ...rest }) => ({ greeting: `Hello, ${name}!`, ...rest });\n';
const helloInput = JSON.stringify({ name: 'Ada', city: 'London', count: 3, isNew: true, price: 9.5 });

const line = {
  type: 'object',
  properties: {
    sku: { type: 'string', pattern: '^[A-Z0-9-]+$' },
    name: text,
    quantity: { type: 'integer', minimum: 1 },
    price: { type: 'number', minimum: 0 },
    tags: { type: 'array', items: text },
  },
  required: ['sku', 'quantity', 'price'],
};
const orderTypes = {
  input: {
    type: 'object',
    properties: { id: text, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
    required: ['id', 'lines'],
    $defs: { line },
  },
  output: {
    type: 'object',
    properties: {
      total: { type: 'number' },
      lines: {
        type: 'array',
        items: {
          ...line,
          properties: { ...line.properties, sum: { type: 'number' } },
          required: ['sku', 'sum'],
        },
      },
    },
    required: ['total', 'lines'],
  },
};
const order = `const price = ({ lines }) => {
  const priced = lines.map((one) => ({ ...one, sum: one.quantity * one.price }));
  return { total: priced.reduce((sum, one) => sum + one.sum, 0), lines: priced };
};
`;
const orderInput = JSON.stringify({
  id: 'o-1',
  lines: Array.from({ length: 300 }, (_, i) => ({
    sku: `SKU-${i}`,
    name: `Thing ${i}`,
    quantity: (i % 5) + 1,
    price: i / 4,
    tags: ['a', 'b'],
  })),
});

/** Schemas that are made to take long, with input to be checked by them. */
const hostile = {
  backtracking: [{ type: 'string', pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(50_000)}!`)],
  deep: [
    {
      $ref: '#/$defs/a',
      $defs: {
        a: {
          anyOf: [
            { type: 'null' },
            { items: { anyOf: [{ $ref: '#/$defs/a' }, { allOf: [{ $ref: '#/$defs/a' }] }] } },
          ],
        },
      },
    },
    '['.repeat(500) + '1' + ']'.repeat(500),
  ],
  wide: [
    {
      anyOf: Array.from({ length: 1000 }, (_, i) => ({
        properties: { [`p${i}`]: { type: 'null' } },
        required: [`p${i}`],
      })),
    },
    JSON.stringify(Array.from({ length: 100 }, () => 1)),
  ],
  unique: [{ uniqueItems: true }, JSON.stringify(Array.from({ length: 30_000 }, (_, i) => ({ i })))],
} as const;

/** In a separate process, as vendors have it. */
export async function measureTypedRuns(): Promise<Figure[]> {
  await using service = await startFixture(64);
  const { connections, environmentToken: token } = service;
  /** Deploys a plugin, where `types` are given in a namespace with those, and says how to run it. */
  const deploy = async (namespace: string, source: string, types?: object) => {
    if (types) {
      const target = `/api/v1/environment/com.acme/namespaces/${namespace}`;
      const sent = { token, type: 'application/json', body: JSON.stringify(types) };
      const { status, body } = await connections.send('PUT', target, sent);
      if (status > 201) throw new Error(`${target}: ${status} ${body.slice(0, 300)}`);
    }
    const path = `com.acme.t1/${namespace}/plugin`;
    await deployWith(connections, path, await signIn(connections, path, token), source);
    return async (input: string): Promise<RunResponse> => {
      const response = await connections.send('POST', `/exec/${path}/v1.0.0`, { token, body: input });
      const [, took = 'NaN'] = /run;dur=([\d.]+)/.exec(String(response.headers['server-timing'])) ?? [];
      return { ...response, took: Number(took) };
    };
  };
  const reading = (name: string) =>
    `export const run = (input) => JSON.stringify(${name}(JSON.parse(input)));\n`;
  const taking = (name: string) => `export const run = (input) => ${name}(input);\n`;

  const helloText = await deploy('hello-text', hello + reading('greet'));
  const helloTyped = await deploy('hello', hello + taking('greet'), helloTypes);
  const rates = { text: [] as number[], typed: [] as number[] };
  for (let round = 0; round < 12; round++) {
    for (const [name, run] of [
      ['text', helloText],
      ['typed', helloTyped],
    ] as const) {
      const began = performance.now();
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let i = 0; i < 12; i++)
            if ((await run(helloInput)).status !== 200) throw new Error(`${name} failed`);
        }),
      );
      // The first rounds are for warming up.
      if (round > 1) rates[name].push((16 * 12 * 1000) / (performance.now() - began));
    }
  }

  const orderText = await deploy('order-text', order + reading('price'));
  const orderTyped = await deploy('order', order + taking('price'), orderTypes);
  const times = { text: [] as number[], typed: [] as number[] };
  for (let i = 0; i < 220; i++) {
    for (const [name, run] of [
      ['text', orderText],
      ['typed', orderTyped],
    ] as const) {
      const { status, took } = await run(orderInput);
      if (status !== 200) throw new Error(`The order in ${name} failed.`);
      if (i >= 20) times[name].push(took);
    }
  }

  let longest = 0;
  const beside: number[] = [];
  const alone: number[] = [];
  for (let i = 0; i < 100; i++) alone.push((await helloTyped(helloInput)).took);
  for (const [name, [input, value]] of Object.entries(hostile)) {
    const run = await deploy(`hostile-${name}`, 'export const run = () => null;\n', { input });
    await run('null');
    const state = { isOver: false };
    const running = run(value).finally(() => (state.isOver = true));
    while (!state.isOver) beside.push((await helloTyped(helloInput)).took);
    const { status, took } = await running;
    if (![200, 422, 504].includes(status))
      throw new Error(`The hostile schema ${name} was answered ${status}.`);
    longest = Math.max(longest, took);
  }
  const [slowText, slowTyped] = [median(times.text), median(times.typed)];
  const [rateText, rateTyped] = [median(rates.text), median(rates.typed)];
  return [
    {
      name: 'typed "Hello", requests a second ÷ the same as text',
      value: rateTyped / rateText,
      limit: 0.7,
      bound: 'at least',
      unit: '×',
      note: `${rateTyped.toFixed(0)} against ${rateText.toFixed(0)} a second`,
    },
    {
      name: 'an order of 300 lines, checked in and out ÷ as text',
      value: slowTyped / slowText,
      limit: 4,
      unit: '×',
      note: `${slowTyped.toFixed(2)} ms against ${slowText.toFixed(2)} ms`,
    },
    { name: 'longest run with a hostile schema', value: longest / 1000, limit: 1.2, unit: 's' },
    {
      name: 'another run beside a hostile schema ÷ alone',
      value: median(beside) / median(alone),
      limit: 4,
      unit: '×',
      note: `${median(beside).toFixed(2)} ms against ${median(alone).toFixed(2)} ms`,
    },
  ];
}

interface RunResponse {
  readonly status: number;
  readonly body: string;
  /** Of the run alone, in ms. */
  readonly took: number;
}
