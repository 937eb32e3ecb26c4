import { Client } from 'pg';

export const changeChannel = 'plugin_service_changes';

/** How long after a lost connection the next is tried, in ms. */
const reconnectDelay = 2000;

/**
 * Listens on a connection of its own for commits with changes, and connects again whenever that breaks. While it is broken
 * nothing is lost, as nodes poll in any case.
 */
export function listenForChanges(connectionString: string, onChange: () => void): { close(): Promise<void> } {
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const connect = async () => {
    const current = new Client({
      connectionString,
      application_name: 'plugin-editor-service changes',
      connectionTimeoutMillis: 5000,
      keepAlive: true,
    });
    client = current;
    let isLost = false;
    const reconnect = () => {
      if (isLost) return;
      isLost = true;
      current.end().catch(() => {});
      if (isClosed) return;
      timer = setTimeout(() => void connect(), reconnectDelay).unref();
    };
    current.on('error', reconnect);
    current.on('end', reconnect);
    current.on('notification', onChange);
    try {
      await current.connect();
      await current.query(`listen ${changeChannel}`);
      // What was announced before this moment went unheard.
      onChange();
    } catch {
      reconnect();
    }
  };
  const connected = connect();

  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await connected;
      await client?.end().catch(() => {});
    },
  };
}
