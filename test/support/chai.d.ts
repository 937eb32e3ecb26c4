import '@open-wc/testing';

declare global {
  namespace Chai {
    /**
     * semantic-dom-diff, a part of @open-wc/testing, says that every `.equal()` gives a promise, so that each
     * plain comparison would be reported as one that is not awaited. What is declared last comes first.
     */
    interface Equal {
      (value: unknown, message?: string): Assertion;
    }
  }
}
