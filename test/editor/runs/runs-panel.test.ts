import { expect } from '@open-wc/testing';
import '../../../editor/src/runs/runs-panel.ts';
import type { RunsHost } from '../../../editor/src/runs/runs-panel.ts';
import { until } from '../../support/until.ts';

describe('the panel of runs', () => {
  const panel = document.createElement('runs-panel');
  afterEach(() => panel.remove());

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
