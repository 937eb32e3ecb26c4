import { expect } from '@open-wc/testing';
import { LocalCopies } from '../../../editor/src/draft/local-copies.ts';

const target = { builder: 'http://b.example', ident: 'com.acme.t1', namespace: 'default', fn: 'add' };
const source = (contents: string) => ({
  contents,
  lang: 'javascript',
  tests: [{ payload: 'p', extra: 1 }],
  own: true,
});

describe('local copies', () => {
  const open: LocalCopies[] = [];
  const copies = (builder = target.builder, change: Partial<typeof target> = {}) => {
    const made = new LocalCopies(builder, { ...target, ...change });
    open.push(made);
    return made;
  };
  const contents = async (from: LocalCopies) =>
    (await from.listOrphans()).map((copy) => copy.source.contents);
  /** A page is gone once the browser has let go of its lock. */
  const closed = async (page: LocalCopies) => {
    const held = async () => (await navigator.locks.query()).held?.length ?? 0;
    const before = await held();
    page.close();
    while ((await held()) >= before) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  /** Waits until a copy that is kept is newer than those before. */
  const later = async () => {
    const now = Date.now();
    while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  /** Waits until each page's lock is there. */
  const claimed = async () => {
    while (((await navigator.locks.query()).pending?.length ?? 0) > 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  afterEach(() => {
    for (const page of open.splice(0)) page.close();
    localStorage.clear();
  });

  it('finds the whole copy that a closed page left', async () => {
    const first = copies();
    await claimed();
    first.keep(source('lost'));
    expect(first.isKept).to.equal(true);
    await closed(first);
    const [copy] = await copies().listOrphans();
    expect(copy?.source).to.deep.equal(source('lost'));
    expect(Math.abs(Date.now() - (copy?.at.getTime() ?? 0))).to.be.below(60_000);
  });

  it('does not take the copy of a page that is still open', async () => {
    const first = copies();
    await claimed();
    first.keep(source('in use'));
    const second = copies();
    await claimed();
    expect(await contents(second)).to.deep.equal([]);
    await closed(first);
    expect(await contents(second)).to.deep.equal(['in use']);
  });

  it('keeps the copies of two pages apart, and returns the newest first', async () => {
    const pages = [copies(), copies()] as const;
    await claimed();
    pages[0].keep(source('older'));
    await later();
    pages[1].keep(source('newer'));
    await closed(pages[0]);
    await closed(pages[1]);
    expect(await contents(copies())).to.deep.equal(['newer', 'older']);
  });

  for (const [what, builder, change] of [
    ['builder', 'http://c.example', {}],
    ['ident', target.builder, { ident: 'com.acme.t2' }],
    ['namespace', target.builder, { namespace: 'other' }],
    ['fn', target.builder, { fn: 'add2' }],
  ] as const) {
    it(`returns nothing to a plugin of another ${what}`, async () => {
      const first = copies();
      await claimed();
      first.keep(source('mine'));
      await closed(first);
      expect(await contents(copies(builder, change))).to.deep.equal([]);
      expect(await contents(copies())).to.deep.equal(['mine']);
    });
  }

  it('drops its own copy, removes others, and restores what was removed', async () => {
    const first = copies();
    await claimed();
    first.keep(source('x'));
    first.drop();
    expect(localStorage.length).to.equal(0);
    first.keep(source('y'));
    await closed(first);
    const next = copies();
    const [copy] = await next.listOrphans();
    if (!copy) throw new Error('no copy');
    next.remove(copy.key);
    expect(await contents(next)).to.deep.equal([]);
    next.putBack({ ...copy, isReplaced: true });
    expect(await contents(next)).to.deep.equal(['y']);
    expect((await next.listOrphans())[0]?.isReplaced).to.equal(true);
  });

  it('keeps the newest three that a page replaced, for a month, and offers them once it is gone', async () => {
    const first = copies();
    await claimed();
    for (const text of ['a', 'b', 'c', 'd']) {
      first.keepAside(source(text));
      await later();
    }
    first.keep(source('unsaved'));
    const second = copies();
    await claimed();
    expect(await contents(second)).to.deep.equal([]);
    await closed(first);
    expect(await contents(second)).to.deep.equal(['unsaved', 'd', 'c', 'b']);
    const at = new Date(Date.now() - 31 * 24 * 3_600_000);
    for (const copy of await second.listOrphans()) second.putBack({ ...copy, at });
    expect(await contents(second)).to.deep.equal(['unsaved']);
    expect(localStorage.length).to.equal(1);
  });

  it('drops the oldest that other pages replaced where there is no room', () => {
    const small = {
      localStorage: Object.create({
        getItem(this: Record<string, string>, key: string) {
          return this[key];
        },
        setItem(this: Record<string, string>, key: string, value: string) {
          if (Object.keys({ ...this, [key]: '' }).length > 3)
            throw new DOMException('', 'QuotaExceededError');
          this[key] = value;
        },
        removeItem(this: Record<string, string>, key: string) {
          delete this[key];
        },
      }) as Storage,
      navigator: {},
      crypto,
    };
    const [other, page] = ['other', 'add'].map(
      (fn) => new LocalCopies(target.builder, { ...target, fn }, small),
    );
    const kept = () =>
      Object.values(small.localStorage as unknown as Record<string, string>)
        .map((copy) => (JSON.parse(copy) as { source: { contents: string } }).source.contents)
        .toSorted();
    const at = new Date(0);
    const key = other?.keepAside(source('old')) ?? '';
    other?.putBack({ key, source: source('old'), at, isReplaced: true });
    other?.keepAside(source('newer'));
    page?.keepAside(source('own'));
    page?.keep(source('unsaved'));
    expect([page?.isKept, kept()]).to.deep.equal([true, ['newer', 'own', 'unsaved']]);
    other?.keep(source('unsaved there'));
    expect([other?.isKept, kept()]).to.deep.equal([true, ['newer', 'unsaved', 'unsaved there']]);
    page?.keepAside(source('own'));
    expect(kept()).to.deep.equal(['own', 'unsaved', 'unsaved there']);
    expect(page?.canKeep()).to.equal(false);
    expect(kept()).to.deep.equal(['own', 'unsaved', 'unsaved there']);
  });

  it('ignores entries that are not copies', async () => {
    const first = copies();
    await claimed();
    first.keep(source('good'));
    const key = Object.keys(localStorage)[0] ?? '';
    localStorage.setItem(`${key}1`, '{');
    localStorage.setItem(`${key}2`, '{"version":2}');
    localStorage.setItem(`${key}3`, 'null');
    await closed(first);
    expect(await contents(copies())).to.deep.equal(['good']);
  });

  it('reports when the browser cannot keep a copy', async () => {
    const forbidden = {
      get localStorage(): Storage {
        throw new DOMException('denied', 'SecurityError');
      },
      navigator: {},
      crypto,
    };
    const page = new LocalCopies(target.builder, target, forbidden);
    page.keep(source('x'));
    expect(page.isKept).to.equal(false);
    page.drop();
    expect(await page.listOrphans()).to.deep.equal([]);
    const full = copies();
    const tooLarge = source('x'.repeat(12_000_000));
    copies().keepAside(source('replaced'));
    expect([full.canKeep(), full.canKeep(tooLarge)]).to.deep.equal([true, false]);
    expect(localStorage.length).to.equal(1);
    full.keep(tooLarge);
    expect(full.isKept).to.equal(false);
    expect(localStorage.length).to.equal(0);
  });
});
