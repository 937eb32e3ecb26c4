/** The most characters that are kept of a log; of a longer one the end is kept. */
const MAX_LENGTH = 200_000;

/** The log of the last build. */
export class BuildLog {
  text = '';

  /** A build begins. */
  clear(): void {
    this.text = '';
  }

  /** Adds what a build logs while it runs. */
  add(text: string): void {
    const log = this.text + (text.endsWith('\n') ? text : `${text}\n`);
    this.text = log.length > MAX_LENGTH ? `…${log.slice(-MAX_LENGTH)}` : log;
  }

  /** Puts the whole log in place of what came in parts, where the result of the build has it. */
  complete(log: string): void {
    if (!log || log.trimEnd() === this.text.trimEnd()) return;
    this.clear();
    this.add(log);
  }
}
