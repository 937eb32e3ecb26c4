/** A newer request for the same thing has taken the place of this one, which had not begun. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';

  constructor() {
    super('A newer request has taken the place of this one.');
  }
}
