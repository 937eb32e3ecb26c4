import { texts } from '../locales/locale.ts';
import type { UnusableField } from '../plugin/target.ts';

/** The message about a field whose value cannot be used. */
export function unusableText(field: UnusableField): string {
  const { unusable } = texts().app;
  return field === 'ident' || field === 'token' || field === 'address'
    ? unusable[field]
    : unusable.name(field);
}
