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

/** How many texts were encrypted anew, and how many could not be decrypted. */
export interface RenewedSecrets {
  readonly renewed: number;
  readonly damaged: number;
}

/** Encrypts with the first key what has one of the others. What cannot be decrypted stays as it is. */
export async function renewSecrets(storage: Storage, secrets: Secrets): Promise<RenewedSecrets> {
  const all = { renewed: 0, damaged: 0 };
  for (const keyId of secrets.keyIds.slice(1)) {
    for (const list of sealedColumns) {
      let offset = 0;
      for (let isMore = true; isMore;) {
        const from = offset;
        // Counted by what it returns, because its work may be done again.
        const { renewed, damaged } = await storage.transaction(async (db) => {
          const found = { renewed: 0, damaged: 0 };
          for (const text of await list(db, { keyId, offset: from, limit: atOnce })) {
            const again = renew(text, secrets);
            if (again !== undefined) await text.replace(again);
            found[again === undefined ? 'damaged' : 'renewed'] += 1;
          }
          return found;
        });
        all.renewed += renewed;
        all.damaged += damaged;
        offset += damaged;
        isMore = renewed + damaged === atOnce;
      }
    }
  }
  return all;
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
