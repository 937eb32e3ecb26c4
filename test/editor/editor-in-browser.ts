import { after } from 'node:test';
import type { ServiceOptions } from '../../service/src/http/create-service.ts';
import { launchBrowser, startEditorService } from './harness.ts';

/** Starts one service with the editor and one Chromium for all tests of a file, to be called at its top. */
export async function startEditorInBrowser(options: Partial<ServiceOptions> = {}) {
  const [service, browser] = await Promise.all([startEditorService(options), launchBrowser()]);
  after(async () => {
    await browser.close();
    await service.close();
  });
  return { service, browser };
}
