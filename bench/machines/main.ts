import type { Suite } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import type { MachineCounts } from './figures.ts';
import { orphan } from './orphan.ts';
import { outage } from './outage.ts';
import { sweepProject, sweepVcenter } from './sweep.ts';

/** Sweeps of many VMs, and how soon Machines are frozen and an orphan goes. */
export const machinesSuite = ({ vms, servers }: MachineCounts): Suite<LoadRun> => ({
  name: 'machines',
  title: 'The safety jobs of Machines',
  benchmarks: [sweepVcenter(vms), sweepProject(servers), outage, orphan],
});
