import { identOf, strangerTo, tenantsOf } from './accounts.ts';
import type { Tenant, User } from './accounts.ts';
import { addedPlugin, namespaceOf, standardPlugins } from './places/places.ts';
import type { VendorStore } from './store.ts';
import type { SignedIn } from './wire.ts';

/**
 * A user that is signed in, with the customers and plugins that the user works with, as the page gets it.
 * @param service the origin of the plugin service
 */
export function describeUser(user: User, store: VendorStore, service: string): SignedIn {
  const stranger = strangerTo(user);
  const isFormer = ({ id }: Tenant) => store.isDeleted(identOf(id));
  const all = tenantsOf(user);
  return {
    user: {
      name: user.name,
      role: user.role,
      mayDeploy: user.kind === 'author',
      isStaff: user.kind === 'staff',
    },
    former: all.filter(isFormer).map(({ id, name }) => ({ ident: identOf(id), name })),
    tenants: all
      .filter((tenant) => !isFormer(tenant))
      .map(({ id, name }) => ({
        ident: identOf(id),
        name,
        plugins: [...standardPlugins, ...store.pluginsOf(identOf(id)).map(addedPlugin)],
      })),
    stranger: stranger && {
      ident: identOf(stranger.id),
      name: stranger.name,
      namespace: namespaceOf('price-rule'),
      fn: 'price-rule',
    },
    service: { editorUrl: `${service}/editor/`, builder: service },
  };
}
