import * as fc from 'fast-check';
import { type FakeFrame, type FakeRequest, dispatchMessageFrom } from './fake-world.ts';
import { MESSAGES, message } from './life-messages.ts';
import { type Life, type Model, check, current, fail, openOf, placeOf, pluginIn } from './life-model.ts';

const ORIGIN = 'http://editor.test';

const VALUES: Record<string, (string | null)[]> = {
  'editor-url': [`${ORIGIN}/editor/`, `${ORIGIN}/other`, 'http://elsewhere.test/', 'javascript:1', null],
  builder: ['http://builder.test', 'http://builder-2.test', 'ftp://builder.test', null],
  ident: ['com.example.a', 'com.example.b', 'nobody', null],
  namespace: ['n1', 'default', '', null],
  fn: ['f1', 'f2', '..', '', null],
  template: ['typescript', 'javascript', null],
  'token-endpoint': ['/token-1', '/token-2', 'http://u:p@token.test', null],
  'token-method': ['get', 'post', null],
  'token-delivery': ['url', 'message', 'pigeon', null],
  loading: ['lazy', 'eager', null],
  preload: ['', null],
  timeout: ['500', '15000', '-1', null],
  label: ['Editor', null],
  sandbox: ['none', null],
};

export const WHOLE: Record<string, string> = {
  'editor-url': `${ORIGIN}/editor/`,
  builder: 'http://builder.test',
  ident: 'com.example.a',
  fn: 'f1',
  'token-endpoint': '/token-1',
};

function requestedPlugin({ url, init }: FakeRequest): string {
  const { searchParams } = new URL(url);
  return pluginIn(
    init.method === 'GET'
      ? Object.fromEntries(searchParams)
      : (JSON.parse(init.body as string) as Record<string, unknown>),
  );
}

type Command = fc.AsyncCommand<Model, Life>;

/** A step of the page, the editor, the network or time. The next step follows in the same task unless `settles`. */
class Step implements Command {
  readonly name: string;
  readonly settles: boolean;
  readonly act: (model: Model, life: Life) => void | Promise<void>;

  constructor(name: string, settles: boolean, act: Step['act']) {
    this.name = name;
    this.settles = settles;
    this.act = act;
  }

  check = (): boolean => true;

  async run(model: Model, life: Life): Promise<void> {
    await this.act(model, life);
    if (!this.settles) return;
    await life.element.updateComplete;
    await life.world.settle();
    check(model, life);
  }

  toString(): string {
    return this.settles ? this.name : `${this.name} +`;
  }
}

/** Notes that a change may be delayed by unsaved work that the page keeps. */
const mayPutOff = (model: Model, { element }: Life): void => {
  if (model.keepsWork && element.dirty) model.putOff = true;
};

const set = (model: Model, life: Life, name: string, value: string | null): void => {
  mayPutOff(model, life);
  if (value === null) {
    model.attributes.delete(name);
    life.element.removeAttribute(name);
  } else {
    model.attributes.set(name, value);
    life.element.setAttribute(name, value);
  }
};

const ANSWERS = [
  'token',
  'short',
  'long',
  'token',
  'token',
  '401',
  '500',
  '404',
  'garbage',
  'broken',
] as const;

function respondTo({ tokens, world }: Life, request: FakeRequest, kind: (typeof ANSWERS)[number]): void {
  if (kind === 'broken') return request.fail();
  if (/^\d/.test(kind)) return request.answer(new Response('{}', { status: Number(kind) }));
  if (kind === 'garbage') return request.answer(new Response('<!doctype html>'));
  const token = `t${world.requests.indexOf(request)}`;
  tokens.set(token, {
    plugin: requestedPlugin(request),
    endpoint: placeOf(request.url),
    late: request.aborted,
  });
  const expires_in = kind === 'short' ? 20 : kind === 'long' ? 3600 : undefined;
  request.answer(new Response(JSON.stringify({ token, expires_in })));
}

const originOf = ({ element }: FakeFrame): string => new URL(element.src).origin;

/** Fails when a message changes anything. */
function expectIgnored({ element, world }: Life, send: () => void): void {
  const look = () =>
    JSON.stringify([
      element.state,
      element.dirty,
      element.error?.code,
      world.left,
      world.frames.map((one) => one.posted),
    ]);
  const before = look();
  send();
  if (look() !== before) fail('acted on a message that it must ignore');
}

const settles = fc.integer({ min: 0, max: 3 }).map((n) => n > 0);
const nth = fc.nat({ max: 7 });

const step = <T>(values: fc.Arbitrary<T>, name: (value: T) => string, act: (value: T) => Step['act']) =>
  fc.tuple(values, settles).map(([value, alone]): Command => new Step(name(value), alone, act(value)));

const anAttribute = fc
  .constantFrom(...Object.keys(VALUES))
  .chain((name) =>
    fc.constantFrom(...(VALUES[name] as (string | null)[])).map((value) => [name, value] as const),
  );

const ignore = (promise: Promise<unknown>): void => void promise.catch(() => {});

/** All steps, with frequencies by which lives reach every state. */
export const commands: fc.Arbitrary<Command>[] = [
  // All that opens an editor at once: by single steps hardly any life would get that far.
  ...[0, 1, 2].map(() =>
    step(
      fc.tuple(
        fc.constantFrom('hello', 'open-hello'),
        fc.constantFrom('token', 'short', 'long'),
        fc.constantFrom('ready', 'dirty', 'token-request'),
      ),
      (parts) => `all goes well: ${parts.join(', ')}`,
      ([greeting, kind, then]) =>
        async (_, life) => {
          const { world } = life;
          // Twice: in url delivery the first round's token makes the frame, in message delivery it may come late.
          for (let round = 0; round < 2; round++) {
            const request = world.requests.findLast((one) => !one.answered && !one.aborted);
            if (request) respondTo(life, request, kind);
            await world.settle();
            const frame = world.frames.at(-1);
            if (!frame) continue;
            const postFromEditor = (what: (typeof MESSAGES)[number]) =>
              dispatchMessageFrom(frame, message(what, String(openOf(frame)?.['session'])), originOf(frame));
            if (!openOf(frame)) postFromEditor(greeting);
            await world.settle();
            postFromEditor('ready');
            if (then !== 'ready') postFromEditor(then);
            await world.settle();
          }
        },
    ),
  ),
  step(
    fc.array(anAttribute, { minLength: 1, maxLength: 3 }),
    (changes) => `set ${changes.map(([name, value]) => `${name}=${value}`).join(' ')}`,
    (changes) => (model, life) => {
      for (const [name, value] of changes) set(model, life, name, value);
    },
  ),
  step(
    fc.constantFrom('ident', 'fn'),
    (name) => `whole, another ${name}`,
    (name) => (model, life) => {
      for (const [key, value] of Object.entries(WHOLE)) set(model, life, key, value);
      set(model, life, name, VALUES[name]?.[1] ?? null);
    },
  ),
  step(
    fc.constantFrom('remove', 'put back', 'move'),
    (what) => what,
    (what) =>
      (model, { element, place }) => {
        if (what !== 'put back') element.remove();
        if (what !== 'remove') place.append(element);
        model.connected = what !== 'remove';
        if (what !== 'put back') model.putOff = false;
      },
  ),
  step(
    fc.constant('move as it is'),
    (what) => what,
    () => (_, life) => {
      const { element, place } = life;
      const to = (element.parentElement === place ? place.firstElementChild : place) as Element & {
        moveBefore?: (node: Element, child: null) => void;
      };
      // Not every engine has it, and it throws for an element outside the page.
      if (element.isConnected) expectIgnored(life, () => to.moveBefore?.(element, null));
    },
  ),
  ...[0, 1].map(() =>
    step(
      fc.tuple(nth, fc.constantFrom(...ANSWERS)),
      ([n, kind]) => `answer ${n} ${kind}`,
      ([n, kind]) =>
        (_, life) => {
          // The latest requests are more likely to be the relevant ones.
          const open = life.world.requests.filter((one) => !one.answered).toReversed();
          const request = open[n % Math.max(open.length, 1)];
          if (request) respondTo(life, request, kind);
        },
    ),
  ),
  step(
    nth,
    (n) => `load ${n}`,
    (n) =>
      (_, { world }) => {
        const frame = world.frames.at(-1 - (n % Math.max(world.frames.length, 1)));
        frame?.element.dispatchEvent(new Event('load'));
      },
  ),
  ...[0, 1].map(() =>
    step(
      fc.constantFrom(...MESSAGES),
      (kind) => `send ${kind}`,
      (kind) =>
        (_, { world }) => {
          const frame = world.frames.at(-1);
          if (frame)
            dispatchMessageFrom(frame, message(kind, String(openOf(frame)?.['session'])), originOf(frame));
        },
    ),
  ),
  step(
    fc.tuple(nth, fc.constantFrom(...MESSAGES)),
    ([n, kind]) => `send ${kind} in session ${n} before the present one`,
    ([n, kind]) =>
      (_, life) => {
        const sessions = life.world.frames.flatMap((frame) =>
          frame.posted
            .filter(({ message: { type } }) => type === 'open')
            .map(({ message: { session } }) => ({ frame, session })),
        );
        const past = sessions.slice(0, -1);
        const { frame, session } = past[n % Math.max(past.length, 1)] ?? {};
        if (!frame || (frame === current(life) && /hello/.test(kind))) return;
        expectIgnored(life, () =>
          dispatchMessageFrom(frame, message(kind, String(session)), originOf(frame)),
        );
      },
  ),
  step(
    fc.constantFrom(...MESSAGES),
    (kind) => `forge ${kind}`,
    (kind) => (_, life) => {
      const frame = life.world.frames.at(-1);
      if (!frame) return;
      const { port1 } = new MessageChannel();
      const sent = message(kind, String(openOf(frame)?.['session']));
      // From the right window with the wrong origin, and the other way round.
      expectIgnored(life, () => dispatchMessageFrom(frame, sent, 'http://evil.test'));
      expectIgnored(life, () => dispatchMessageFrom(frame, sent, originOf(frame), port1));
    },
  ),
  step(
    fc.constantFrom(100, 600, 5000, 20_000, 400_000),
    (ms) => `wait ${ms}`,
    (ms) =>
      (_, { world }) =>
        world.advance(ms),
  ),
  step(
    fc.constantFrom('reload', 'discard', 'renew', 'close', 'wake', 'restore', 'near'),
    (what) => what,
    (what) => (model, life) => {
      const { element, world } = life;
      if (what === 'reload' || what === 'discard') {
        const discard = what === 'discard';
        if (!discard) mayPutOff(model, life);
        const wasPutOff = model.putOff;
        if (discard || !model.putOff) model.closed = model.putOff = model.restored = false;
        model.reloading++;
        const settled = (error?: unknown) => {
          model.reloading--;
          // Without a token nothing changes, not even what was delayed.
          if (error && element.state === 'ready') model.putOff ||= wasPutOff;
        };
        element.reload({ discard }).then(() => settled(), settled);
      } else if (what === 'renew') ignore(element.renewToken());
      else if (what === 'close') {
        model.closed = true;
        model.putOff = false;
        ignore(element.close());
      } else if (what === 'near') world.comeNear();
      else if (what === 'wake') window.dispatchEvent(new Event('online'));
      else {
        model.restored = true;
        window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
      }
    },
  ),
  step(
    fc.boolean(),
    (keeps) => `the page ${keeps ? 'keeps' : 'drops'} unsaved work`,
    (keeps) => (model) => {
      model.keepsWork = keeps;
    },
  ),
];
