import { texts } from '../locales/locale.ts';
import { type Failure, failureKey } from '../service/failure.ts';

/** The title and the text of the page where a plugin could not be opened. */
export const openFailureText = (failure: Failure): { title: string; text: string } =>
  texts().app[failureKey(failure)];
