/** The descriptor for the messages between the service and a tool's process. Frames go both ways. */
export const channel = 3;

/** The kinds of frames that go to a tool's process and come from one. */
export const frameKind = {
  /** To the process: a job. */
  job: 1,
  /** The tool is warm and can take jobs. */
  ready: 2,
  /** The reply to the job. */
  reply: 3,
  /** The tool does not work on this machine. The text is the reason. */
  broken: 4,
} as const;
