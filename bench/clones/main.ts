import type { Suite } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { cloneMany } from './clone-many.ts';

/** Clones of one volume, and what they cost. */
export const clonesSuite = (counts: readonly number[]): Suite<LoadRun> => ({
  name: 'clones',
  title: 'Clones of volumes',
  benchmarks: [cloneMany('directories', counts), cloneMany('rbd', counts)],
});
