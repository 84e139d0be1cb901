/** How often a long step says that it goes on. */
const TICK_MS = 15_000;
/** A step shorter than this reports nothing. */
const SILENT_MS = 1000;

/** A duration as it is shown: `0.3 s`, `12 s`, `3 min 05 s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 9950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** The line a waiting person sees: `building tctl: 45 s so far, usually 1 min`. */
export function formatTick(title: string, elapsedMs: number, usually: string): string {
  return `${title}: ${formatDuration(elapsedMs)} so far, usually ${usually}`;
}

export interface Step {
  readonly title: string;
  /** How long it usually takes. */
  readonly usually: string;
  readonly logFile?: string;
}

export interface StepClock {
  readonly tickMs?: number;
  readonly silentMs?: number;
}

/** Runs a step and reports its start once it is not over at once, then every 15 s, and its end or its failure. */
export async function reportStep<Result>(
  report: (line: string) => void,
  { title, usually, logFile }: Step,
  action: () => Promise<Result>,
  clock: StepClock = {},
): Promise<Result> {
  const { tickMs = TICK_MS, silentMs = SILENT_MS } = clock;
  const startMs = performance.now();
  let isReported = false;
  const first = setTimeout(() => {
    isReported = true;
    report(`${title} (usually ${usually}${logFile === undefined ? '' : `; log in ${logFile}`})`);
  }, silentMs);
  const ticks = setInterval(() => report(formatTick(title, performance.now() - startMs, usually)), tickMs);
  let outcome = 'failed';
  try {
    const result = await action();
    outcome = 'done';
    return result;
  } finally {
    clearTimeout(first);
    clearInterval(ticks);
    if (isReported) report(`${title}: ${outcome} after ${formatDuration(performance.now() - startMs)}`);
  }
}

/** One aligned line of a part: `kubernetes  etcd, kube-apiserver …`. */
export function formatPartLine(part: string, line: string): string {
  return `${part.padEnd(10)}  ${line}`;
}
