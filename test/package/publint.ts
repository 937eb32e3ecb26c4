import { testPackages } from '../packages/packages.ts';

const tools = await testPackages();

/** What is used of `publint` 0.3. */
interface Publint {
  publint: (options: { pkgDir: string; strict: boolean; pack: false }) => Promise<{ messages: unknown[] }>;
}
interface PublintUtils {
  formatMessage: (message: unknown, manifest: object) => string | undefined;
}

const { publint } = tools('publint') as Publint;
const { formatMessage } = tools('publint/utils') as PublintUtils;

/** The problems that publint finds in an installed package, as texts. */
export async function publintMessages(folder: string, manifest: object): Promise<(string | undefined)[]> {
  const { messages } = await publint({ pkgDir: folder, strict: true, pack: false });
  return messages.map((message) => formatMessage(message, manifest));
}
