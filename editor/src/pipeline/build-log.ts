/** A longer log loses its beginning. */
const LONGEST = 200_000;

/** What the last build said. */
export class BuildLog {
  text = '';

  /** A build begins. */
  clear(): void {
    this.text = '';
  }

  /** What a build says while it runs. */
  add(text: string): void {
    const said = this.text + (text.endsWith('\n') ? text : `${text}\n`);
    this.text = said.length > LONGEST ? `…${said.slice(-LONGEST)}` : said;
  }

  /** All that a build said, where it says that at its end. */
  complete(log: string): void {
    if (!log || log.trimEnd() === this.text.trimEnd()) return;
    this.clear();
    this.add(log);
  }
}
