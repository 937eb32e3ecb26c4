import type { TestList } from './test-list.ts';

/** The names of the tests that failed when they ran last. */
export interface FailedTests {
  names: readonly string[];
  /** Whether each of them failed with the text and the payload as they are. */
  isCurrent: boolean;
}

/**
 * The tests that failed when they ran last, of which the user is reminded before a deployment. Tests that failed with an
 * earlier text count, because nothing says that they would pass now.
 * @param sourceKey identifies the present text
 */
export function failedTests(list: TestList, sourceKey: string): FailedTests {
  const failed = list.entries.flatMap((entry) => {
    const { verdict, isCurrent } = list.statusOf(entry, sourceKey);
    return verdict === 'failed' ? [{ name: list.titleOf(entry), isCurrent }] : [];
  });
  return { names: failed.map(({ name }) => name), isCurrent: failed.every(({ isCurrent }) => isCurrent) };
}
