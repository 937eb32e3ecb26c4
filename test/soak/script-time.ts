interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Where it begins and how long it takes, in microseconds of the thread's own time: what it waited is not in it. */
  tts?: number;
  tdur?: number;
  args?: { data?: { url?: string } };
}

/** What a thread does while it compiles or runs script. */
const SCRIPT =
  /^(?:EvaluateScript|FunctionCall|RunMicrotasks|v8\.(?:compile|compileModule|evaluateModule|parseOnBackground|run))$/;

export interface ScriptTime {
  /** Milliseconds of processor time in all processes. */
  whole: number;
  /** Those of the process that runs a script of the page's own origin. */
  page: number;
}

/** How long script was compiled and run in a trace; what lies within another such span is counted once. */
export function scriptTime(trace: Uint8Array, origin: string): ScriptTime {
  const { traceEvents } = JSON.parse(new TextDecoder().decode(trace)) as { traceEvents: TraceEvent[] };
  const spans = traceEvents
    .filter(({ name, ph, tdur }) => ph === 'X' && tdur && SCRIPT.test(name))
    .toSorted((a, b) => (a.tts ?? 0) - (b.tts ?? 0));
  const own = new Set(
    spans.filter(({ args }) => args?.data?.url?.startsWith(`${origin}/`)).map(({ pid }) => pid),
  );
  const ends = new Map<string, number>();
  const total: ScriptTime = { whole: 0, page: 0 };
  for (const { pid, tid, tts = 0, tdur = 0 } of spans) {
    const thread = `${pid}.${tid}`;
    const from = Math.max(tts, ends.get(thread) ?? 0);
    const to = Math.max(from, tts + tdur);
    ends.set(thread, to);
    total.whole += (to - from) / 1000;
    if (own.has(pid)) total.page += (to - from) / 1000;
  }
  return total;
}
