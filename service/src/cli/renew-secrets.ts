import { valueContext } from '../outbound/calls.ts';
import { identityKeyContext } from '../outbound/identity.ts';
import { SecretsUnavailableError } from '../outbound/secrets.ts';
import type { Secrets } from '../outbound/secrets.ts';
import type { Storage } from '../storage/storage.ts';
import { sealedColumns } from '../storage/tables/sealed-texts.ts';
import type { SealedText } from '../storage/tables/sealed-texts.ts';
import { secretContext } from '../webhooks/sender.ts';

/** How many texts one transaction encrypts anew, so that others wait little for it. */
const atOnce = 100;

/** Encrypts with the first key what has one of the others. Resolves with how many texts it were. */
export async function renewSecrets(storage: Storage, secrets: Secrets): Promise<number> {
  let renewed = 0;
  for (const keyId of secrets.keyIds.slice(1)) {
    for (const list of sealedColumns) {
      // Those that cannot be decrypted stay, and are passed over.
      let damaged = 0;
      for (let isMore = true; isMore;) {
        isMore = await storage.transaction(async (db) => {
          const texts = await list(db, { keyId, offset: damaged, limit: atOnce });
          for (const text of texts) {
            const again = renew(text, secrets);
            if (again === undefined) damaged += 1;
            else {
              await text.replace(again);
              renewed += 1;
            }
          }
          return texts.length === atOnce;
        });
      }
    }
  }
  return renewed;
}

function renew({ sealed, owner }: SealedText, secrets: Secrets): string | undefined {
  const context = contextOf(owner);
  try {
    return secrets.seal(secrets.open(sealed, context), context);
  } catch (error) {
    if (error instanceof SecretsUnavailableError) return undefined;
    throw error;
  }
}

/** What a text is encrypted for. */
function contextOf(owner: SealedText['owner']): readonly (string | number)[] {
  if (owner.kind === 'connection') return valueContext(owner, owner, owner.connection);
  return owner.kind === 'identity' ? identityKeyContext(owner.id) : secretContext(owner.id);
}
