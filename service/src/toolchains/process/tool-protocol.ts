/** The descriptor by which a tool's process talks with the service; frames go both ways. */
export const channel = 3;

/** The kinds of frames that go to a tool's process and come from one. */
export const frameKind = {
  /** To the process: what to work on. */
  work: 1,
  /** The tool is warm and can be given work. */
  ready: 2,
  /** What came of the work. */
  done: 3,
  /** It cannot work on this machine: the reason. */
  broken: 4,
} as const;
