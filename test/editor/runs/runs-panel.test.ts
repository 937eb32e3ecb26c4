import { expect } from '@open-wc/testing';
import type { Replay, ReplayResult } from 'plugin-editor/client.js';
import { texts } from '../../../editor/src/locales/locale.ts';
import type { ReplayHost } from '../../../editor/src/runs/replay-view.ts';
import '../../../editor/src/runs/replay-view.ts';
import '../../../editor/src/runs/runs-panel.ts';
import type { RunsHost } from '../../../editor/src/runs/runs-panel.ts';
import { Notices } from '../../../editor/src/ui/notices.ts';
import { until } from '../../support/until.ts';

describe('the panel of runs', () => {
  let panel: HTMLElementTagNameMap['runs-panel'];
  beforeEach(() => (panel = document.createElement('runs-panel')));
  afterEach(() => panel.remove());

  it('keeps what it loaded of a run when the list is loaded anew, and makes no test of an input that was cut', async () => {
    const call = { connection: 'a', method: 'GET', url: 'https://a.example/', status: 200, responseBytes: 4 };
    const runOf = (uuid: string, truncated: boolean) => ({
      uuid,
      timestamp: '2026-01-01T00:00:00Z',
      version: 'v1.0.0',
      success: true,
      // Two bytes in UTF-8.
      input: 'ü',
      inputBytes: truncated ? 3 : 2,
      truncated,
      calls: [call],
    });
    let lists = 0;
    panel.host = {
      session: {
        signal: new AbortController().signal,
        notices: new Notices(),
        client: {
          listRuns: async () => {
            lists++;
            return { runs: [runOf('whole', false), runOf('cut', true)] };
          },
          getRun: async (uuid: string) => ({
            ...runOf(uuid, uuid === 'cut'),
            calls: [{ ...call, responseBody: 'body' }],
          }),
        },
      },
      access: { canWrite: true },
      actions: { pipeline: {} },
      document: {},
      serviceState: {},
    } as unknown as RunsHost;
    panel.work = {};
    document.body.append(panel);
    const labels = () => [...panel.querySelectorAll('details .button')].map((one) => one.textContent?.trim());
    const open = (index: number) => panel.querySelectorAll<HTMLElement>('details summary')[index]?.click();
    await until('the runs', () => panel.querySelectorAll('details').length === 2);
    open(0);
    await until('the details', () => labels().length === 2);
    const both = ['Take from this run', 'Save as test'];
    expect(labels()).to.deep.equal(both);
    panel.querySelector<HTMLElement>('.runs-head .button')?.click();
    await until('the list', () => lists === 2 && panel.textContent.includes('Refresh'));
    expect(labels()).to.deep.equal(both);
    open(1);
    await until('the reason', () => panel.textContent.includes('so it cannot be a test'));
    expect(labels()).to.deep.equal([]);
  });

  it('says at the button that was pressed that runs are being loaded, loads one list at a time, and keeps it when more of it cannot be loaded', async () => {
    const requests: { after: string | undefined; respond: () => void; fail: () => void }[] = [];
    panel.host = {
      session: {
        signal: new AbortController().signal,
        client: {
          listRuns: (_location: object, { after }: { after?: string }) =>
            new Promise((resolve, reject) =>
              requests.push({
                after,
                fail: () => reject(new Error('No response')),
                respond: () =>
                  resolve({
                    runs: [
                      {
                        uuid: `run ${requests.length}`,
                        timestamp: '2026-01-01T00:00:00Z',
                        version: 'v1.0.0',
                        success: true,
                      },
                    ],
                    next: 'older',
                  }),
              }),
            ),
        },
      },
      access: { canWrite: false },
    } as unknown as RunsHost;
    panel.work = {};
    document.body.append(panel);
    const buttons = () => [...panel.querySelectorAll<HTMLElement>('.button')];
    const labels = () => buttons().map(({ textContent }) => textContent?.trim());
    await until('the first request', () => requests.length === 1);
    requests[0]?.respond();
    await until('the buttons', () => buttons().length === 2 && labels()[0] === 'Refresh');

    for (const [pressed, words] of [
      [0, ['Loading…', 'Show more']],
      [1, ['Refresh', 'Loading…']],
    ] as const) {
      for (let times = 0; times < 2; times++)
        for (const button of [pressed, 1 - pressed]) buttons()[button]?.click();
      await panel.updateComplete;
      expect(labels()).to.deep.equal(words);
      expect(buttons().map(({ ariaDisabled }) => ariaDisabled)).to.deep.equal(['true', 'true']);
      requests.at(-1)?.respond();
      await until('the response', () => !labels().includes('Loading…'));
    }
    const listed = panel.querySelectorAll('li').length;
    buttons()[1]?.click();
    requests.at(-1)?.fail();
    await until('the reason', () => panel.textContent.includes('The runs could not be loaded.'));
    expect(panel.querySelectorAll('li').length).to.equal(listed);
    expect(labels()).to.deep.equal(['Refresh', 'Show more']);
    expect(requests.map(({ after }) => after)).to.deep.equal([undefined, undefined, 'older', 'older']);
  });
});

describe('trying the text on real runs', () => {
  it('needs the build until the service has begun, and is of what was built', async () => {
    const view = document.createElement('replay-view') as HTMLElement & { host: ReplayHost; work: object };
    const actions = { pipeline: { action: undefined as string | undefined, stop: () => {} } };
    let result = (_result: ReplayResult): void => {};
    let end = (_counts: Replay): void => {};
    const source = { sourceKey: 'built' };
    view.host = {
      session: {
        signal: new AbortController().signal,
        client: {
          replay: (_location: object, { onResult }: { onResult: typeof result }) => {
            result = onResult;
            return new Promise<Replay>((resolve) => (end = resolve));
          },
        },
      },
      actions: {
        ...actions,
        ensureBuilt: async (
          _retry: () => void,
          use: (key: string, stopped: AbortSignal) => Promise<void>,
        ) => {
          actions.pipeline.action = 'build';
          source.sourceKey = 'typed since';
          await use('built', new AbortController().signal);
          actions.pipeline.action = undefined;
          return true;
        },
      },
      document: source,
    } as unknown as ReplayHost;
    view.work = {};
    document.body.append(view);
    await until('the button', () => view.querySelector('button') !== null);
    view.querySelector('button')?.click();
    await until('the request', () => view.textContent.includes('so far'));
    expect(actions.pipeline.action).to.equal('build');
    const ending = { output: '1', took: 1 };
    result({ uuid: 'a', same: true, before: ending, after: ending });
    await until('the end of the action', () => actions.pipeline.action === undefined);
    end({ replayed: 1, same: 1, different: 0, failed: 0, skipped: 0 });
    await until('the end', () => !view.textContent.includes('so far'));
    expect(view.textContent).to.contain(texts().result.before);
    view.remove();
  });
});
