import { readSettings } from '../settings/read-settings.ts';
import { Secrets } from '../outbound/secrets.ts';
import { secretsOf } from '../settings/complete-settings.ts';
import { migrateDatabase, openStorage } from '../storage/storage.ts';
import { readOptions } from './options.ts';
import { renewSecrets } from './renew-secrets.ts';

const usage = `Usage: plugin-editor-service migrate [--no-rollback]

Brings the schema of the database that DATABASE_URL or DATA_DIR names up to date, under a lock, and ends. Running it again
changes nothing. Services that run meanwhile go on; those that wait for the schema (AUTO_MIGRATE=off) begin.
Then encrypts with the first key of SECRETS_KEY what has one of the others.

  --no-rollback   no node of an older release uses the database any more, or will: nodes that start from now on may write
                  what only this release and later ones can read, and older ones are refused`;

/** Brings the schema up to date, and then the keys of what is encrypted. */
export async function migrate(args: string[]): Promise<void> {
  const { help, values } = readOptions(args, usage, { 'no-rollback': { type: 'boolean' } });
  if (help) {
    console.log(usage);
    return;
  }
  const settings = readSettings(process.env);
  const { database } = settings;
  const noRollback = values['no-rollback'];
  await migrateDatabase(database, noRollback);
  console.log(`The schema is up to date: ${database.engine === 'sqlite' ? database.file : database.shown}`);
  if (noRollback) console.log('Older releases refuse to start on it from now on.');
  // A file holds a single key.
  const { secretsKey = [] } = settings;
  if (secretsKey.length < 2) return;
  const secrets = new Secrets(secretsOf(settings));
  const storage = await openStorage(database, { autoMigrate: false });
  try {
    const { renewed, damaged } = await renewSecrets(storage, secrets);
    console.log(`Encrypted with the first key of SECRETS_KEY: ${renewed} that had another one`);
    if (damaged > 0) {
      console.error(
        `Could not be decrypted, and left as they are: ${damaged}. Set values of connections again, and rotate the secrets of webhooks. Where identities are not signed any more, delete the rows of identity_keys.`,
      );
    }
  } finally {
    await storage.close();
  }
}
