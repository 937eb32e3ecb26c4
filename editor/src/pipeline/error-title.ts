import { texts } from '../locales/locale.ts';

/** What stands above the message of an error. That the plugin threw one is what the message says by itself. */
export const errorTitle = (code: string | undefined): string =>
  code && code !== 'plugin-error' ? texts().result.errorCode(code) : texts().result.error;
