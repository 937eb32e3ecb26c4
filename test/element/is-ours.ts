/** Whether the package's code calls, and not the test runner or a test: what it replaces in the page serves them, too. */
export const isOurs = (): boolean => /\/src\/(core|element)\//.test(new Error().stack ?? '');
