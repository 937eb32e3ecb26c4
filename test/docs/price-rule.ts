import { BuilderClient, parseIdent } from 'plugin-editor/client.js';
import { editorTokenOf } from '../demo/deploy.ts';
import type { RunningDemo } from '../demo/harness.ts';
import { targetOf } from '../demo/vendor-setup.ts';

const target = targetOf('customer-7', 'price-rule');

const rule = (lines: string) => `// price-rule: what one of an article in the basket costs.
// Prices are in cents.

const DOZEN = 12;

export const run = ({ product, count, buyer }: Input): Output => {
${lines}  return { unitPrice: product.unitPrice };
};
`;

const trade = `  if (buyer.group === 'trade') {
    return { unitPrice: Math.round(product.unitPrice * 0.8), reason: 'Trade price' };
  }
`;
const dozen = `  if (count >= DOZEN) {
    return { unitPrice: Math.round(product.unitPrice * 0.9), reason: 'By the dozen' };
  }
`;
const regular = `  if (buyer.group === 'regular' && count > 2) {
    return { unitPrice: product.unitPrice - 20, reason: 'Thank you for coming back' };
  }
`;

const rye = { sku: 'B-104', name: 'Rye loaf', unitPrice: 450 };
const croissant = { sku: 'B-310', name: 'Butter croissant', unitPrice: 210 };
const tests = [
  {
    name: 'Three loaves for a regular',
    payload: JSON.stringify(
      { product: rye, count: 3, buyer: { group: 'regular', since: '2024-11-02' } },
      null,
      2,
    ),
    expected: JSON.stringify({ unitPrice: 430, reason: 'Thank you for coming back' }, null, 2),
  },
  {
    name: 'A dozen croissants',
    payload: JSON.stringify({ product: croissant, count: 12, buyer: { group: 'retail' } }, null, 2),
    expected: JSON.stringify({ unitPrice: 189, reason: 'By the dozen' }, null, 2),
  },
];

/** Saves a plugin with two tests in the demo, deploys two versions of it, and leaves a draft that is newer and built. */
export async function savePriceRule(demo: RunningDemo): Promise<void> {
  const token = await editorTokenOf(demo, 'ada', target);
  const client = new BuilderClient({ baseUrl: demo.service, token });
  const { ident, namespace, fn } = target;
  const { environment, tenant } = parseIdent(ident);
  const plugin = { environment, userID: tenant, namespace, pluginName: fn, language: 'typescript' };
  const save = async (contents: string) => {
    await client.saveDraft(plugin, { lang: 'typescript', contents, tests });
    await client.build(plugin, contents);
  };
  for (const [contents, message] of [
    [rule(trade), 'Trade customers pay a fifth less'],
    [rule(trade + dozen), 'A tenth less from a dozen on'],
  ] as const) {
    await save(contents);
    await client.deploy(plugin, { message });
  }
  await save(rule(trade + dozen + regular));
}
