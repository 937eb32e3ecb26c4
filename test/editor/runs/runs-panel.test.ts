import { expect } from '@open-wc/testing';
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
