import { templatesOf } from './place.ts';
import type { Case, Place } from './place.ts';

interface Recipient {
  occasion: 'confirmed' | 'shipped' | 'birthday';
  customer: { firstName: string; lastName?: string; language: 'en' | 'de' | 'fr'; orders: number };
  hour: number;
}

interface Greeting {
  greeting: string;
  closing?: string;
}

const input = {
  type: 'object',
  description: 'A mail that is about to be written.',
  required: ['occasion', 'customer', 'hour'],
  additionalProperties: false,
  properties: {
    occasion: { enum: ['confirmed', 'shipped', 'birthday'], description: 'What the mail is about' },
    customer: {
      type: 'object',
      required: ['firstName', 'language', 'orders'],
      additionalProperties: false,
      properties: {
        firstName: { type: 'string', minLength: 1 },
        lastName: { type: 'string' },
        language: { enum: ['en', 'de', 'fr'], description: 'The language that the customer reads' },
        orders: { type: 'integer', minimum: 0, description: 'How many orders there were' },
      },
    },
    hour: {
      type: 'integer',
      minimum: 0,
      maximum: 23,
      description: 'The hour of the day where the customer is',
    },
  },
};

const line = (description: string) => ({
  type: 'string',
  minLength: 1,
  maxLength: 80,
  pattern: '^[^\\r\\n]*$',
  description: `${description}: one line`,
});

const output = {
  type: 'object',
  description: 'How the mail begins, and how it ends.',
  required: ['greeting'],
  additionalProperties: false,
  properties: {
    greeting: line('The first line of the mail'),
    closing: line('The last line, instead of Larder’s own'),
  },
};

const template = `// greet-customer: how a mail to a customer begins.
// Change the words to sound like your shop.

const words = {
  en: { morning: 'Good morning', day: 'Hello' },
  de: { morning: 'Guten Morgen', day: 'Hallo' },
  fr: { morning: 'Bonjour', day: 'Bonjour' },
};

export const run = ({ occasion, customer, hour }: Input): Output => {
  const { morning, day } = words[customer.language];
  const greeting = \`\${hour < 11 ? morning : day}, \${customer.firstName}!\`;

  if (occasion === 'birthday') return { greeting, closing: 'There is a slice of cake with your name on it.' };
  return { greeting };
};
`;

const recipients: readonly Recipient[] = [
  {
    occasion: 'confirmed',
    customer: { firstName: 'Ines', lastName: 'Duarte', language: 'en', orders: 1 },
    hour: 8,
  },
  {
    occasion: 'shipped',
    customer: { firstName: 'Jonas', lastName: 'Falk', language: 'de', orders: 13 },
    hour: 15,
  },
  { occasion: 'birthday', customer: { firstName: 'Margaux', language: 'fr', orders: 4 }, hour: 10 },
];

const [confirmed, , birthday] = recipients as [Recipient, Recipient, Recipient];

const subjects: Readonly<Record<Recipient['occasion'], string>> = {
  confirmed: 'Your order is in',
  shipped: 'Your parcel is on its way',
  birthday: 'Happy birthday',
};

const caseOf = (recipient: Recipient): Case => ({
  input: recipient,
  what: subjects[recipient.occasion],
  detail: `to ${recipient.customer.firstName}, at ${recipient.hour}:00`,
  without: 'Dear customer,',
  show: (value) => {
    const { greeting, closing } = value as Greeting;
    return { text: greeting, note: closing };
  },
});

/** The greeting of a mail: the plugin says how it begins. */
export const mailPlace: Place = {
  namespace: 'mail',
  plugin: 'greet-customer',
  runs: 'When an e-mail to a customer begins',
  types: {
    description: 'An e-mail to a customer is written; the plugin says how it begins.',
    input,
    output,
    samples: [
      {
        name: 'In the morning',
        input: confirmed,
        output: { greeting: 'Good morning, Ines!' } satisfies Greeting,
      },
      {
        name: 'A birthday',
        description: 'The mail then ends with a promise.',
        input: birthday,
        output: {
          greeting: 'Bonjour, Margaux!',
          closing: 'There is a slice of cake with your name on it.',
        } satisfies Greeting,
      },
    ],
    templates: templatesOf(template),
  },
  view: { kind: 'letters', title: 'In the post' },
  cases: recipients.map(caseOf),
};
