import type { PooledProcess } from '../../processes/process-pool.ts';
import { ToolProcess } from './tool-process.ts';
import type { ToolOptions } from './tool-process.ts';

/** A process of one tool, for a pool. Each tool has a subclass with a method for its jobs. */
export abstract class ToolClient implements PooledProcess {
  protected readonly tool: ToolProcess;

  constructor(options: ToolOptions) {
    this.tool = new ToolProcess(options);
  }

  /** Whether it can take another job. */
  get isUsable(): boolean {
    return this.tool.isUsable;
  }

  /** The ids of the tool's process and of the native program that it works with. */
  get pids(): readonly number[] {
    return this.tool.pids;
  }

  /** Resolves once the tool is warm; rejects when it does not work on this machine. */
  get ready(): Promise<void> {
    return this.tool.ready;
  }

  /** Ends the process at once. An unfinished job fails. */
  close(): void {
    this.tool.close();
  }
}
