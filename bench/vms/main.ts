import type { Suite } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { createVms } from './create.ts';
import type { VmCounts } from './figures.ts';
import { outsidePowerOff } from './outside.ts';
import { settledVms } from './settled.ts';

/** Virtual machines that are made, that rest, and that somebody else changes. */
export const vmsSuite = ({ vms, settled }: VmCounts): Suite<LoadRun> => ({
  name: 'vms',
  title: 'Virtual machines on vSphere',
  benchmarks: [createVms('create', vms), createVms('instant', vms), settledVms(settled), outsidePowerOff],
});
