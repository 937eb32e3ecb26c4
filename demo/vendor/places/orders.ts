import { euros, templatesOf } from './place.ts';
import type { Case, Place } from './place.ts';

interface Order {
  number: number;
  placedAt: string;
  customer: { name: string; email: string; orders: number };
  lines: { sku: string; name: string; count: number; unitPrice: number }[];
  delivery: 'pickup' | 'courier';
  note?: string;
}

interface Decision {
  accept: boolean;
  reason?: string;
  packing?: { firstOrder?: boolean; large?: boolean; gift?: boolean };
}

const cents = (description: string) => ({
  type: 'integer',
  minimum: 0,
  description: `${description}, in cents`,
});

const input = {
  type: 'object',
  description: 'An order as it comes in, before Larder stores it.',
  required: ['number', 'placedAt', 'customer', 'lines', 'delivery'],
  additionalProperties: false,
  properties: {
    number: { type: 'integer', minimum: 1, description: 'The number that the customer is told' },
    placedAt: {
      type: 'string',
      format: 'date-time',
      description: 'When it was placed, such as 2026-03-14T09:26:00Z',
    },
    customer: {
      type: 'object',
      required: ['name', 'email', 'orders'],
      additionalProperties: false,
      properties: {
        name: { type: 'string' },
        email: { type: 'string', format: 'email' },
        orders: { type: 'integer', minimum: 0, description: 'How many orders there were before this one' },
      },
    },
    lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' }, description: 'What was ordered' },
    delivery: { enum: ['pickup', 'courier'], description: 'How it gets to the customer' },
    note: { type: 'string', maxLength: 500, description: 'What the customer wrote beside it' },
  },
  $defs: {
    line: {
      type: 'object',
      description: 'One article of an order.',
      required: ['sku', 'name', 'count', 'unitPrice'],
      additionalProperties: false,
      properties: {
        sku: { type: 'string', description: 'The article number' },
        name: { type: 'string' },
        count: { type: 'integer', minimum: 1 },
        unitPrice: cents('The price of one'),
      },
    },
  },
};

const output = {
  type: 'object',
  description: 'What Larder does with the order.',
  required: ['accept'],
  additionalProperties: false,
  properties: {
    accept: {
      type: 'boolean',
      description: 'Whether the order is stored; the customer is told at once if not',
    },
    reason: { type: 'string', maxLength: 120, description: 'What the customer is told where it is not' },
    packing: {
      type: 'object',
      description: 'What the packing table should know',
      additionalProperties: false,
      properties: {
        firstOrder: { type: 'boolean', description: 'The customer’s first order: a card goes with it' },
        large: { type: 'boolean', description: 'Two people carry it' },
        gift: { type: 'boolean', description: 'Wrapped, and without the bill' },
      },
    },
  },
};

const template = `// add-record: is this order stored, and what should the
// packing table know of it?

const LARGE = 100_00; // in cents

export const run = ({ customer, lines, delivery, note = '' }: Input): Output => {
  const total = lines.reduce((sum, { count, unitPrice }) => sum + count * unitPrice, 0);

  if (delivery === 'courier' && total < 15_00) {
    return { accept: false, reason: 'By courier we deliver from € 15 upwards.' };
  }
  return {
    accept: true,
    packing: {
      firstOrder: customer.orders === 0,
      large: total >= LARGE,
      gift: /gift|birthday/i.test(note),
    },
  };
};
`;

const rye = { sku: 'B-104', name: 'Rye loaf', count: 3, unitPrice: 4_50 };
const tart = { sku: 'C-220', name: 'Plum tart', count: 1, unitPrice: 18_00 };

const orders: readonly Order[] = [
  {
    number: 1042,
    placedAt: '2026-03-14T07:26:00Z',
    customer: { name: 'Ines Duarte', email: 'ines@example.com', orders: 0 },
    lines: [rye, tart],
    delivery: 'courier',
    note: 'A birthday! Please no knife in the box.',
  },
  {
    number: 1043,
    placedAt: '2026-03-14T07:41:00Z',
    customer: { name: 'Jonas Falk', email: 'jonas@example.com', orders: 12 },
    lines: [{ ...rye, count: 1 }],
    delivery: 'courier',
  },
  {
    number: 1044,
    placedAt: '2026-03-14T08:03:00Z',
    customer: { name: 'Hotel Seeblick', email: 'kitchen@example.com', orders: 208 },
    lines: [
      { ...rye, count: 24 },
      { sku: 'B-310', name: 'Butter croissant', count: 60, unitPrice: 2_10 },
    ],
    delivery: 'pickup',
  },
];

const [first, second] = orders as [Order, Order, Order];

const caseOf = (order: Order): Case => ({
  input: order,
  what: `No. ${order.number}, ${order.customer.name}`,
  detail: `${euros(totalOf(order))}, ${order.delivery}`,
  without: 'Stored',
  show: (value) => {
    const { accept, reason, packing = {} } = value as Decision;
    if (!accept) return { text: 'Turned down', note: reason };
    const notes = [packing.firstOrder && 'first order', packing.large && 'large', packing.gift && 'gift'];
    return { text: 'Stored', note: notes.filter(Boolean).join(', ') || undefined };
  },
});

const totalOf = ({ lines }: Order) => lines.reduce((sum, { count, unitPrice }) => sum + count * unitPrice, 0);

/** An order that comes in: the plugin says whether it is stored, and what the packing table sees. */
export const ordersPlace: Place = {
  namespace: 'orders',
  plugin: 'add-record',
  runs: 'When an order comes in, before it is stored',
  types: {
    description: 'An order comes in; the plugin says whether Larder stores it.',
    input,
    output,
    samples: [
      {
        name: 'A first order, as a gift',
        description: 'The packing table should know both.',
        input: first,
        output: { accept: true, packing: { firstOrder: true, large: false, gift: true } } satisfies Decision,
      },
      {
        name: 'Too little for the courier',
        input: second,
        output: {
          accept: false,
          reason: 'By courier we deliver from € 15 upwards.',
        } satisfies Decision,
      },
    ],
    templates: templatesOf(template),
  },
  view: { kind: 'orders', title: 'This morning’s orders' },
  cases: orders.map(caseOf),
};
