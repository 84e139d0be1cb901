import { virtualMachineFinalizers } from '../../../contracts/virtual-machine/metadata.ts';
import { planDelete } from './delete.ts';
import {
  beginMs,
  candidateOf,
  contextOf,
  failureIn,
  inShort,
  minute,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';

const both = ['vm-1', 'vm-2'].map((moId) => candidateOf({ moId, foundBy: ['owner'], isRecorded: null }));
const copy = candidateOf({ moId: 'vm-2', foundBy: ['owner'], instanceUuid: 'another', isRecorded: false });
const unread = candidateOf({ owner: null, unreadable: true });
const off = { powerState: 'poweredOff' as const };
const metadata = contextOf().observed.vm?.config?.extraConfig ?? {};
const adminPaused = { extraConfig: { ...metadata, 'vmservice.virtualmachine.pause': 'true' } };
const disk = { key: 2_001, name: 'data', capacityBytes: 1, own: false, boot: false };
const promotion = { id: 'task-1', descriptionId: 'VirtualMachine.promoteDisks', progress: null };

const rows: [why: string, given: Given, does: string][] = [
  ['CheckPause Yes: skipped', { desired: { paused: true } }, 'stop Paused'],
  ['a gate holds it: skipped, and said', { desired: { deleteChecks: ['backup'] } }, 'stop DeletionBlocked'],
  ['CheckFinalizer No: nothing is left to do', { desired: { finalizers: [] } }, 'success'],
  ['CheckFinalizer No: another’s finalizer is not drover’s', { desired: { finalizers: ['a/b'] } }, 'success'],
  [
    'the deprecated finalizer is honoured',
    { desired: { finalizers: [virtualMachineFinalizers.deprecated] }, vm: off },
    'destroy',
  ],
  [
    'in another vCenter nothing is deleted, and nothing released',
    { vm: null, desired: { managerId: 'older', copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } } },
    'stop VcenterChanged',
  ],
  ['nor left to others', { vm: off, desired: { managerId: 'older', skipDelete: true } }, 'stop VcenterChanged'],
  ['CheckSkipDelete Yes: the VM stays, without its metadata', { desired: { skipDelete: true } }, 'releaseVm'],
  [
    'CheckSkipDelete Yes: once',
    { desired: { skipDelete: true }, config: { extraConfig: {}, managedBy: null } },
    'patchVirtualMachine',
  ],
  ['CheckSkipDelete Yes: there is no VM', { desired: { skipDelete: true }, vm: null }, 'patchVirtualMachine'],
  [
    'CheckSkipDelete Yes: what others have left on a VM that was never taken over stays',
    {
      desired: { skipDelete: true },
      observed: { candidates: [candidateOf({ owner: null })] },
      config: { extraConfig: { 'vmservice.note': 'x' } },
    },
    'patchVirtualMachine',
  ],
  [
    'CheckSkipDelete Yes: metadata that cannot be removed hold the finalizer',
    { desired: { skipDelete: true }, memory: { failures: [failureIn('delete')] } },
    'requeue VcenterRefused',
  ],
  ['CheckSkipDelete No: the VM is destroyed', { vm: off }, 'destroy'],
  ['DeleteVMErr No: it is gone, the finalizer goes', { vm: null }, 'patchVirtualMachine'],
  [
    'DeleteVMErr Yes, CheckPauseKey Yes: skipped',
    { vm: off, config: adminPaused, memory: { failures: [failureIn('delete')] } },
    'stop Paused',
  ],
  ['an administrator’s pause holds it at once', { vm: off, config: adminPaused }, 'stop Paused'],
  [
    'DeleteVMErr Yes, CheckPauseKey No: reported, and retried',
    { vm: off, memory: { failures: [failureIn('delete')] } },
    'requeue VcenterRefused',
  ],
  ['then', { vm: off, memory: { failures: [failureIn('delete')] }, nowMs: failureIn('delete').retryAtMs }, 'destroy'],
  [
    'a create that is under way is stopped first',
    { vm: null, memory: { create: { task: 'task-1', sinceMs: beginMs } } },
    'cancelCreate',
  ],
  [
    'even if it is not known whether vCenter took it',
    { vm: null, memory: { create: { task: null, sinceMs: beginMs } } },
    'cancelCreate',
  ],
  [
    'or it is not in memory, but in an annotation',
    { vm: null, desired: { creatingSince: '2026-01-01T00:00:00Z' } },
    'cancelCreate, patchVirtualMachine',
  ],
  [
    'also where vCenter lists the VM, and shows no configuration of it yet',
    {
      vm: null,
      observed: { candidates: [{ ...unread, foundBy: ['name'] }] },
      desired: { creatingSince: '2026-01-01T00:00:00Z' },
    },
    'cancelCreate, patchVirtualMachine',
  ],
  [
    'or shows no owner of it yet',
    {
      observed: { candidates: [candidateOf({ owner: null, foundBy: ['uid', 'name'] })] },
      desired: { creatingSince: '2026-01-01T00:00:00Z' },
    },
    'cancelCreate, patchVirtualMachine',
  ],
  ['a note of before is no create', { vm: off, desired: { creatingSince: '2026-01-01T00:00:00Z' } }, 'destroy'],
  [
    'what was copied for a VM that is not made is removed, and then noted',
    { vm: null, desired: { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } } },
    'removeFolder, patchVirtualMachine',
  ],
  [
    'that too is stopped first',
    {
      vm: null,
      desired: {
        creatingSince: '2026-01-01T00:00:00Z',
        copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' },
      },
    },
    'cancelCreate, patchVirtualMachine',
  ],
  [
    'also where the VM would be left to others',
    { vm: null, desired: { skipDelete: true, copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } } },
    'removeFolder, patchVirtualMachine',
  ],
  [
    'where it cannot be removed, the finalizer stays',
    {
      vm: null,
      desired: { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } },
      memory: { failures: [failureIn('delete')] },
    },
    'requeue VcenterRefused',
  ],
  [
    'once there is a VM, it is the VM’s',
    { vm: off, desired: { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } } },
    'patchVirtualMachine',
  ],
  [
    'of two that could be it, neither is destroyed',
    {
      observed: { candidates: both },
      desired: { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } },
    },
    'stop Ambiguous',
  ],
  [
    'one that cannot be stopped holds the finalizer',
    { vm: null, desired: { creatingSince: '2026-01-01T00:00:00Z' }, memory: { failures: [failureIn('delete')] } },
    'requeue VcenterRefused',
  ],
  [
    'while vCenter returns no configuration, it is not known whose it is',
    { vm: null, observed: { candidates: [unread] } },
    'stop NotConnected',
  ],
  [
    'nor whether what was copied is its own',
    {
      vm: null,
      observed: { candidates: [unread] },
      desired: {
        creatingSince: '2026-01-01T00:00:00Z',
        copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' },
      },
    },
    'stop NotConnected',
  ],
  [
    'CheckSkipDelete Yes: nor whether it has metadata of drover’s',
    { vm: null, observed: { candidates: [unread] }, desired: { skipDelete: true } },
    'stop NotConnected',
  ],
  ['it cannot be reached', { vm: { connectionState: 'disconnected' } }, 'stop NotConnected'],
  ['a promotion of disks is cancelled', { vm: { task: promotion } }, 'cancelTask'],
  [
    'any other task is waited for',
    { vm: { task: { ...promotion, descriptionId: 'VirtualMachine.clone' } } },
    'awaitTask',
  ],
  ['it is powered off by its mode: Hard', { desired: { powerOffMode: 'Hard' } }, 'powerOff'],
  ['it is powered off by its mode: Soft', { desired: { powerOffMode: 'Soft' } }, 'shutdownGuest'],
  [
    'Soft has its time',
    {
      desired: { powerOffMode: 'Soft' },
      memory: { soft: { operation: 'shutdown', sinceMs: beginMs, failed: false }, deletingSinceMs: beginMs },
    },
    'wait Deleting',
  ],
  [
    'but not for ever',
    {
      desired: { powerOffMode: 'Soft' },
      memory: { soft: { operation: 'shutdown', sinceMs: beginMs, failed: false }, deletingSinceMs: beginMs },
      nowMs: beginMs + 6 * minute,
    },
    'powerOff',
  ],
  [
    'a suspended VM cannot be asked',
    { vm: { powerState: 'suspended' }, desired: { powerOffMode: 'Soft' } },
    'powerOff',
  ],
  ['disks that drover did not make are detached first', { vm: off, config: { disks: [disk] } }, 'detachDisks'],
  [
    'what snapshots hold cannot be detached: it stays',
    { vm: { ...off, heldBySnapshots: ['[ds] volumes/a.vmdk'] }, config: { disks: [disk] } },
    'stop DisksInSnapshots',
  ],
  ['where they are not known, nothing is destroyed', { vm: off, config: null }, 'stop InvalidConfig'],
  [
    'where they cannot be detached, nothing is destroyed',
    { vm: off, config: { disks: [disk] }, memory: { failures: [failureIn('delete', false)] } },
    'stop VcenterRefused',
  ],
  [
    'a foreign VM of that name stays, the object goes',
    { vm: null, observed: { candidates: [candidateOf({ owner: null, foundBy: ['name'] })] } },
    'patchVirtualMachine',
  ],
  ['of two that could be it, none is touched', { observed: { candidates: both } }, 'stop Ambiguous'],
  ['a copy stays: its own is destroyed', { vm: off, observed: { candidates: [candidateOf(), copy] } }, 'destroy'],
  ['and then the object goes', { vm: null, observed: { candidates: [copy] } }, 'patchVirtualMachine'],
  [
    'one that was never taken over stays',
    { observed: { candidates: [candidateOf({ owner: null })] } },
    'patchVirtualMachine',
  ],
  [
    'one of the operator before is taken over first',
    { observed: { candidates: [candidateOf({ owner: { namespacedName: 'team/web', uid: null } })] } },
    'adopt',
  ],
  ['its properties are observed first', { observed: { vm: null, candidates: [candidateOf()] } }, 'wait Deleting'],
];

test.each(rows)('ReconcileDelete: %s', (_why, given, does) => {
  expect(inShort(planDelete(contextOf({ ...given, desired: { deleting: true, ...given.desired } })))).toBe(does);
});

test('both finalizers go, and only drover’s', () => {
  const finalizers = [...Object.values(virtualMachineFinalizers), 'a/b'];
  const outcome = planDelete(contextOf({ vm: null, desired: { deleting: true, finalizers } }));
  expect(outcome).toMatchObject({
    steps: [{ patches: [{ removeFinalizers: Object.values(virtualMachineFinalizers) }] }],
  });
});

test('creates that had begun when one was to be stopped are what is awaited, and no later ones', () => {
  const create = { task: null, sinceMs: beginMs, awaited: ['task-7'] };
  const outcome = planDelete(contextOf({ vm: null, desired: { deleting: true }, memory: { create } }));
  expect(outcome).toMatchObject({ steps: [{ kind: 'cancelCreate', task: null, awaited: ['task-7'] }] });
});

test('every step of a deletion counts as one of it', () => {
  const outcome = planDelete(contextOf({ desired: { deleting: true } }));
  expect(outcome.kind === 'execute' ? outcome.steps.map(({ stage }) => stage) : []).toEqual(['delete']);
});
