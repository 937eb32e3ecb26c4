import { vim } from '@replit/codemirror-vim';
import type { Extension } from '@codemirror/state';

/** The keys of Vim. They are a part of their own, because few want them. */
export const vimKeys = (): Extension => vim({ status: true });
