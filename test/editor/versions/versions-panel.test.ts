import { expect } from '@open-wc/testing';
import '../../../editor/src/versions/versions-panel.ts';
import type { VersionsOptions, VersionsPanel } from '../../../editor/src/versions/versions-panel.ts';
import { until } from '../../support/until.ts';

describe('the panel of versions', () => {
  let panel: VersionsPanel;
  const shown = () => [...panel.querySelectorAll('.history-item strong')].map((one) => one.textContent);
  const showMore = () => panel.querySelector<HTMLElement>(':scope > .button');

  afterEach(() => panel.remove());

  it('shows a page of older versions once, however often it is asked for', async () => {
    const requested: (string | undefined)[] = [];
    const older = Promise.withResolvers<void>();
    const page = (version: string, next: string | null) => ({
      versions: [{ version, deployedAt: '2026-01-01T00:00:00Z' }],
      next,
    });
    panel = document.createElement('versions-panel');
    panel.options = {
      service: {
        readList: async (_schema: unknown, _list: string, { after }: { after?: string }) => {
          requested.push(after);
          if (!after) return page('v1.0.1', 'older');
          await older.promise;
          return page('v1.0.0', null);
        },
      },
      access: () => ({ canWrite: true, canDeploy: true }),
      signal: new AbortController().signal,
    } as unknown as VersionsOptions;
    document.body.append(panel);
    panel.refresh({ kind: 'none' }, undefined, false);
    await until('the button', () => showMore() !== null);
    showMore()?.click();
    showMore()?.click();
    older.resolve();
    await until('the last page', () => showMore() === null);
    expect(requested).to.deep.equal([undefined, 'older', 'older']);
    expect(shown()).to.deep.equal(['v1.0.1', 'v1.0.0']);
  });
});
