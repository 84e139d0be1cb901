import type { Suite } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { createVms } from './create.ts';
import type { VmCounts } from './figures.ts';
import { outsidePowerOff } from './outside.ts';
import { idleVms } from './idle.ts';

/** Virtual machines that are made, that are idle, and that another client changes. */
export const vmsSuite = ({ vms, idle }: VmCounts): Suite<LoadRun> => ({
  name: 'vms',
  title: 'Virtual machines on vSphere',
  benchmarks: [createVms('create', vms), createVms('instant', vms), idleVms(idle), outsidePowerOff],
});
