import * as backEnd from './back-end.ts';
import { change, signedInAccount, state } from './state.ts';

/** How often the back end is asked what it was told, in ms, while the drawer that shows it is open. */
const INTERVAL = 2000;

/** How many are shown. */
const MAX_SHOWN = 50;

/** Shows what the plugin service tells Larder's back end. */
export function followWebhooks(): void {
  /** Who was signed in for `last`, the number of the last message that was asked for. */
  let user: string | undefined;
  let last = 0;
  const ask = async () => {
    const name = signedInAccount(state)?.user.name;
    if (name !== user) {
      [user, last] = [name, 0];
      change({ webhooks: [] });
    }
    if (name === undefined || state.drawer === 'closed') return;
    const { body } = await backEnd.loadWebhooks(last);
    if (!body || signedInAccount(state)?.user.name !== name) return;
    // A back end that was started again counts from 1.
    last = body.last < last ? 0 : body.last;
    if (body.messages.length) change({ webhooks: [...state.webhooks, ...body.messages].slice(-MAX_SHOWN) });
  };
  const next = () => void ask().finally(() => setTimeout(next, INTERVAL));
  next();
}
