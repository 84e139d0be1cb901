import type { PlacedAt } from '../../../../contracts/virtual-machine/observation.ts';
import type {
  ObservedClaim,
  ObservedInstanceClaim,
  ObservedVolumes,
} from '../../../../contracts/virtual-machine/volumes.ts';
import {
  beginMs,
  classOf,
  contextOf,
  minute,
  placedAt,
  prerequisitesOf,
  uid,
  volume,
  type Given,
} from '../../../../test/fixtures/workflows/virtual-machine.ts';
import { planInstanceStorage } from './instance-storage.ts';

const [first, second] = [`instance-pvc-${uid}-0`, `instance-pvc-${uid}-1`];
const instance = { storageClass: 'local', size: '1Gi' };
const volumes = [first, second].map((name) => volume(name, { claim: name, instance }));
const esx1 = { id: 'host-1', node: 'esx-1.lab' };

const claim = (
  more: Partial<Omit<ObservedClaim, 'instance'>> = {},
  own: Partial<ObservedInstanceClaim> = {},
): ObservedVolumes['claims'][string] => ({
  kind: 'found',
  value: {
    phase: 'Bound',
    selectedNode: esx1.node,
    waitsForConsumer: true,
    requested: '1Gi',
    limit: null,
    instance: { uid: 'claim-uid', own: true, deleting: false, createdMs: beginMs - minute, failure: null, ...own },
    ...more,
  },
});
const missing = { kind: 'unread', message: 'There is no PersistentVolumeClaim', isMissing: true } as const;
const claimsOf = (one: ObservedVolumes['claims'][string], other = claim()): ObservedVolumes => ({
  served: { single: true, batch: true },
  problem: null,
  claims: { [first]: one, [second]: other },
  attachments: [],
  batch: null,
});

/** The next step, or what is waited for, in a line. */
function planned(given: Given, at: Partial<PlacedAt> = {}): string {
  const context = contextOf(given);
  const plan = planInstanceStorage(context, { ...placedAt, host: esx1.id, node: esx1.node, ...at });
  if (!('outcome' in plan))
    return `${plan.isBoundAnew ? 'bound' : 'made'} on ${plan.at.host ?? 'any'} ${plan.at.node ?? ''}`.trim();
  const { outcome } = plan;
  if (outcome.kind === 'wait') return `wait ${outcome.message}`;
  if (outcome.kind !== 'execute') return outcome.kind;
  return outcome.steps
    .map((step) => {
      if (step.kind === 'patchVirtualMachine') return JSON.stringify(step.patches);
      return step.kind === 'changeVolumes'
        ? step.changes
            .map((one) => {
              if (one.kind === 'addInstanceVolumes') return `add ${one.volumes.map(({ size }) => size).join(' ')}`;
              if (one.kind === 'makeClaim') return `make ${one.claim.slice(-1)} on ${one.node}`;
              return one.kind === 'deleteClaim' ? `delete ${one.claim.slice(-1)}` : one.kind;
            })
            .join(', ')
        : step.kind;
    })
    .join('; ');
}

const ofClass = prerequisitesOf({
  class: { kind: 'found', value: classOf({ instanceStorage: { storageClass: 'local', sizes: ['1Gi', '2Gi'] } }) },
});
const chosen = (isBound = false) => ({ volumes, instanceStorage: { host: esx1, isBound } });
const given = (claims: ObservedVolumes, isBound = false): Given => ({
  desired: chosen(isBound),
  observed: { volumes: claims },
});

const failure = 'FAILED_PLACEMENT-NotEnoughResources';
const failedAt = (createdMs: number) => claim({ phase: 'Pending' }, { failure, createdMs });

const rows: [what: string, given: Given, at: Partial<PlacedAt>, planned: string][] = [
  ['a class without any is made where DRS wants it', {}, { host: null }, 'made on any esx-1.lab'],
  ['that of the class is written into the spec first', { observed: { prerequisites: ofClass } }, {}, 'add 1Gi 2Gi'],
  [
    'what the spec has stays, whatever the class says by now',
    { desired: { volumes, instanceStorage: { host: null, isBound: false } }, observed: { prerequisites: ofClass } },
    {},
    `[{"labels":{"topology.kubernetes.io/zone":"zone-a"},"annotations":{"vmoperator.vmware.com/instance-storage-selected-node-moid":"host-1","vmoperator.vmware.com/instance-storage-selected-node":"esx-1.lab"}}]`,
  ],
  [
    'no host can be noted where none is chosen',
    { desired: { volumes, instanceStorage: { host: null, isBound: false } } },
    { host: null },
    'wait a host for its instance storage',
  ],
  ['claims are made for the host', given(claimsOf(missing, missing)), {}, 'make 0 on esx-1.lab, make 1 on esx-1.lab'],
  [
    'one that cannot be read is waited for',
    given(claimsOf({ kind: 'unread', message: 'it may not be read' })),
    {},
    'wait it may not be read',
  ],
  [
    'one that is not bound yet is waited for',
    given(claimsOf(claim({ phase: 'Pending' }))),
    {},
    `wait PersistentVolumeClaim ${first} to be bound on host esx-1.lab; it is Pending`,
  ],
  [
    'one of another object is never touched',
    given(claimsOf(claim({ selectedNode: 'esx-2.lab' }, { own: false }))),
    {},
    `wait PersistentVolumeClaim ${first} to be gone, as it is another object’s: delete it`,
  ],
  [
    'one that is being deleted is waited out',
    given(claimsOf(claim({}, { deleting: true }))),
    {},
    `wait PersistentVolumeClaim ${first} to be gone, as it is being deleted`,
  ],
  ['one for another host is deleted', given(claimsOf(claim({ selectedNode: 'esx-2.lab' }))), {}, 'delete 0'],
  [
    'one that is bound for the host before is deleted as well, as another host is chosen',
    given(claimsOf(claim())),
    { host: 'host-2', node: 'esx-2.lab' },
    `[{"labels":{"topology.kubernetes.io/zone":"zone-a"},"annotations":{"vmoperator.vmware.com/instance-storage-selected-node-moid":"host-2","vmoperator.vmware.com/instance-storage-selected-node":"esx-2.lab"}}]`,
  ],
  [
    'one that has no place there is left alone for a time',
    given(claimsOf(failedAt(beginMs - minute))),
    { host: 'host-2', node: 'esx-2.lab' },
    `wait PersistentVolumeClaim ${first}, which has no place on host esx-1.lab (the vSphere CSI driver says: ${failure}); from ${new Date(beginMs + 4 * minute).toISOString()} on a host is chosen again`,
  ],
  [
    'then another host is chosen',
    given(claimsOf(failedAt(beginMs - 5 * minute))),
    { host: 'host-2', node: 'esx-2.lab' },
    `[{"labels":{"topology.kubernetes.io/zone":"zone-a"},"annotations":{"vmoperator.vmware.com/instance-storage-selected-node-moid":"host-2","vmoperator.vmware.com/instance-storage-selected-node":"esx-2.lab"}}]`,
  ],
  [
    'or, where there is no other, it is tried there once more',
    given(claimsOf(failedAt(beginMs - 5 * minute))),
    {},
    'delete 0',
  ],
  ['its VM is made there when all are bound', given(claimsOf(claim())), {}, 'bound on host-1 esx-1.lab'],
  [
    'made anew, it goes where its volumes are, whatever is chosen now',
    given(claimsOf(missing), true),
    { host: 'host-2', node: 'esx-2.lab' },
    'made on host-1 esx-1.lab',
  ],
];

test.each(rows)('%s', (_what, one, at, expected) => {
  expect(planned(one, at)).toBe(expected);
});
