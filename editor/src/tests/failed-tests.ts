import type { TestList } from './test-list.ts';

/** The tests that failed when they ran last. */
export interface FailedTests {
  names: readonly string[];
  /** Whether each of them failed with the text and the payload as they are. */
  isCurrent: boolean;
}

/**
 * The tests to ask about before a deployment. One that failed before the last change counts, too: nothing says that the
 * change mended it.
 * @param sourceKey identifies the text as it is
 */
export function failedTests(list: TestList, sourceKey: string): FailedTests {
  const failed = list.entries.flatMap((entry) => {
    const { verdict, isCurrent } = list.statusOf(entry, sourceKey);
    return verdict === 'failed' ? [{ name: list.titleOf(entry), isCurrent }] : [];
  });
  return { names: failed.map(({ name }) => name), isCurrent: failed.every(({ isCurrent }) => isCurrent) };
}
