/** Plugins that are measured: what they are made of, what they are called with, and what they have to answer. */
export interface Example {
  /** JavaScript. */
  contents: string;
  input: string;
  output: string;
}

/** The service's template for a new plugin in JavaScript of this name. */
export const hello = (name: string): Example => ({
  contents: `const plugin = {
  name: ${JSON.stringify(name)},
  namespace: "default",
};

/**
 * Runs each time the plugin is called.
 * @param {string} input what the caller sent
 * @returns {string} what the caller gets back
 */
export function run(input) {
  const name = input.trim() || "world";
  return \`Hello, \${name}! This is \${plugin.name} in \${plugin.namespace}.\`;
}
`,
  input: 'Ada',
  output: `Hello, Ada! This is ${name} in default.`,
});

interface OrderLine {
  sku: string;
  quantity: number;
  price: number;
}

const amountOf = ({ quantity, price }: OrderLine) => quantity * price;

/** An order of 300 lines, about 12 KB of JSON, which is parsed, summed up, sorted and printed. */
export function order(): Example {
  // Spread over the whole range, the same each time.
  const lines = Array.from({ length: 300 }, (_, i) => ({
    sku: `A-${1000 + ((i * 7919) % 8999)}`,
    quantity: 1 + ((i * 31) % 12),
    price: 100 + ((i * 6007) % 9900),
  }));
  const sorted = lines.toSorted((a, b) => amountOf(b) - amountOf(a));
  const total = lines.reduce((sum, line) => sum + amountOf(line), 0);
  return {
    contents: `const amountOf = ({ quantity, price }) => quantity * price;

export function run(input) {
  const order = JSON.parse(input);
  let total = 0;
  for (const line of order.lines) total += amountOf(line);
  order.lines.sort((a, b) => amountOf(b) - amountOf(a));
  return JSON.stringify({ customer: order.customer, total, lines: order.lines });
}
`,
    input: JSON.stringify({ customer: 'customer-7', lines }),
    output: JSON.stringify({ customer: 'customer-7', total, lines: sorted }),
  };
}

/** Plugins that do the worst that is known to the service that runs them. */
export const worst: readonly { name: string; lang: string; contents: string }[] = [
  {
    name: 'endless-javascript',
    lang: 'javascript',
    contents: 'export function run() { for (;;); }\n',
  },
  {
    name: 'endless-assemblyscript',
    lang: 'assemblyscript',
    contents: 'export function run(input: string): string { while (true) {} }\n',
  },
  {
    // Little to read, but thousands of local variables, for which the engine's compiler takes gigabytes.
    name: 'many-locals',
    lang: 'assemblyscript',
    contents: [
      '// @ts-ignore: decorator',
      '@inline function f0(x: i32): i32 {',
      ...Array.from({ length: 20 }, (_, i) => `  x = x * 31 + ${i} ^ x;`),
      '  return x;',
      '}',
      ...Array.from(
        { length: 12 },
        (_, i) => `@inline function f${i + 1}(x: i32): i32 { return f${i}(x) + f${i}(x + 1); }`,
      ),
      'export function run(input: string): string { return f12(input.length).toString(); }',
      '',
    ].join('\n'),
  },
  {
    // One instruction that takes long, and that nothing can end before it is done.
    name: 'memory-fill',
    lang: 'assemblyscript',
    contents: `export function run(input: string): string {
  memory.grow(400);
  while (true) memory.fill(0, 1, memory.size() << 16);
}
`,
  },
];
