import { globSync } from 'node:fs';
import { closed, composers, type PartName, parts } from '../simulator/matrix/parts.ts';
import { openGraph, reach } from './imports.ts';
import { chaosEntries, matrixEntries, scheduleEntries, series, type SeriesName } from './series.ts';
import { checkout, selectFiles } from './sources.ts';

const graph = openGraph(checkout);
const composersBut = (...lifecycles: PartName[]): string[] => {
  const called: readonly string[] = lifecycles.flatMap((name) => parts[name].composedBy);
  return composers.filter((file) => !called.includes(file));
};
const ofPackage = 'package.json';
const flowWorld = 'test/simulator/worlds/flow-world.ts';

/** What starts each, what it does not do though an import leads there, and what of the rest decides nothing. */
const runs: [name: SeriesName, entries: readonly string[], closed: readonly string[], but: readonly string[]][] = [
  ['simulation', scheduleEntries, closed, [ofPackage]],
  ['matrix-evictions', matrixEntries, composersBut('evictions'), [ofPackage]],
  ['matrix-hypervisors', matrixEntries, composersBut('hypervisors'), [ofPackage]],
  ['matrix-decommissioning', matrixEntries, composersBut('hypervisors'), [ofPackage]],
  ['matrix-repairs', matrixEntries, composersBut('hypervisors'), [ofPackage]],
  ['matrix-guests', matrixEntries, composersBut('nodeFailures'), [ofPackage]],
  ['matrix-virtual-machines', matrixEntries, composersBut('virtualMachines', 'resourcePolicies'), [ofPackage]],
  ['matrix-fast-deploy', matrixEntries, composersBut('virtualMachines'), [ofPackage]],
  ['chaos', chaosEntries, [flowWorld], [ofPackage, flowWorld]],
];

test.each(runs)('the evidence of %s is about whatever its program leads to', (name, entries, notFollowed, but) => {
  const reached = reach(entries, graph, (path) => !notFollowed.includes(path));
  expect(reached.length).toBeGreaterThan(300);
  const covered = new Set(selectFiles(reached, series[name].globs));
  expect(reached.filter((file) => !covered.has(file)).toSorted()).toEqual([...but].toSorted());
});

const sources = (name: SeriesName): Set<string> =>
  new Set(
    selectFiles(
      globSync(['{activities,bin,deploy,lab,starters,test,workflows}/**/*.*'], { cwd: checkout }),
      series[name].globs,
    ),
  );

test.each<[name: SeriesName, within: string[], without: string[]]>([
  [
    'simulation',
    [
      'test/flows/world-base.ts',
      'test/flows/until.ts',
      'test/budgets/budgets.ts',
      'test/budgets/budget-of.ts',
      'lab/clock.ts',
      'lab/openstack/seed.ts',
      'lab/openstack/host-profile.ts',
      'lab/vsphere/witness.ts',
      'lab/vsphere/policy-player.ts',
      'lab/agent-neighbours.ts',
      'lab/machines.ts',
    ],
    [
      'lab/lab.ts',
      'lab/demo/main.ts',
      'deploy/rbac/bootstrap.yaml',
      'test/chaos/run-chaos.ts',
      'test/faults/matrix.ts',
    ],
  ],
  [
    'matrix-evictions',
    [
      'test/flows/world-base.ts',
      'test/budgets/budgets.ts',
      'test/faults/worker.ts',
      'activities/lib/wait.ts',
      'starters/bridge.ts',
      'lab/drover.ts',
      'lab/openstack/seed.ts',
      'lab/openstack/controlplane/fleet.py',
      ...globSync('deploy/{crds,rbac,admission}/*.yaml', { cwd: checkout }),
    ],
    [
      'lab/demo/main.ts',
      'test/faults/main.ts',
      'test/simulator/simulation.ts',
      'activities/vsphere/watch/watch-vcenter.ts',
      'workflows/data-volume/plan.ts',
      'starters/doctor.ts',
    ],
  ],
  [
    'chaos',
    [
      'test/flows/world.ts',
      'test/budgets/cost.ts',
      'test/faults/proxy.ts',
      'starters/eviction/evict.ts',
      'bin/drover.mjs',
      'lab/csi/control.ts',
      ...globSync('deploy/{crds,rbac,admission}/*.yaml', { cwd: checkout }),
    ],
    [
      'lab/demo/main.ts',
      'test/chaos/main.ts',
      'test/fakes/kubernetes/controllers.ts',
      'test/faults/matrix.ts',
      'test/simulator/simulation.ts',
    ],
  ],
])('a change makes the evidence of %s old, where it decides how it goes', (name, within, without) => {
  const its = sources(name);
  expect(within.filter((file) => !its.has(file))).toEqual([]);
  expect(without.filter((file) => its.has(file))).toEqual([]);
});

test('how records are kept and judged makes none of them old', () => {
  for (const [name] of runs)
    expect({ name, files: [...sources(name)].filter((file) => file.startsWith('test/evidence/')) }).toEqual({
      name,
      files: [],
    });
});
