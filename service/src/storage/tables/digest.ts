import { createHash } from 'node:crypto';
import type { PluginSource } from '../../plugins/records.ts';

/** What a build depends on: the language and the text, not the tests. SHA-256 in base64url. */
export const digestOf = ({ lang, contents }: PluginSource): string =>
  createHash('sha256')
    .update(JSON.stringify([lang, contents]))
    .digest('base64url');
