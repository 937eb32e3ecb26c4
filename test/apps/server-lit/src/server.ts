import { render as renderParts } from '@lit-labs/ssr';
import { collectResult } from '@lit-labs/ssr/lib/render-result.js';
import 'plugin-editor';
import { page } from './page.ts';

export const render = (place: Record<string, string>): Promise<string> =>
  collectResult(renderParts(page(place)));
