import module from 'node:module';

/*
 * Loaded by NODE_OPTIONS into the processes of a run of the tests: what they import of `service/src` comes from `service/dist`,
 * which the run has built before. Node starts the service and its runners and compilers from there in half of the time, and the
 * tests try what is published.
 *
 * Plain JavaScript that every release of Node can load, because programs that the tests start load it, too.
 */

const sources = new URL('../../service/src/', import.meta.url).href;
const built = new URL('../../service/dist/', import.meta.url).href;

module.registerHooks?.({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const { url } = resolved;
    if (!url.startsWith(sources) || !url.endsWith('.ts')) return resolved;
    return { ...resolved, url: `${built}${url.slice(sources.length, -'ts'.length)}js`, format: 'module' };
  },
});
