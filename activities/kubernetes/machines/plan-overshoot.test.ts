import type { MachineDeployment, MachineSet } from '../../../contracts/crds/machine-set.ts';
import { type CountedMachine, type FreezeStep, judgeSet, planOvershoot } from './plan-overshoot.ts';

const settings = { safetyUp: 2, safetyDown: 1 };
const unfreeze = { 'safety.machine.sapcloud.io/unfreeze': 'True' };
const frozen = { type: 'Frozen', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };

interface Sample {
  label?: boolean;
  condition?: boolean;
  annotation?: boolean;
  deleted?: boolean;
}

const metadataOf = (name: string, { label, annotation, deleted }: Sample) => ({
  namespace: 'shoot',
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: label === true ? { freeze: 'True' } : {},
  annotations: annotation === true ? unfreeze : {},
  ...(deleted === true && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
});

const setOf = (sample: Sample & { replicas?: number; name?: string; owner?: string } = {}): MachineSet => ({
  apiVersion: 'machine.sapcloud.io/v1alpha1',
  kind: 'MachineSet',
  metadata: {
    ...metadataOf(sample.name ?? 'set', sample),
    ...(sample.owner !== undefined && {
      ownerReferences: [{ kind: 'MachineDeployment', uid: `uid-${sample.owner}`, controller: true }],
    }),
  },
  spec: { replicas: sample.replicas ?? 3, template: { metadata: { labels: { pool: 'a' } } } },
  status: { machineSetCondition: sample.condition === true ? [frozen] : [] },
});

const deploymentOf = (
  sample: Sample & { replicas?: number; maxSurge?: number | string; inPlace?: boolean; name?: string } = {},
): MachineDeployment => {
  const update = { ...(sample.maxSurge !== undefined && { maxSurge: sample.maxSurge }) };
  return {
    apiVersion: 'machine.sapcloud.io/v1alpha1',
    kind: 'MachineDeployment',
    metadata: metadataOf(sample.name ?? 'deployment', sample),
    spec: {
      replicas: sample.replicas ?? 3,
      template: {},
      strategy: sample.inPlace === true ? { inPlaceUpdate: update } : { rollingUpdate: update },
    },
    status: { conditions: sample.condition === true ? [frozen] : [] },
  };
};

const parent = deploymentOf({ maxSurge: 1 });
type Parent = Parameters<typeof judgeSet>[1];

test.each<[string, MachineSet, Parent, number, string]>([
  ['as many as wanted', setOf(), null, 3, 'nothing'],
  ['2·replicas + up − 1', setOf(), null, 7, 'nothing'],
  ['2·replicas + up', setOf(), null, 8, 'freeze OverShootingReplicaCount'],
  ['far more', setOf(), null, 100, 'freeze OverShootingReplicaCount'],
  ['none wanted, and up of them', setOf({ replicas: 0 }), null, 2, 'freeze OverShootingReplicaCount'],
  ['too many, frozen', setOf({ label: true, condition: true }), null, 8, 'nothing'],
  ['too many, the condition alone', setOf({ condition: true }), null, 8, 'freeze OverShootingReplicaCount'],
  ['higher − down, frozen', setOf({ label: true, condition: true }), null, 7, 'thaw FewerMachines'],
  ['few, the label alone', setOf({ label: true }), null, 3, 'thaw FewerMachines'],
  ['few, the condition alone', setOf({ condition: true }), null, 3, 'thaw FewerMachines'],
  ['few, not frozen', setOf(), null, 3, 'nothing'],
  ['a parent: replicas + surge + up − 1', setOf(), parent, 5, 'nothing'],
  ['a parent: replicas + surge + up', setOf(), parent, 6, 'freeze OverShootingReplicaCount'],
  ['a parent: its replicas count', setOf({ replicas: 30 }), parent, 6, 'freeze OverShootingReplicaCount'],
  ['a parent: frozen and one fewer', setOf({ label: true }), parent, 5, 'thaw FewerMachines'],
  ['a percentage is rounded up', setOf(), deploymentOf({ maxSurge: '25%' }), 6, 'freeze OverShootingReplicaCount'],
  ['a percentage of one more', setOf(), deploymentOf({ replicas: 5, maxSurge: '25%' }), 8, 'nothing'],
  ['0 %', setOf(), deploymentOf({ maxSurge: '0%' }), 5, 'freeze OverShootingReplicaCount'],
  ['in-place updates', setOf(), deploymentOf({ maxSurge: 1, inPlace: true }), 6, 'freeze OverShootingReplicaCount'],
  ['no maxSurge', setOf(), deploymentOf(), 600, 'unclear'],
  ['a maxSurge that is none', setOf(), deploymentOf({ maxSurge: 'many' }), 600, 'unclear'],
  ['no maxSurge, frozen', setOf({ label: true }), deploymentOf(), 0, 'unclear'],
  ['a parent that is not there', setOf(), 'missing', 600, 'unclear'],
  ['annotated', setOf({ label: true, condition: true, annotation: true }), null, 600, 'thaw UnfreezeAnnotation'],
  ['annotated, and not frozen', setOf({ annotation: true }), null, 600, 'thaw UnfreezeAnnotation'],
  [
    'its parent is annotated',
    setOf({ label: true }),
    deploymentOf({ annotation: true }),
    600,
    'thaw UnfreezeAnnotation',
  ],
  ['its parent is annotated, and it is not frozen', setOf(), deploymentOf({ annotation: true }), 600, 'nothing'],
  ['it is deleted', setOf({ deleted: true }), null, 600, 'nothing'],
])('%s: %#', (_, set, of, count, expected) => {
  const verdict = judgeSet(set, of, count, settings);
  expect(verdict.kind === 'step' ? `${verdict.step.change} ${verdict.step.reason}` : verdict.kind).toBe(expected);
});

test('where both thresholds are one, a set that is at it stays frozen', () => {
  const frozenSet = setOf({ label: true, condition: true });
  expect(judgeSet(frozenSet, null, 8, { safetyUp: 2, safetyDown: 0 }).kind).toBe('nothing');
  expect(judgeSet(frozenSet, null, 7, { safetyUp: 2, safetyDown: 0 }).kind).toBe('step');
});

const machinesOf = (count: number, { owner = 'set', pool = 'a' } = {}): CountedMachine[] =>
  Array.from({ length: count }, () => ({ labels: { pool, more: 'x' }, owners: [owner] }));
const said = ({ change, object, reason }: FreezeStep): string => `${change} ${object.metadata.name} ${reason}`;
const owned = { owner: 'deployment' };

test.each<[string, MachineSet[], MachineDeployment[], CountedMachine[], string[]]>([
  [
    'a set and its parent are frozen together',
    [setOf(owned)],
    [parent],
    machinesOf(6),
    ['freeze set OverShootingReplicaCount', 'freeze deployment OverShootingReplicaCount'],
  ],
  ['Machines of another set do not count', [setOf(owned)], [parent], machinesOf(6, { owner: 'other' }), []],
  ['Machines of another template do not count', [setOf(owned)], [parent], machinesOf(6, { pool: 'b' }), []],
  [
    'the parent of a frozen set is frozen',
    [setOf({ ...owned, label: true, condition: true })],
    [parent],
    machinesOf(6),
    ['freeze deployment MachineDeploymentStateSync'],
  ],
  [
    'half a freeze of the parent is made whole',
    [setOf({ ...owned, label: true, condition: true })],
    [deploymentOf({ maxSurge: 1, label: true })],
    machinesOf(6),
    ['freeze deployment MachineDeploymentStateSync'],
  ],
  [
    'a whole freeze stays as it is',
    [setOf({ ...owned, label: true, condition: true })],
    [deploymentOf({ maxSurge: 1, label: true, condition: true })],
    machinesOf(6),
    [],
  ],
  [
    'both thaw together',
    [setOf({ ...owned, label: true, condition: true })],
    [deploymentOf({ maxSurge: 1, label: true, condition: true })],
    machinesOf(5),
    ['thaw set FewerMachines', 'thaw deployment MachineDeploymentStateSync'],
  ],
  [
    'a parent without a frozen set thaws',
    [setOf(owned)],
    [deploymentOf({ maxSurge: 1, label: true })],
    machinesOf(3),
    ['thaw deployment MachineDeploymentStateSync'],
  ],
  [
    'one of two sets is frozen still',
    [setOf({ ...owned, label: true, condition: true }), setOf({ ...owned, name: 'old', label: true, condition: true })],
    [deploymentOf({ maxSurge: 1, label: true, condition: true })],
    machinesOf(6),
    ['thaw old FewerMachines'],
  ],
  [
    'the annotation of a parent thaws all of it',
    [setOf({ ...owned, label: true, condition: true }), setOf({ ...owned, name: 'old' })],
    [deploymentOf({ maxSurge: 1, label: true, condition: true, annotation: true })],
    machinesOf(600),
    ['thaw set UnfreezeAnnotation', 'thaw deployment UnfreezeAnnotation'],
  ],
  [
    'the annotation goes where nothing is frozen',
    [],
    [deploymentOf({ maxSurge: 1, annotation: true })],
    [],
    ['thaw deployment UnfreezeAnnotation'],
  ],
  ['a parent that is deleted is left alone', [], [deploymentOf({ label: true, deleted: true })], [], []],
])('%s', (_, sets, deployments, machines, steps) => {
  const plan = planOvershoot({ sets, deployments, machines }, settings);
  expect(plan.steps.map(said)).toEqual(steps);
  expect(plan.unclear).toEqual([]);
});

test('what cannot be judged is said, and nothing is done', () => {
  const view = {
    sets: [setOf({ owner: 'gone' }), setOf({ ...owned, label: true })],
    deployments: [deploymentOf()],
    machines: [],
  };
  const { steps, unclear } = planOvershoot(view, settings);
  // Its set is frozen, as it was.
  expect(steps.map(said)).toEqual(['freeze deployment MachineDeploymentStateSync']);
  expect(unclear).toEqual([
    'The MachineDeployment of MachineSet set is not in the list.',
    expect.stringContaining('has no maxSurge that is a number or a percentage'),
  ]);
});

test('the message is the replaced manager’s', () => {
  const { steps } = planOvershoot({ sets: [setOf()], deployments: [], machines: machinesOf(9) }, settings);
  expect(steps[0]?.message).toBe(
    'The number of machines backing MachineSet: set is 9 >= 8 which is the Max-ScaleUp-Limit',
  );
});
