/** The tables whose rows a backup does not hold: who reads one must not be able to act for anybody. */
export const secretTables = [
  'environment_tokens',
  'editor_tokens',
  'verification_codes',
  // Its keys hold hashes of tokens, and addresses of clients.
  'rate_counters',
] as const;
