import type { Rule } from './script-rules.ts';

const RULE_KEYS = new Set(
  'path method times status headers redirect json html body bodyRepeat bodyBase64 delay drop cors'.split(' '),
);
const BODY_KEYS = ['json', 'html', 'body', 'bodyRepeat', 'bodyBase64'] as const;

/** A slip in a rule must fail the test that made it, not end as a surprising answer. */
export function checkRule(rule: Rule): void {
  const unknown = Object.keys(rule).filter((key) => !RULE_KEYS.has(key));
  if (unknown.length > 0) throw new Error(`A rule has no ${unknown.map((key) => `"${key}"`).join(', ')}`);
  if (!rule.path.startsWith('/') && rule.path !== '*') {
    throw new Error(`A rule's path starts with "/" (or is "*"), not "${rule.path}"`);
  }
  if (rule.path.includes('?')) throw new Error(`A rule's path has no query: "${rule.path}"`);
  const bodies = BODY_KEYS.filter((key) => rule[key] !== undefined);
  if (bodies.length > 1) throw new Error(`A rule has one body, not ${bodies.join(' and ')}`);
}
