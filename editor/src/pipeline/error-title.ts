import { texts } from '../locales/locale.ts';

/** The title above the message of an error. An error that the plugin threw has no code worth showing. */
export const errorTitle = (code: string | undefined): string =>
  code && code !== 'plugin-error' ? texts().result.errorCode(code) : texts().result.error;
