import type { EnvironmentClient } from 'plugin-editor/server.js';
import { connectedPlugins } from './connected.ts';
import { mailPlace } from './mail.ts';
import { ordersPlace } from './orders.ts';
import type { Place } from './place.ts';
import { moneyLibrary, pricesPlace } from './prices.ts';
import type { PluginEntry } from '../wire.ts';

/** The places in Larder for which every customer can write a plugin. */
export const places: readonly Place[] = [ordersPlace, pricesPlace, mailPlace];

/** The namespace of the plugins that customers add. It has no types, so input and output are text. */
const TEXT_NAMESPACE = 'default';

export const findPlace = (plugin: string): Place | undefined =>
  places.find((place) => place.plugin === plugin);

/** The namespace that a plugin of this name is in. */
export const namespaceOf = (plugin: string): string =>
  standardPlugins.find(({ name }) => name === plugin)?.namespace ?? TEXT_NAMESPACE;

/** The plugins that every customer has. */
export const standardPlugins: readonly PluginEntry[] = [
  ...places.map(({ namespace, plugin, runs, view, cases: [first] }) => ({
    namespace,
    name: plugin,
    runs,
    sample: JSON.stringify(first?.input, null, 2),
    view,
  })),
  ...connectedPlugins,
];

/** A plugin that a customer added. */
export const addedPlugin = (name: string): PluginEntry => ({
  namespace: TEXT_NAMESPACE,
  name,
  runs: 'When you call it by name',
  sample: 'Ada',
});

/** Publishes what plugins may import, and sets the types of each place at the plugin service. To do so again changes nothing. */
export async function setUpPlaces(service: EnvironmentClient, environment: string): Promise<void> {
  const { name: library, version, ...details } = moneyLibrary;
  await service.putLibrary({ environment, library, version }, details);
  for (const { namespace, types } of places) await service.setNamespace({ environment, namespace }, types);
}
