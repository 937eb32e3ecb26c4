import { texts } from '../locales/locale.ts';
import { type Failure, failureKey } from '../service/failure.ts';

/** The words of a failure on a page that could not open its plugin. */
export const openFailureText = (failure: Failure): { title: string; text: string } =>
  texts().app[failureKey(failure)];
