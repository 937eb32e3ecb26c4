import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/** What the vendor's app remembers. */
export interface VendorStore {
  /** Signs the cookies; made once, so that nobody is signed out by a restart. */
  readonly cookieSecret: string;
  /** The plugins that a customer added, oldest first. */
  pluginsOf(ident: string): string[];
  /** False when the customer has it already. */
  addPlugin(ident: string, name: string): boolean;
  close(): void;
}

/**
 * Opens the vendor's own two tables. They lie in the plugin service's file, so that there is one file to keep or to
 * delete; neither side reads the other's tables.
 */
export function openVendorStore(file: string): VendorStore {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec(`
    CREATE TABLE IF NOT EXISTS vendor_secret (id INTEGER PRIMARY KEY CHECK (id = 1), secret TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS vendor_plugin (
      ident TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (ident, name)
    ) STRICT;
  `);
  db.prepare('INSERT INTO vendor_secret VALUES (1, ?) ON CONFLICT DO NOTHING').run(
    randomBytes(32).toString('base64url'),
  );
  const { secret } = db.prepare('SELECT secret FROM vendor_secret').get() as { secret: string };
  const list = db.prepare('SELECT name FROM vendor_plugin WHERE ident = ? ORDER BY rowid');
  const add = db.prepare('INSERT INTO vendor_plugin VALUES (?, ?) ON CONFLICT DO NOTHING');
  return {
    cookieSecret: secret,
    pluginsOf: (ident) => list.all(ident).map((row) => row['name'] as string),
    addPlugin: (ident, name) => add.run(ident, name).changes === 1,
    close: () => {
      if (db.isOpen) db.close();
    },
  };
}
