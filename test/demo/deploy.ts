import { targetOf } from './vendor-setup.ts';

/** Where a vendor's app and its plugin service listen. */
interface Addresses {
  vendor: string;
  service: string;
}

/** Signs a user in at the vendor's app; resolves with what sends that user's requests, as the vendor's own page does. */
export async function signInAt(vendor: string, user: string) {
  let cookie = '';
  const send = (method: string, path: string, body: object) =>
    fetch(vendor + path, {
      method,
      headers: {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        origin: vendor.slice(0, -1),
        ...(cookie && { cookie }),
      },
      body: JSON.stringify(body),
    });
  const session = await send('POST', 'session', { user });
  cookie = session.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  return send;
}

/** An editor token for one of a customer's plugins, as the page of a user gets it. */
export async function editorTokenOf({ vendor }: Addresses, user: string, target: object): Promise<string> {
  const send = await signInAt(vendor, user);
  const response = await send('POST', 'plugins/editor-token', target);
  const { token } = (await response.json()) as { token?: string };
  if (!token) throw new Error(`${user} got no token: ${response.status}`);
  return token;
}

/** Builds and deploys as the editor would, with what an author says of the version, or as a rollout. */
export async function deployPlugin(
  addresses: Addresses,
  user: string,
  contents: string,
  {
    target = targetOf('customer-7'),
    message,
    rollout,
  }: { target?: ReturnType<typeof targetOf>; message?: string; rollout?: { percent: number } } = {},
): Promise<void> {
  const token = await editorTokenOf(addresses, user, target);
  const post = async (path: string, type: string, body: string) => {
    const response = await fetch(`${addresses.service}api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      body,
    });
    if (!response.ok) throw new Error(`${path} is answered ${response.status}: ${await response.text()}`);
  };
  const place = `${target.ident}/${target.namespace}/${target.fn}`;
  await post(`build/javascript/${place}`, 'text/plain', contents);
  await post(`draft/${place}/promote`, 'application/json', JSON.stringify({ message, rollout }));
}
