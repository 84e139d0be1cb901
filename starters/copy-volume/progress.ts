import type { Clock } from '../../runtime/clock.ts';
import { formatDuration } from '../render/duration.ts';
import { formatMemory } from '../render/progress.ts';

/** How a copy ended. */
export interface Copied {
  /** SHA-256 of the source, hexadecimal. */
  digest: string;
  /** What is not as in the source after all, for people. */
  differing: string[];
  files: number;
  bytes: number;
}

/** Of a copy. */
export interface Progress {
  begin: (all: { files: number; bytes: number }) => void;
  copied: (more: { files?: number; bytes?: number }) => void;
  remark: (line: string) => void;
}

/** Logs of a Pod are read by people. */
const everyMs = 10_000;
const mib = 1024 ** 2;

/** A line now and then. */
export function tellProgress(clock: Pick<Clock, 'monotonicMs'>, remark: (line: string) => void): Progress {
  let all = { files: 0, bytes: 0 };
  let done = { files: 0, bytes: 0 };
  const startMs = clock.monotonicMs();
  let nextMs = startMs + everyMs;
  return {
    remark,
    begin: (total) => {
      all = total;
      done = { files: 0, bytes: 0 };
    },
    copied: ({ files = 0, bytes = 0 }) => {
      done = { files: done.files + files, bytes: done.bytes + bytes };
      const nowMs = clock.monotonicMs();
      if (nowMs < nextMs) return;
      nextMs = nowMs + everyMs;
      const percent = all.bytes === 0 ? 100 : Math.floor((done.bytes / all.bytes) * 100);
      remark(
        `${String(percent)} %: ${formatMemory(done.bytes / mib)} of ${formatMemory(all.bytes / mib)}, ${String(done.files)} of ${String(all.files)} files, after ${formatDuration(nowMs - startMs)}`,
      );
    },
  };
}
