import { HttpError } from 'plugin-editor/server.js';
import type { EnvironmentClient, NamespaceDetails } from 'plugin-editor/server.js';
import { undefinedIfNotFound } from '../refusals.ts';
import type { PluginEntry } from '../wire.ts';

/** Where the plugins may call, and with what. */
export interface Upstreams {
  /** The origin of Larder's own API. */
  larder: string;
  /** Somebody else's API, and the key that Larder has for it. */
  rates: { origin: string; key: string };
}

const stockTemplate = (origin: string) => `// check-stock: is there enough of an article?
// Larder's API answers. It knows whose plugin asks, because the plugin service signs the request.

export const run = async (input: string): Promise<string> => {
  const { sku = 'B-104', count = 1 } = JSON.parse(input || '{}');

  const response = await fetch(\`${origin}/api/stock/\${encodeURIComponent(sku)}\`);
  if (response.status === 404) return \`There is no article \${sku}.\`;
  if (!response.ok) throw new Error(\`Larder answers \${response.status}: \${await response.text()}\`);

  const { inStock } = await response.json();
  return inStock >= count ? \`\${count} of \${sku} are there.\` : \`Of \${sku} there are only \${inStock}.\`;
};
`;

const ratesTemplate = (origin: string) => `// convert-price: what is a price in another currency?
// The plugin service adds Larder's key for the rates on the way out, so that no plugin has it.

export const run = async (input: string): Promise<string> => {
  const { euros = 1, currency = 'USD' } = JSON.parse(input || '{}');

  const response = await fetch(\`${origin}/latest?currency=\${encodeURIComponent(currency)}\`);
  if (!response.ok) throw new Error(\`There is no rate of \${currency}: \${response.status}\`);

  const { rate } = await response.json();
  return (euros * rate).toLocaleString('en', { style: 'currency', currency });
};
`;

const templatesOf = (typescript: string) => ({
  typescript,
  javascript: typescript.replace(': string', '').replace(': Promise<string>', ''),
});

/** Plugins that call: their namespaces have no types, so that input and output are text. */
export const connectedPlugins: readonly PluginEntry[] = [
  {
    namespace: 'stock',
    name: 'check-stock',
    runs: 'When you call it: it asks Larder’s own API',
    sample: '{ "sku": "C-220", "count": 3 }',
  },
  {
    namespace: 'rates',
    name: 'convert-price',
    runs: 'When you call it: it asks a service of exchange rates',
    sample: '{ "euros": 4.5, "currency": "USD" }',
  },
];

const detailsOf = ({ larder, rates }: Upstreams): Readonly<Record<string, NamespaceDetails>> => ({
  stock: {
    description: 'What is in stock, of Larder’s own API.',
    templates: templatesOf(stockTemplate(larder)),
    connections: [
      {
        name: 'larder',
        description: 'What Larder has of an article.',
        origin: larder,
        pathPrefix: '/api/stock',
        credential: { type: 'identity' },
      },
    ],
  },
  rates: {
    description: 'Exchange rates, of somebody else’s API.',
    templates: templatesOf(ratesTemplate(rates.origin)),
    connections: [
      {
        name: 'rates',
        description: 'Exchange rates of today.',
        origin: rates.origin,
        pathPrefix: '/latest',
        credential: { type: 'header', header: 'authorization', prefix: 'Bearer ' },
      },
    ],
  },
});

/**
 * Grants the plugins their requests, and stores the key. Resolves with what people should know: that the service cannot, where it has
 * no key for secrets, as on PostgreSQL without `SECRETS_KEY`; and which addresses have changed since the last start, because plugins
 * have the former ones in their text.
 */
export async function setUpConnections(
  service: EnvironmentClient,
  environment: string,
  upstreams: Upstreams,
): Promise<string[]> {
  const notices: string[] = [];
  try {
    for (const [namespace, details] of Object.entries(detailsOf(upstreams))) {
      const former = await undefinedIfNotFound(service.getNamespace({ environment, namespace }));
      const [from, to] = [former, details].map((one) => one?.connections?.[0]?.origin);
      if (from !== undefined && from !== to)
        notices.push(`Plugins of the namespace ${namespace} that call ${from} have to call ${to} now.`);
      await service.setNamespace({ environment, namespace }, details);
    }
    const value = upstreams.rates.key;
    await service.setConnectionValue({ environment, namespace: 'rates', connection: 'rates' }, { value });
  } catch (error) {
    if (!(error instanceof HttpError && error.status === 503)) throw error;
    notices.push(`Plugins of the demo cannot call: ${error.message}`);
  }
  return notices;
}
