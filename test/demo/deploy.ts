import { targetOf } from './vendor-setup.ts';

/** Where a vendor's app and its plugin service listen. */
interface Addresses {
  vendor: string;
  service: string;
}

/** An editor token for one of a customer's plugins, as the page of a user gets it. */
export async function editorTokenOf({ vendor }: Addresses, user: string, target: object): Promise<string> {
  const post = (path: string, body: object, cookie = '') =>
    fetch(vendor + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        origin: vendor.slice(0, -1),
        ...(cookie && { cookie }),
      },
      body: JSON.stringify(body),
    });
  const session = await post('session', { user });
  const cookie = session.headers.get('set-cookie')?.split(';', 1)[0];
  const response = await post('plugins/editor-token', target, cookie);
  const { token } = (await response.json()) as { token?: string };
  if (!token) throw new Error(`${user} got no token: ${response.status}`);
  return token;
}

/** Builds and deploys as the editor would, with what an author says of the version. */
export async function deployPlugin(
  addresses: Addresses,
  user: string,
  contents: string,
  {
    target = targetOf('customer-7'),
    message,
  }: { target?: ReturnType<typeof targetOf>; message?: string } = {},
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
  await post(`draft/${place}/promote`, 'application/json', JSON.stringify({ message }));
}
