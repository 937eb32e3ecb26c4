/** A newer job for the same subject has taken the place of this one, which was still waiting. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';

  constructor() {
    super('A newer request has taken the place of this one.');
  }
}
