import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The vendor's own data. */
export interface VendorStore {
  /** The key that signs cookies. It is kept, so that a restart ends no session. */
  readonly cookieSecret: string;
  /** The plugins that a customer added, oldest first. */
  pluginsOf(ident: string): string[];
  /** Returns false when the customer has a plugin of that name already. */
  addPlugin(ident: string, name: string): boolean;
  /** Whether a customer was deleted, and not taken on again. */
  isDeleted(ident: string): boolean;
  /** Deletes a customer with the plugins that it added. */
  deleteCustomer(ident: string): void;
  /** Takes on a customer again that was deleted, and leaves any other as it is. */
  restoreCustomer(ident: string): void;
  close(): void;
}

/**
 * Opens the file in which the vendor's app keeps its own tables, making it when it is missing.
 * @param directory the data folder, which must be there
 */
export function openVendorStore(directory: string): VendorStore {
  const file = join(directory, 'vendor.sqlite');
  closeSync(openSync(file, 'a', 0o600));
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec(`
    CREATE TABLE IF NOT EXISTS vendor_secret (id INTEGER PRIMARY KEY CHECK (id = 1), secret TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS vendor_plugin (
      ident TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (ident, name)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS vendor_deleted_customer (ident TEXT NOT NULL PRIMARY KEY) STRICT;
  `);
  db.prepare('INSERT INTO vendor_secret VALUES (1, ?) ON CONFLICT DO NOTHING').run(
    randomBytes(32).toString('base64url'),
  );
  const { secret } = db.prepare('SELECT secret FROM vendor_secret').get() as { secret: string };
  const list = db.prepare('SELECT name FROM vendor_plugin WHERE ident = ? ORDER BY rowid');
  const add = db.prepare('INSERT INTO vendor_plugin VALUES (?, ?) ON CONFLICT DO NOTHING');
  const isDeleted = db.prepare('SELECT 1 FROM vendor_deleted_customer WHERE ident = ?');
  const markDeleted = db.prepare('INSERT INTO vendor_deleted_customer VALUES (?) ON CONFLICT DO NOTHING');
  const unmarkDeleted = db.prepare('DELETE FROM vendor_deleted_customer WHERE ident = ?');
  const removePlugins = db.prepare('DELETE FROM vendor_plugin WHERE ident = ?');
  return {
    cookieSecret: secret,
    pluginsOf: (ident) => list.all(ident).map((row) => row['name'] as string),
    addPlugin: (ident, name) => add.run(ident, name).changes === 1,
    isDeleted: (ident) => isDeleted.get(ident) !== undefined,
    deleteCustomer: (ident) => {
      // Marked first, so that the plugins stay closed if the process ends between the two statements.
      markDeleted.run(ident);
      removePlugins.run(ident);
    },
    restoreCustomer: (ident) => {
      if (!isDeleted.get(ident)) return;
      // Removed again, in case the process ended before it removed them the first time.
      removePlugins.run(ident);
      unmarkDeleted.run(ident);
    },
    close: () => {
      if (db.isOpen) db.close();
    },
  };
}
