/** The tables that a backup leaves empty, so that its readers cannot act for others. */
export const secretTables = [
  'environment_tokens',
  'editor_tokens',
  'verification_codes',
  // Its keys hold hashes of tokens, and addresses of clients.
  'rate_counters',
] as const;
