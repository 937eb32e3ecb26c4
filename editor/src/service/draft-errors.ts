import type { Draft } from 'plugin-editor/client.js';

/** The draft changed elsewhere since it was read; nothing was saved. */
export class DraftConflict extends Error {
  override readonly name = 'DraftConflict';
  readonly theirs: Draft;

  constructor(theirs: Draft) {
    super('The draft was changed elsewhere');
    this.theirs = theirs;
  }
}

/** The draft was deleted since it was read; nothing was saved. */
export class DraftDeleted extends Error {
  override readonly name = 'DraftDeleted';
}
