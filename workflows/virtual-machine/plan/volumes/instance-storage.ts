import {
  claimWithoutPlace,
  instanceVolumeName,
  type VolumeChange,
  type WantedVolume,
} from '../../../../contracts/virtual-machine/volumes.ts';
import { virtualMachineAnnotations, virtualMachineLabels } from '../../../../contracts/virtual-machine/metadata.ts';
import type { PlacedAt } from '../../../../contracts/virtual-machine/observation.ts';
import { execute, patch, wait, type Context, type Outcome } from '../context.ts';
import { intervalMs } from '../observe-again.ts';
import { describeChange } from './volumes.ts';

/**
 * Instance storage: volumes that a class gives each of its VMs, on the storage of the VM's host. As with VM Operator, a
 * host is chosen and noted, the volumes stand in the spec, their claims are made for that host and bound, and then the
 * VM is made there; from then on they are volumes like others.
 */

/**
 * How long a claim that has no place on its host is left alone: the vSphere CSI driver may find one, as VM Operator has
 * it.
 */
const failedMs = 300_000;

/** Where the VM goes, and whether that all claims are bound is still to be noted; or what comes before. Pure. */
export function planInstanceStorage(
  context: Context,
  at: PlacedAt,
): { outcome: Outcome } | { at: PlacedAt; isBoundAnew: boolean } {
  const { desired } = context;
  const volumes = desired.volumes.flatMap(({ instance, claim }) =>
    instance === undefined ? [] : [{ claim, instance }],
  );
  if (volumes.length === 0) {
    const outcome = addVolumes(context);
    return outcome === null ? { at, isBoundAnew: false } : { outcome };
  }
  const { host = null, isBound = false } = desired.instanceStorage ?? {};
  if (host !== null && isBound) return { at: { ...at, host: host.id, node: host.node }, isBoundAnew: false };
  const failed = volumes.flatMap(({ claim }) => {
    const without = host === null ? null : claimWithoutPlace(claimOf(context, claim), host.node);
    return without === null ? [] : [{ claim, ...without }];
  });
  const againMs = Math.min(...failed.map(({ createdMs }) => createdMs + failedMs));
  if (failed.length > 0 && context.nowMs < againMs)
    return {
      outcome: wait(
        'WaitingForInstanceStorage',
        `${failed.map(({ claim, failure }) => `PersistentVolumeClaim ${claim}, which has no place on host ${host?.node} (the vSphere CSI driver says: ${failure})`).join('; ')}; from ${new Date(againMs).toISOString()} on a host is chosen again`,
        againMs,
      ),
    };
  if (host === null || host.id !== at.host) return { outcome: chooseHost(context, at) };
  const { changes, pending, madeMs } = judgeClaims(context, volumes, host.node);
  if (changes.length > 0)
    return {
      outcome: execute('create', [
        `Have the instance storage of ${desired.name} made on host ${host.node}: ${changes.map(describeChange).join(', ')}`,
        { kind: 'changeVolumes', changes },
      ]),
    };
  if (pending.length === 0) return { at: { ...at, host: host.id, node: host.node }, isBoundAnew: true };
  // No event tells of claims.
  const untilMs = context.nowMs + intervalMs(context.settings, context.nowMs - madeMs);
  return { outcome: wait('WaitingForInstanceStorage', pending.join('; '), untilMs) };
}

/** Null: its class has none. */
function addVolumes({ desired: { name, uid }, observed }: Context): Outcome | null {
  const { class: found } = observed.prerequisites;
  const ofClass = found?.kind === 'found' ? found.value : null;
  if (ofClass === null || ofClass.instanceStorage === null) return null;
  const { storageClass, sizes } = ofClass.instanceStorage;
  const volumes = sizes.map((size, index) => ({ name: instanceVolumeName(uid, index), storageClass, size }));
  return execute('create', [
    `Write the instance storage of class ${ofClass.name} into the spec of ${name}`,
    { kind: 'changeVolumes', changes: [{ kind: 'addInstanceVolumes', volumes }] },
  ]);
}

function chooseHost({ desired }: Context, at: PlacedAt): Outcome {
  if (at.host === null || at.node === undefined)
    return wait('WaitingForPrerequisites', 'a host for its instance storage');
  return patch('create', `Note that the instance storage of ${desired.name} goes to host ${at.node}`, {
    labels: { [virtualMachineLabels.zone]: at.zone },
    annotations: {
      [virtualMachineAnnotations.instanceStorageHost]: at.host,
      [virtualMachineAnnotations.instanceStorageNode]: at.node,
    },
  });
}

type InstanceVolume = Pick<WantedVolume, 'claim'> & Required<Pick<WantedVolume, 'instance'>>;

const claimOf = ({ observed }: Context, name: string) => observed.volumes?.claims[name];

/** `madeMs`: when the last of those that are there was made. */
function judgeClaims(
  context: Context,
  volumes: readonly InstanceVolume[],
  node: string,
): { changes: VolumeChange[]; pending: string[]; madeMs: number } {
  const changes: VolumeChange[] = [];
  const pending: string[] = [];
  let madeMs = 0;
  for (const { claim, instance: wanted } of volumes) {
    const found = claimOf(context, claim);
    const what = `PersistentVolumeClaim ${claim}`;
    if (found === undefined) pending.push(`${what} to be read`);
    else if (found.kind === 'unread') {
      if (found.isMissing === true) changes.push({ kind: 'makeClaim', claim, node, ...wanted });
      else pending.push(found.message);
    } else {
      const { phase, selectedNode, instance } = found.value;
      madeMs = Math.max(madeMs, instance?.createdMs ?? 0);
      if (instance === undefined || !instance.own)
        pending.push(`${what} to be gone, as it is another object’s: delete it`);
      else if (instance.deleting) pending.push(`${what} to be gone, as it is being deleted`);
      else if (selectedNode !== node || instance.failure !== null)
        changes.push({ kind: 'deleteClaim', claim, uid: instance.uid });
      else if (phase !== 'Bound') pending.push(`${what} to be bound on host ${node}; it is ${phase}`);
    }
  }
  return { changes, pending, madeMs };
}
