import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type * as z from 'zod/mini';
import { checkConfig, missingAttributes, preloadUrl } from '../../src/core/config.ts';
import { parseWith } from '../../src/core/client/operation.ts';
import { buildEditorUrl, parseEditorUrl } from '../../src/core/url.ts';
import { PluginEditorError, RequestError } from '../../src/core/errors.ts';
import { editorTokenSchema, featuresSchema, pluginSourceSchema } from '../../src/core/records.ts';
import { parseFeatures } from '../../src/element/features-store.ts';
import { readJson, request } from '../../src/core/request.ts';
import { getToken, parseEditorToken } from '../../src/core/token.ts';

import {
  type ArbitraryResponse,
  almostToken,
  arbitraryResponse,
  checkFrameAddress,
  optional,
  page,
  rawAttributes,
  responseOf,
  text,
  webUrl,
} from './arbitraries.ts';

// Properties that hold for every input. The caller chooses the number of runs.

/** The interface's own parameters, however they are written. */
const RESERVED = /^(?:builder|token|ident|namespace|fn|template)$/;
const decoded = (piece: string) => [...new URLSearchParams(`&${piece}`).keys()][0] ?? '';

export const addressesAreInverse = fc.property(
  page,
  fc.record({
    builder: webUrl,
    token: optional,
    ident: text,
    namespace: optional,
    fn: text,
    template: optional,
  }),
  (editorUrl, values) => {
    const written = buildEditorUrl({ editorUrl, ...values });
    const { editorUrl: read, ...rest } = parseEditorUrl(written);
    const response = Object.entries(values).filter(([, value]) => value !== undefined);
    assert.deepEqual(rest, { namespace: 'default', ...Object.fromEntries(response) });
    // Foreign parameters are unchanged byte for byte, as is the rest of the URL.
    const [expected, found] = [new URL(editorUrl), new URL(read)];
    const foreign = expected.search
      .slice(1)
      .split('&')
      .filter(Boolean)
      .filter((piece) => !RESERVED.test(decoded(piece)));
    assert.deepEqual(found.search.slice(1).split('&').filter(Boolean), foreign);
    for (const part of ['origin', 'pathname', 'hash'] as const) assert.equal(found[part], expected[part]);
    assert.equal(buildEditorUrl({ editorUrl: read, ...rest }), written);
  },
);

export const framesStayAtTheEditor = fc.property(rawAttributes, text, (raw, token) => {
  const base = 'https://page.test/app/';
  const ahead = preloadUrl(raw, base);
  if (ahead !== undefined) checkFrameAddress(ahead, raw.editorUrl, base);
  if (missingAttributes(raw).length) return;
  let config;
  try {
    config = checkConfig(raw, base);
  } catch (error) {
    assert.ok(error instanceof PluginEditorError && error.code === 'config', String(error));
    return;
  }
  checkFrameAddress(config.editorUrl, raw.editorUrl, base);
  const address = buildEditorUrl({ ...config, token });
  checkFrameAddress(address, raw.editorUrl, base);
  // No value becomes part of another parameter.
  const { searchParams } = new URL(address);
  for (const [name, value] of [
    ['builder', config.builder],
    ['token', token],
    ['ident', config.ident],
    ['fn', config.fn],
  ] as const) {
    assert.deepEqual(searchParams.getAll(name), [value]);
  }
});

const url = 'https://builder.test/api';

/** The oracle: the record that zod's schemas find in the response. */
function expectedRecord({ status, bytes, breaks }: ArbitraryResponse, schema: z.ZodMiniType): unknown {
  if (status === 'redirect' || status > 299 || breaks) return undefined;
  try {
    return schema.safeParse(
      JSON.parse(new TextDecoder().decode([204, 205].includes(status) ? undefined : bytes)),
    ).data;
  } catch {
    return undefined;
  }
}

/** Every response is a record of its schema, or a `RequestError`. */
export const noResponseCrashes = fc.asyncProperty(arbitraryResponse, async (response) => {
  for (const [parse, schema] of [
    [parseEditorToken, editorTokenSchema],
    [parseFeatures, featuresSchema],
    [parseWith<unknown>(pluginSourceSchema), pluginSourceSchema],
  ] as const) {
    const expected = expectedRecord(response, schema);
    const fetch = () => Promise.resolve(responseOf(response));
    const reading = request({ url, fetch, retry: 0, timeout: 10_000 }, readJson<unknown>(parse));
    if (expected !== undefined) {
      assert.deepEqual((await reading).data, expected);
      continue;
    }
    const error = await reading.then(
      () => assert.fail('What is no record was taken for one'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof RequestError, String(error));
    assert.doesNotMatch(error.message, /undefined|\[object/);
  }
});

const plugin = { ident: 'a.b', namespace: 'n', fn: 'f', signal: new AbortController().signal };

/** Every result of `fetchToken` is a usable token, or a `PluginEditorError`. */
export const noHostCrashes = fc.asyncProperty(
  fc.oneof(fc.anything({ withBigInt: true, withDate: true, withMap: true }), almostToken),
  fc.boolean(),
  async (value, throws) => {
    const fetchToken = () => (throws ? Promise.reject<string>(value) : Promise.resolve(value as string));
    const source = {
      fetchToken,
      tokenEndpoint: '',
      base: url,
      tokenMethod: 'post',
      credentials: 'omit',
    } as const;
    try {
      const { token, life } = await getToken({ ...source, timeout: 10_000 }, plugin);
      assert.ok(typeof token === 'string' && token !== '');
      assert.ok(life === undefined || !Number.isNaN(life));
    } catch (error) {
      assert.ok((error as Error).name === 'PluginEditorError', String(error));
    }
  },
);

export const PROPERTIES = {
  'an editor URL gives back what it was built from': addressesAreInverse,
  'no attribute loads a frame from another origin than that of editor-url, or by another scheme than http':
    framesStayAtTheEditor,
  'every response is a record of its schema, or a RequestError': noResponseCrashes,
  'every result of fetchToken is a token, or a PluginEditorError': noHostCrashes,
};
