import { expect } from '@open-wc/testing';
import '../../../editor/src/versions/versions-panel.ts';
import type { VersionsHost, VersionsPanel } from '../../../editor/src/versions/versions-panel.ts';
import { Notices } from '../../../editor/src/ui/notices.ts';
import { until } from '../../support/until.ts';

describe('the panel of versions', () => {
  let panel: VersionsPanel;
  const shown = () => [...panel.querySelectorAll('.history-item strong')].map((one) => one.textContent);
  const rollouts = { watch: () => () => undefined };
  const showMore = () => panel.querySelector<HTMLElement>(':scope > .button');

  /** Shows the panel of a plugin that the user may deploy. */
  const openPanel = (client: object, host: object = {}) => {
    panel = document.createElement('versions-panel');
    panel.host = {
      session: { signal: new AbortController().signal, notices: new Notices(), host: {}, client },
      access: { canWrite: true, canDeploy: true },
      rollouts,
      serviceState: { live: undefined, isPinned: false },
      ...host,
    } as unknown as VersionsHost;
    panel.work = { deployment: { kind: 'none' } };
    document.body.append(panel);
  };

  afterEach(() => panel.remove());

  it('shows a page of older versions once, however often it is asked for', async () => {
    const requested: (string | undefined)[] = [];
    const older = Promise.withResolvers<void>();
    const page = (version: string, next: string | undefined) => ({
      versions: [{ version, deployedAt: '2026-01-01T00:00:00Z' }],
      next,
    });
    openPanel({
      listVersions: async (_location: object, { after }: { after?: string }) => {
        requested.push(after);
        if (!after) return page('v1.0.1', 'older');
        await older.promise;
        return page('v1.0.0', undefined);
      },
    });
    await until('the button', () => showMore() !== null);
    showMore()?.click();
    showMore()?.click();
    await panel.updateComplete;
    expect(showMore()?.textContent).to.contain('Loading');
    older.resolve();
    await until('the last page', () => showMore() === null);
    expect(requested).to.deep.equal([undefined, 'older']);
    expect(shown()).to.deep.equal(['v1.0.1', 'v1.0.0']);
  });

  it('deletes a version that is neither live nor the newest, once the user has confirmed it', async () => {
    const deleted: string[] = [];
    let rooms = 0;
    const versions = ['v1.0.2', 'v1.0.1', 'v1.0.0'].map((version) => ({
      version,
      deployedAt: '2026-01-01T00:00:00Z',
    }));
    openPanel(
      {
        listVersions: async () => ({ versions }),
        deleteVersion: async (_location: object, version: string) => void deleted.push(version),
      },
      { serviceState: { live: 'v1.0.1', isPinned: true }, handleRoom: () => rooms++ },
    );
    const button = (version: string) => panel.querySelector<HTMLElement>(`[aria-label="Delete: ${version}"]`);
    await until('the versions', () => shown().length === 3);
    expect([button('v1.0.2'), button('v1.0.1')]).to.deep.equal([null, null]);
    button('v1.0.0')?.click();
    document.querySelector<HTMLElement>('dialog footer .button:not(.primary)')?.click();
    await until('the end of the dialog', () => !document.querySelector('dialog'));
    expect(deleted).to.deep.equal([]);
    button('v1.0.0')?.click();
    document.querySelector<HTMLElement>('dialog footer .primary')?.click();
    await until('the shorter list', () => shown().length === 2);
    expect([deleted, rooms]).to.deep.equal([['v1.0.0'], 1]);
  });

  it('shows no deleted version again when the list was requested before', async () => {
    const all = ['v1.0.2', 'v1.0.1', 'v1.0.0'];
    const lists: ((versions: string[]) => void)[] = [];
    openPanel(
      {
        listVersions: () =>
          new Promise((resolve) =>
            lists.push((versions) =>
              resolve({
                versions: versions.map((version) => ({ version, deployedAt: '2026-01-01T00:00:00Z' })),
              }),
            ),
          ),
        deleteVersion: async () => undefined,
      },
      { serviceState: { live: 'v1.0.2', isPinned: false }, handleRoom: () => undefined },
    );
    await until('the first request', () => lists.length === 1);
    lists[0]?.(all);
    await until('the versions', () => shown().length === 3);
    // It comes into view again.
    panel.work = undefined;
    await panel.updateComplete;
    panel.work = { deployment: { kind: 'none' } };
    await until('the second request', () => lists.length === 2);
    panel.querySelector<HTMLElement>('[aria-label="Delete: v1.0.0"]')?.click();
    document.querySelector<HTMLElement>('dialog footer .primary')?.click();
    await until('the third request', () => lists.length === 3);
    lists[1]?.(all);
    lists[2]?.(all.slice(0, 2));
    await until('the shorter list', () => shown().length === 2);
    expect(shown()).to.deep.equal(['v1.0.2', 'v1.0.1']);
  });

  it('says where it waits for the service, and takes one request at a time', async () => {
    const asked: (string | null)[] = [];
    const live = Promise.withResolvers<object>();
    const versions = ['v1.0.2', 'v1.0.1', 'v1.0.0'].map((version) => ({
      version,
      deployedAt: '2026-01-01T00:00:00Z',
    }));
    const now: (string | undefined)[] = [];
    const side = (version: string) => ({ version, runs: 0, failures: 0 });
    const running = {
      ...side('v1.0.1'),
      percent: 10,
      live: side('v1.0.2'),
      startedAt: '2026-01-01T00:00:00Z',
    };
    openPanel(
      {
        listVersions: async () => ({ versions }),
        setLive: (_location: object, version: string | null) => {
          asked.push(version);
          return live.promise;
        },
      },
      {
        rollouts: { ...rollouts, last: running, running, load: async () => undefined },
        serviceState: {
          live: 'v1.0.2',
          isPinned: false,
          setLive: (version: string | undefined) => now.push(version),
        },
      },
    );
    const makeLive = (version: string) =>
      panel.querySelector<HTMLElement>(`[aria-label="Make live: ${version}"]`);
    const waiting = () =>
      [...panel.querySelectorAll('.history-waiting')].map(
        (one) => one.closest('.history-item')?.querySelector('strong')?.textContent,
      );
    await until('the versions', () => shown().length === 3);
    makeLive('v1.0.0')?.click();
    await until('the wait', () => waiting().length === 1);
    expect(waiting()).to.deep.equal(['v1.0.0']);
    expect(makeLive('v1.0.1')?.ariaDisabled).to.equal('true');
    expect(panel.querySelector('.rollout .button')?.ariaDisabled).to.equal('true');
    makeLive('v1.0.1')?.click();
    live.resolve({ live: 'v1.0.0', pinned: {} });
    await until('the end of the wait', () => waiting().length === 0);
    expect([asked, now]).to.deep.equal([['v1.0.0'], ['v1.0.0']]);
  });

  it('says what changed with each version, and loads each source once', async () => {
    const sources: Record<string, object> = {
      'v1.0.2': { contents: 'a\nB\nc\nd', lang: 'x', tests: [{ name: 'one' }] },
      'v1.0.1': { contents: 'a\nb\nc', lang: 'x', tests: [{ name: 'one' }] },
      'v1.0.0': { contents: 'a\nb\nc', lang: 'x' },
    };
    const loaded: string[] = [];
    openPanel({
      listVersions: async () => ({
        versions: Object.keys(sources).map((version) => ({
          version,
          deployedAt: '2026-01-01T00:00:00Z',
        })),
      }),
      getVersion: async (_location: object, version: string) => {
        loaded.push(version);
        return sources[version];
      },
    });
    const changes = () => [...panel.querySelectorAll('.history-changes')].map((one) => one.textContent);
    await until('what changed', () => changes().length === 2);
    expect(changes()).to.deep.equal([
      'Since v1.0.1: 2 lines added, one line removed',
      'Since v1.0.0: tests changed',
    ]);
    expect(loaded).to.deep.equal(['v1.0.1', 'v1.0.2', 'v1.0.0']);
  });
});
