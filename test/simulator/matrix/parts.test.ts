import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from '../../evidence/judge.ts';
import { makeRecord } from '../../evidence/record.ts';
import { series } from '../../evidence/series.ts';
import { checkout, digestOf, selectFiles, withoutImports } from '../../evidence/sources.ts';
import { formatCell } from './cell.ts';
import { readCleanRuns } from './clean-runs.ts';
import { beyondPart, cellsOfParts, partOf } from './part-of.ts';
import { type PartName, partNames, sourcesOf } from './parts.ts';
import { partRun } from './record-parts.ts';

const runs = readCleanRuns();
const all = cellsOfParts();
const filesOf = (name: PartName): string[] =>
  withoutImports(sourcesOf(name)).filter((glob) => !glob.startsWith('!') && !glob.includes('*'));
const sources = new Map(partNames.map((name) => [name, new Set(filesOf(name))]));

test('every scenario and every story is in one part, and every part has cells', () => {
  const named = [...all.values()].flatMap(({ scenarios }) => scenarios);
  expect(named.toSorted()).toEqual(Object.keys(runs).toSorted());
  expect([...all].filter(([, { cells }]) => cells.length === 0)).toEqual([]);
  expect([...all.keys()].toSorted()).toEqual([...partNames].toSorted());
});

test('a part says which systems its cells call, and a cell that goes beyond it is found', () => {
  for (const [name, run] of Object.entries(runs))
    expect({ name, beyond: beyondPart(name, run, []) }).toEqual({ name, beyond: [] });
  const run = { steps: [], tasks: 1, calls: ['kubernetes GET /a.1', 'nova GET /servers.1', 'unheard-of GET /.1'] };
  expect(beyondPart('made', run, ['reconcileVirtualMachine', 'evictHypervisor'])).toEqual(
    ['runs evictHypervisor', 'calls nova', 'calls unheard-of'].map(
      (what) => `it ${what}, and virtualMachines in test/simulator/matrix/parts.ts does not say so`,
    ),
  );
});

/** Production code, by file. */
const textsOf = (glob: string) =>
  globSync(glob, { cwd: checkout })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => ({ file, text: readFileSync(join(checkout, file), 'utf8') }));
const activityFiles = textsOf('activities/**/*.ts');
const composers = textsOf('workers/*-activities.ts');

/** Files in which an activity of that name is written. */
const writers = new Map<string, string[]>();
function writersOf(activity: string): string[] {
  const found = writers.get(activity) ?? findWriters(activity);
  writers.set(activity, found);
  return found;
}
function findWriters(activity: string): string[] {
  const written = new RegExp(String.raw`(?:^\s*(?:async )?|function |\{ )${activity}(?:\(|: |,$)`, 'mu');
  const filesIn = (texts: ReturnType<typeof textsOf>): string[] =>
    texts.filter(({ text }) => written.test(text)).map(({ file }) => file);
  const found = filesIn(activityFiles);
  // A watch has another name there.
  return found.length > 0 ? found : filesIn(composers);
}

test('what implements the activities that a part calls is among its sources', () => {
  for (const [name, { steps }] of Object.entries(runs)) {
    const part = partOf(name);
    const called = new Set(steps.map((step) => /([^/]+)\.\d+$/u.exec(step)?.[1] ?? step));
    const missing = [...called].filter((activity) => !writersOf(activity).some((file) => sources.get(part)?.has(file)));
    expect({ name, part, missing }).toEqual({ name, part, missing: [] });
  }
});

/** What decides how its cells go, and what does not. */
const changes: [part: PartName, in_: string[], out: string[]][] = [
  [
    'evictions',
    ['workflows/eviction/plan.ts', 'activities/nova/client.ts', 'activities/preflight/judge-hosts.ts'],
    [
      'workflows/virtual-machine/reconcile.ts',
      'test/fakes/vsphere/virtual-machines.ts',
      'workflows/hypervisor/plan.ts',
    ],
  ],
  ['hypervisors', ['workflows/hypervisor/plan.ts', 'workflows/eviction/plan.ts', 'test/fakes/hosts/bmc.ts'], []],
  [
    'nodeFailures',
    ['workflows/node-failure/plan.ts', 'activities/redfish/client.ts'],
    ['workflows/data-volume/plan.ts'],
  ],
  [
    'virtualMachines',
    [
      'workflows/virtual-machine/reconcile.ts',
      'test/fakes/vsphere/virtual-machines.ts',
      'activities/vsphere/observation/observe.ts',
    ],
    ['workflows/eviction/plan.ts', 'test/fakes/openstack/model.ts', 'test/simulator/volumes/provisioner.ts'],
  ],
  ['resourcePolicies', ['workflows/resource-policy/reconcile.ts'], ['workflows/eviction/plan.ts']],
  [
    'machines',
    ['workflows/machine-safety/sweep-orphans.ts', 'test/simulator/sweeps/sweep-world.ts'],
    ['workflows/eviction/plan.ts'],
  ],
  ['agentPools', ['workflows/agent-pool/reconcile-pool.ts', 'lab/agent-neighbours.ts'], ['workflows/eviction/plan.ts']],
  [
    'clones',
    ['workflows/data-volume/plan.ts', 'test/simulator/volumes/provisioner.ts'],
    ['test/fakes/vsphere/virtual-machines.ts'],
  ],
];
/** Under every part: the driver, the simulator, the judges, the fakes of what is always there. */
const common = [
  'package-lock.json',
  'workflows/index.ts',
  'workflows/observe-runs.ts',
  'contracts/errors.ts',
  'k8s-bridge/routes.ts',
  'test/simulator/deployment.ts',
  'test/simulator/temporal/server.ts',
  'test/simulator/matrix/cell.ts',
  'test/fakes/kubernetes/api-server.ts',
  'test/faults/run-cell.ts',
  'test/invariants/effects.ts',
  'workers/queues.ts',
];

test.each(changes)(
  '%s: a changed source makes its record old, and what it does not load leaves it',
  (name, within, without) => {
    const its = sources.get(name) ?? new Set();
    expect(
      [...common.filter((file) => file !== 'package-lock.json'), ...within].filter((file) => !its.has(file)),
    ).toEqual([]);
    expect(sourcesOf(name)).toContain('package-lock.json');
    expect(without.filter((file) => its.has(file))).toEqual([]);
    // The digest is that of the files, whichever of them is another.
    const tracked = selectFiles([...its, 'evidence/README.md'], sourcesOf(name));
    const digest = (changed?: string): string =>
      digestOf(new Map(tracked.map((file) => [file, file === changed ? 'b' : 'a'])));
    const cells = all.get(name)?.cells ?? [];
    const { globs } = series[`simulated-${name}`];
    const recordOf = (complaints: readonly string[]) => ({
      ...makeRecord(
        partRun({
          name,
          scenarios: [],
          cells: cells.slice(0, 2),
          complaints: new Map(cells.slice(0, 2).map((cell) => [formatCell(cell), complaints])),
          startedMs: Date.now(),
        }),
        [],
      ),
      sources: { globs: [...globs], digest: digest() },
    });
    const passed = recordOf([]);
    const stateOf = (record: typeof passed, changed?: string): string =>
      judge([record], { globs, digest: digest(changed), countChanged: () => 1, countBeyond: () => 0 }).state;
    expect(stateOf(passed)).toBe('fresh');
    for (const file of within) expect({ file, state: stateOf(passed, file) }).toEqual({ file, state: 'stale' });
    expect(stateOf(passed, 'evidence/README.md')).toBe('fresh');
    expect(stateOf(recordOf(['invariant 4']))).toBe('failed');
  },
);
