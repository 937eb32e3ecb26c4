/** Requests for one thing, whose responses come in any order: the response to the latest one that has any holds. */
export class Latest {
  #begun = 0;
  #accepted = 0;

  /** A request begins. The returned function accepts its response, unless one to a later request was accepted: returns whether it did. */
  begin(): () => boolean {
    const number = ++this.#begun;
    return () => {
      if (number < this.#accepted) return false;
      this.#accepted = number;
      return true;
    };
  }
}
