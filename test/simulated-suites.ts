import type { PartName } from './simulator/matrix/parts.ts';

/** Suites whose evidence is made together: those of a part of the matrix, or of all lifecycles. */
export const suiteGroups = [
  'evictions',
  'machines',
  'agentPools',
  'clones',
  'virtualMachines',
  'all',
] as const satisfies readonly (PartName | 'all')[];
export type SuiteGroup = (typeof suiteGroups)[number];

/**
 * Unit tests that simulate for a quarter of a minute or more, by what decides how they go. They are deterministic:
 * `npm test` leaves out those that have passed with these very sources (evidence/suites-<group>/), but for a twentieth,
 * which is another one with each commit. `npm run test:unit` and `npm run test:all` run all of them.
 */
export const simulatedSuites: Readonly<Record<string, SuiteGroup>> = {
  'activities/preflight/preflight-at-size.test.ts': 'evictions',
  'test/simulator/sweeps/sweep.test.ts': 'machines',
  'test/simulator/sweeps/sweep-dangers.test.ts': 'machines',
  'test/simulator/sweeps/sweep-faults.test.ts': 'machines',
  'test/simulator/sweeps/sweep-mutations.test.ts': 'machines',
  'test/simulator/pools/pool-catch-up.test.ts': 'agentPools',
  'test/simulator/pools/pool-defects.test.ts': 'agentPools',
  'test/simulator/pools/pool-faults.test.ts': 'agentPools',
  'test/simulator/pools/pool-limits.test.ts': 'agentPools',
  'test/simulator/pools/pool-mutations.test.ts': 'agentPools',
  'test/simulator/pools/pool-neighbours.test.ts': 'agentPools',
  'test/simulator/pools/pool-replacement.test.ts': 'agentPools',
  'test/simulator/pools/pool-scale-down.test.ts': 'agentPools',
  'activities/kubernetes/volumes/transfer-claim.test.ts': 'clones',
  'test/simulator/volumes/clone.test.ts': 'clones',
  'test/simulator/volumes/clone-problems.test.ts': 'clones',
  'test/simulator/volumes/interrupted.test.ts': 'clones',
  'test/simulator/volumes/queue.test.ts': 'clones',
  'test/simulator/volumes/volume-catch-up.test.ts': 'clones',
  'test/simulator/volumes/volume-faults.test.ts': 'clones',
  'test/simulator/volumes/volume-mutations.test.ts': 'clones',
  'test/simulator/virtual-machine-queue.test.ts': 'virtualMachines',
  'test/simulator/catch-up.test.ts': 'all',
  'test/simulator/driver.test.ts': 'all',
  'test/simulator/replayer.test.ts': 'all',
  'test/simulator/simulation.test.ts': 'all',
  'test/simulator/matrix/clean-runs.test.ts': 'all',
  'test/simulator/schedules/schedules.test.ts': 'all',
};

export const suitesOf = (group: SuiteGroup): string[] =>
  Object.entries(simulatedSuites)
    .filter(([, its]) => its === group)
    .map(([file]) => file);
