import * as fc from 'fast-check';
import { attributeOf } from '../../src/core/config.ts';
import '../../src/plugin-editor.ts';
import '../../src/plugin-features.ts';
import {
  type ArbitraryResponse,
  arbitraryResponse,
  checkFrameAddress,
  rawAttributes,
  responseOf,
} from '../core/arbitraries.ts';
import { type FakeWorld, fakeWorld } from './fake-world.ts';
import { WHOLE } from './life-steps.ts';

// Properties that hold for all attributes and all responses, with real elements.

const others = fc.record({
  sandbox: fc.option(fc.string()),
  allow: fc.option(fc.string()),
  referrerpolicy: fc.option(fc.string()),
  label: fc.option(fc.string()),
  loading: fc.option(fc.string()),
  timeout: fc.option(fc.constantFrom('1', '15000', 'x', '-1', '1e99')),
  credentials: fc.option(fc.constantFrom('include', 'omit', 'x')),
  tokenMethod: fc.option(fc.constantFrom('get', 'post', 'x')),
  /** Of another class of its own: only `src` may lead a frame anywhere. */
  srcdoc: fc.option(fc.string()),
  src: fc.option(fc.webUrl()),
});

async function inWorld(run: (world: FakeWorld, place: HTMLElement) => Promise<void>): Promise<void> {
  const world = fakeWorld();
  const place = document.createElement('div');
  document.body.append(place);
  try {
    await run(world, place);
  } finally {
    place.remove();
    await world.settle();
    world.restore();
  }
}

const set = (element: Element, values: Record<string, unknown>): void => {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') element.setAttribute(attributeOf(name), value);
    else if (value === true) element.setAttribute(name, '');
  }
};

const tokenResponse = () => new Response('{"token":"t"}');

/** Answers all requests and lets time pass until nothing is pending. */
async function untilSettled(
  world: FakeWorld,
  element: { state: string; updateComplete: Promise<unknown> },
  respond: () => Response,
): Promise<void> {
  for (let rounds = 0; rounds < 200; rounds++) {
    await element.updateComplete;
    await world.settle();
    for (const request of world.requests) if (!request.answered) request.answer(respond());
    await world.settle();
    if (element.state !== 'loading') return;
    await world.advance(500);
  }
  throw new Error(`Still ${element.state}`);
}

/** No attribute has a frame at an address other than one of `editor-url`'s origin, or a page's text for one. */
export const framesOfElements = fc.asyncProperty(rawAttributes, others, (raw, more) =>
  inWorld(async (world, place) => {
    const element = document.createElement('plugin-editor');
    set(element, { ...raw, ...more });
    place.append(element);
    await element.updateComplete;
    await world.settle();
    for (const request of world.requests) request.answer(tokenResponse());
    await world.settle();
    for (const { element: frame } of world.frames) {
      checkFrameAddress(frame.src, raw.editorUrl, document.baseURI);
      const names = frame
        .getAttributeNames()
        .filter((name) => !/^(part|title|sandbox|allow|referrerpolicy)$/.test(name));
      if (names.length) throw new Error(`A frame with ${names.join(', ')}`);
    }
    for (const { url } of world.requests) {
      if (!/^https?:$/.test(new URL(url).protocol)) throw new Error(`A request to ${url}`);
    }
    // An invalid URL causes an error, and no request.
    if (element.state === 'error' && element.error?.code === 'config' && world.requests.length) {
      throw new Error('A request in spite of an error');
    }
  }),
);

/** The number of requests that such a response leads to. */
const tries = ({ status, breaks }: ArbitraryResponse): number =>
  [408, 429, 500, 502, 503, 504].includes(Number(status)) || (breaks && Number(status) < 300) ? 3 : 1;

function checkTries(world: FakeWorld, response: ArbitraryResponse): void {
  const empty = [204, 205].includes(Number(response.status));
  const most = empty ? 1 : tries(response);
  // There is no retry when the server asks for a long delay.
  const least = 'retry-after' in response.headers ? 1 : most;
  const { length } = world.requests;
  if (length > most || length < least) throw new Error(`${length} requests, not ${least} to ${most}`);
}

/** Whatever a token endpoint answers, the element ends in `ready` or with an error that explains the problem. */
export const responsesToEditors = fc.asyncProperty(
  arbitraryResponse,
  fc.constantFrom('url', 'message'),
  (response, delivery) =>
    inWorld(async (world, place) => {
      const element = document.createElement('plugin-editor');
      for (const [name, value] of Object.entries(WHOLE)) element.setAttribute(name, value);
      element.setAttribute('token-delivery', delivery);
      place.append(element);
      await untilSettled(world, element, () => {
        // The page in the frame loads as soon as the token is there, and does not use the protocol.
        queueMicrotask(() => world.frames.at(-1)?.element.dispatchEvent(new Event('load')));
        return responseOf(response);
      });
      await element.updateComplete;
      const { state, error } = element;
      if (state !== 'ready' && state !== 'error') throw new Error(`Neither ready nor in error: ${state}`);
      if ((state === 'error') !== !!error) throw new Error('An error that is none');
      const shown = element.shadowRoot?.querySelector('[part=error] p')?.textContent ?? '';
      if (error && !/^[A-Z].{20}/.test(shown)) throw new Error(`Says only: ${shown}`);
      if (error && error.code.startsWith('token-')) checkTries(world, response);
      if (error && world.frames.some((frame) => frame.element.isConnected))
        throw new Error('A frame beside an error');
    }),
);

let count = 0;

/** Whatever a builder answers, `<plugin-features>` ends in `ready` or with an error that explains the problem. */
export const responsesToFeatures = fc.asyncProperty(arbitraryResponse, (response) =>
  inWorld(async (world, place) => {
    const element = document.createElement('plugin-features');
    element.setAttribute('builder', `http://builder-${++count}.test`);
    place.append(element);
    await untilSettled(world, element, () => responseOf(response));
    await element.updateComplete;
    const { state, error, record } = element;
    if (state !== 'ready' && state !== 'error') throw new Error(`Neither ready nor in error: ${state}`);
    if ((state === 'error') !== !!error || (state === 'ready') !== !!record)
      throw new Error('An error that is none');
    const shown = element.shadowRoot?.querySelector('[part=error] p')?.textContent ?? '';
    if (error && !/^[A-Z].{20}/.test(shown)) throw new Error(`Says only: ${shown}`);
    if (error) checkTries(world, response);
  }),
);

export const PROPERTIES = {
  '<plugin-editor> loads its frame from the origin of editor-url alone, whatever its attributes are':
    framesOfElements,
  'every token response leaves <plugin-editor> ready or in error': responsesToEditors,
  'every response of the builder leaves <plugin-features> ready or in error': responsesToFeatures,
};
