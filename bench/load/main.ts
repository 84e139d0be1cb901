import type { Suite } from '../harness/benchmark.ts';
import { burst } from './burst.ts';
import { concurrent } from './concurrent.ts';
import { hotObject } from './hot-object.ts';
import { killBridge } from './kill-bridge.ts';
import { killTemporalServer, killWorker } from './kill-in-eviction.ts';
import type { LoadRun } from './load-run.ts';
import { objects } from './objects.ts';
import { workerCache } from './worker-cache.ts';
import { workersGone } from './workers-gone.ts';

/** The bridge and the workers under load, and after a death. */
export const loadSuite: Suite<LoadRun> = {
  name: 'load',
  title: 'The bridge and the limits under load',
  benchmarks: [
    concurrent,
    burst,
    hotObject,
    objects,
    workerCache,
    killBridge,
    killWorker,
    killTemporalServer,
    workersGone,
  ],
};
