import { euros, templatesOf } from './place.ts';
import type { Case, Place } from './place.ts';

interface Offer {
  product: { sku: string; name: string; unitPrice: number };
  count: number;
  buyer: { group: 'retail' | 'regular' | 'trade'; since?: string };
}

interface Price {
  unitPrice: number;
  reason?: string;
}

const input = {
  type: 'object',
  description: 'An article in a basket, and who buys it.',
  required: ['product', 'count', 'buyer'],
  additionalProperties: false,
  properties: {
    product: {
      type: 'object',
      required: ['sku', 'name', 'unitPrice'],
      additionalProperties: false,
      properties: {
        sku: { type: 'string', description: 'The article number' },
        name: { type: 'string' },
        unitPrice: { type: 'integer', minimum: 0, description: 'The list price of one, in cents' },
      },
    },
    count: { type: 'integer', minimum: 1, description: 'How many are in the basket' },
    buyer: {
      type: 'object',
      required: ['group'],
      additionalProperties: false,
      properties: {
        group: { enum: ['retail', 'regular', 'trade'], description: 'What the buyer is to the shop' },
        since: {
          type: 'string',
          format: 'date',
          description: 'The day of the first order; missing before it',
        },
      },
    },
  },
};

const output = {
  type: 'object',
  description: 'What the shop asks for one.',
  required: ['unitPrice'],
  additionalProperties: false,
  properties: {
    unitPrice: { type: 'integer', minimum: 1, description: 'The price of one, in cents' },
    reason: {
      type: 'string',
      maxLength: 60,
      description: 'What the shop writes beside it, where it is not the list price',
    },
  },
};

/** What Larder gives its customers for reckoning with prices. Other contents need another version. */
export const moneyLibrary = {
  name: '@larder/money',
  version: '1.0.0',
  description: 'Reckons with amounts in whole cents.',
  contents: `export const percentOff = (cents, percent) => Math.round((cents * (100 - percent)) / 100);
`,
  declarations: `/** An amount in cents, less so many per cent of it, in whole cents again. */
export declare function percentOff(cents: number, percent: number): number;
`,
};

const template = `// price-rule: what one of an article in the basket costs.
// Prices are in cents.

import { percentOff } from '${moneyLibrary.name}';

const DOZEN = 12;

export const run = ({ product, count, buyer }: Input): Output => {
  if (buyer.group === 'trade') {
    return { unitPrice: percentOff(product.unitPrice, 20), reason: 'Trade price' };
  }
  if (count >= DOZEN) {
    return { unitPrice: percentOff(product.unitPrice, 10), reason: 'By the dozen' };
  }
  return { unitPrice: product.unitPrice };
};
`;

const rye = { sku: 'B-104', name: 'Rye loaf', unitPrice: 4_50 };
const croissant = { sku: 'B-310', name: 'Butter croissant', unitPrice: 2_10 };
const honey = { sku: 'H-002', name: 'Heather honey', unitPrice: 9_80 };

const baskets: readonly Offer[] = [
  { product: rye, count: 3, buyer: { group: 'regular', since: '2024-11-02' } },
  { product: croissant, count: 12, buyer: { group: 'retail' } },
  { product: honey, count: 6, buyer: { group: 'trade', since: '2021-05-20' } },
];

const [few, dozen, trade] = baskets as [Offer, Offer, Offer];

const caseOf = (offer: Offer): Case => ({
  input: offer,
  what: `${offer.count} × ${offer.product.name}`,
  detail: `${offer.buyer.group} customer`,
  without: euros(offer.product.unitPrice),
  show: (value) => {
    const { unitPrice, reason } = value as Price;
    return { text: euros(unitPrice), note: reason };
  },
});

/** A price that is worked out: the plugin says what one of an article costs. */
export const pricesPlace: Place = {
  namespace: 'prices',
  plugin: 'price-rule',
  runs: 'When a price is worked out',
  types: {
    description: 'The shop works out a price; the plugin says what one of the article costs.',
    input,
    output,
    samples: [
      { name: 'Three loaves for a regular', input: few, output: { unitPrice: 4_50 } satisfies Price },
      {
        name: 'A dozen croissants',
        description: 'From twelve on, each costs a tenth less.',
        input: dozen,
        output: { unitPrice: 1_89, reason: 'By the dozen' } satisfies Price,
      },
      {
        name: 'Honey for a café',
        input: trade,
        output: { unitPrice: 7_84, reason: 'Trade price' } satisfies Price,
      },
    ],
    templates: templatesOf(template),
    libraries: { [moneyLibrary.name]: moneyLibrary.version },
  },
  view: { kind: 'basket', title: 'In the basket' },
  cases: baskets.map(caseOf),
};
