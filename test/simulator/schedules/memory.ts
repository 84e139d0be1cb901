import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What the process holds after a garbage collection, once so many workflow runs have come and gone in it. */
export interface MemorySample {
  runs: number;
  heapMiB: number;
  rssMiB: number;
}

const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);

interface Sampler {
  take(runs: number): void;
  readonly samples: readonly MemorySample[];
}

/** Samples the process's memory each `everyRuns` workflow runs: what grows without bound is a leak of the simulator. */
export function sampleMemory(everyRuns: number): Sampler {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const samples: MemorySample[] = [];
  let nextRuns = everyRuns;
  return {
    samples,
    take(runs) {
      if (runs < nextRuns) return;
      nextRuns = runs + everyRuns;
      collect();
      const { heapUsed, rss } = process.memoryUsage();
      samples.push({ runs, heapMiB: mib(heapUsed), rssMiB: mib(rss) });
    },
  };
}
