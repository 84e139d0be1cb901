import type { ConditionUpdate } from '../../../../contracts/conditions.ts';
import { no, virtualMachineConditions, yes } from '../../../../contracts/virtual-machine/conditions.ts';
import {
  attachmentName,
  type BatchAttachment,
  type BatchVolume,
  detachingSuffix,
  hardwareVersionForVolumes,
  type ObservedVolumes,
  type SingleAttachment,
  type VolumeChange,
  volumeOf,
  type VolumeStatus,
  type WantedVolume,
} from '../../../../contracts/virtual-machine/volumes.ts';
import { isPaused } from '../config.ts';
import { execute, fullName, stop, success, wait, type Outcome, type VmContext } from '../context.ts';
import { falseSinceMs, intervalMs } from '../observe-again.ts';
import { batchOf, placeVolume } from './place-volume.ts';
import { rowOf } from './volume-rows.ts';

type Attachment = SingleAttachment | BatchAttachment;

const mismatch = 'HardwareVolumesMismatch';

/** What volumes of claims come to. */
export interface JudgedVolumes {
  changes: VolumeChange[];
  /** What a user has to put right, a sentence each. */
  refusals: string[];
  /** What is waited for, for the sentence that begins with `Waiting for`. */
  pending: string[];
  /** Of the status: those that drover speaks for. */
  rows: VolumeStatus[];
  /** Names of rows that go. */
  gone: string[];
  /** Names of volumes that a VM that starts finds. */
  attached: string[];
}

const nothing = (attached: string[] = []): JudgedVolumes => ({
  changes: [],
  refusals: [],
  pending: [],
  rows: [],
  gone: [],
  attached,
});

/** Asks for attachments, and follows them; what the spec names no more is detached. */
export function planVolumes(context: VmContext): Outcome {
  const { settings, vm, nowMs } = context;
  if (isPaused(vm)) return success;
  const { changes, refusals, pending } = judgeVolumes(context);
  if (changes.length > 0) return execute('volumes', [describeChanges(changes), { kind: 'changeVolumes', changes }]);
  if (pending.length > 0) {
    // No event tells of attachments and claims.
    const sinceMs = falseSinceMs(context, virtualMachineConditions.volumesVerified);
    const untilMs = nowMs + intervalMs(settings, nowMs - sinceMs);
    return wait('WaitingForVolumes', [...pending, ...refusals].join('; '), untilMs);
  }
  return refusals.length > 0 ? stop(mismatch, refusals.join('. ')) : success;
}

/**
 * Before a VM is destroyed: all volumes, by who has attached them. Bounded, as drover can detach a disk itself, and its
 * file stays.
 */
export function planDetach({ observed, settings, vm, nowMs }: VmContext): Outcome {
  const { attachments = [], batch = null } = observed.volumes ?? {};
  const own = [...attachments, ...(batch === null ? [] : [batch])].filter((one) => one.own);
  const changes = own.flatMap((one): VolumeChange[] => {
    if (one.deletingSinceMs !== null) return [];
    const { name, uid } = one;
    return ['instanceUuid' in one ? { kind: 'detachAll', uid } : { kind: 'detach', name, uid }];
  });
  if (changes.length > 0)
    return execute('delete', [
      `Have the vSphere CSI driver detach the volumes of ${vm.name}`,
      { kind: 'changeVolumes', changes },
    ]);
  const lastMs = Math.max(...own.map(({ deletingSinceMs }) => deletingSinceMs ?? 0));
  const endMs = lastMs + settings.deletePowerOffMs;
  if (own.length === 0 || nowMs >= endMs) return success;
  const untilMs = Math.min(endMs, nowMs + intervalMs(settings, nowMs - lastMs));
  return wait('WaitingForVolumes', 'the vSphere CSI driver to detach its volumes', untilMs);
}

/** Pure. */
export function judgeVolumes(context: VmContext): JudgedVolumes {
  const { desired, observed } = context;
  const found = observed.volumes;
  const recorded = (observed.recorded.volumes ?? [])
    .filter(({ attached }) => attached === true)
    .map(({ name }) => name);
  // Histories of before do not say.
  if (!found) return nothing(recorded);
  const { single, batch } = found.served;
  if (found.problem === null && (single || batch)) return judgeServed(context, found);
  const missing = desired.volumes.filter(({ name }) => !recorded.includes(name)).map(({ name }) => name);
  const refusal =
    found.problem ??
    `Volumes ${missing.join(', ')} cannot be attached: this cluster serves neither CnsNodeVMBatchAttachment nor CnsNodeVmAttachment ` +
      `(cns.vmware.com), by which the vSphere CSI driver attaches them. Install it, then \`drover retry vm ${fullName(desired)}\`; or take the volumes out of spec.volumes`;
  // A controller that attaches them otherwise says so in the status.
  return { ...nothing(recorded), refusals: missing.length === 0 ? [] : [refusal] };
}

function judgeServed(context: VmContext, found: ObservedVolumes): JudgedVolumes {
  const { desired, observed } = context;
  const judged = nothing();
  const others = found.batch !== null && !found.batch.own ? found.batch : null;
  const ours = others === null ? found.batch : null;
  const entries = ours?.volumes ?? [];
  /** What the batch is to hold: what it holds already, and what can be added. */
  const batched: BatchVolume[] = [];

  for (const one of found.attachments.filter(({ own }) => own)) {
    if (isCurrent(context, one)) continue;
    judged.rows.push(rowOf(context, `${one.volume}${detachingSuffix}`, one, null));
    judged.pending.push(`volume ${one.volume} to be detached from claim ${one.claim}${because(one.error)}`);
    if (one.deletingSinceMs === null) judged.changes.push({ kind: 'detach', name: one.name, uid: one.uid });
  }

  for (const volume of desired.volumes) {
    const { name, claim } = volume;
    const one = found.attachments.find((attachment) => attachment.volume === name);
    const status = ours?.status.find((row) => volumeOf(row.name) === name) ?? null;
    const entry = entries.find((row) => row.name === name) ?? null;
    if (one !== undefined && isLeaving(one)) {
      judged.rows.push({ name, type: 'Managed', attached: false });
      judged.pending.push(describeLeaving('CnsNodeVmAttachment', one.name, one));
    } else if (one !== undefined && !one.own) {
      judged.refusals.push(
        `CnsNodeVmAttachment ${one.name} is another object’s: volume ${name} is not attached. Delete it, or rename the volume`,
      );
    } else if (one !== undefined) {
      if (!isCurrent(context, one)) continue;
      judged.rows.push(rowOf(context, name, one, claim));
      if (one.attached) judged.attached.push(name);
      else judged.pending.push(describeWait(volume, one.error));
    } else if (entry !== null && entry.claim === claim) {
      const isAttached = status?.claim === claim && status.attached && !isBare(context);
      const shown = status?.claim === claim ? { ...status, attached: isAttached } : null;
      judged.rows.push(rowOf(context, name, shown, claim));
      const placed = placeVolume(context, volume, [...entries, ...batched], entry);
      if (typeof placed === 'string') judged.refusals.push(placed);
      batched.push(typeof placed === 'string' ? entry : placed);
      if (isAttached) judged.attached.push(name);
      else judged.pending.push(describeWait(volume, status?.error ?? null));
    } else if (entry !== null || status !== null) {
      // Another claim was attached under this name: it goes first.
      judged.pending.push(`volume ${name} to be detached from claim ${(entry ?? status)?.claim ?? ''}`);
    } else {
      const obstacle =
        obstacleTo(context, volume, judged) ??
        (!found.served.batch
          ? attachSingly(context, volume, judged)
          : others !== null
            ? `CnsNodeVMBatchAttachment ${fullName(desired)} is another object’s`
            : addToBatch(context, volume, [...entries, ...batched], batched, judged));
      judged.rows.push({ name, type: 'Managed', attached: false, ...(obstacle !== null && { error: obstacle }) });
    }
  }
  if (others !== null && desired.volumes.length > 0) {
    if (isLeaving(others)) judged.pending.push(describeLeaving('CnsNodeVMBatchAttachment', fullName(desired), others));
    else
      judged.refusals.push(
        `CnsNodeVMBatchAttachment ${fullName(desired)} is another object’s: no volume is attached by it. Delete it, then \`drover retry vm ${fullName(desired)}\``,
      );
  }
  if (found.served.batch && others === null) judgeBatch(context, ours, batched, judged);
  const names = new Set(judged.rows.map(({ name }) => name));
  judged.gone = (observed.recorded.volumes ?? [])
    .filter(({ name, type }) => type !== 'Classic' && !names.has(name))
    .map(({ name }) => name);
  return judged;
}

/** Kubernetes deletes it: it is waited for, and touched as little as any that is another object's. */
const isLeaving = (one: Attachment): boolean =>
  !one.own && (one.ofPredecessor === true || one.deletingSinceMs !== null);

const describeLeaving = (kind: string, name: string, { ofPredecessor }: Attachment): string =>
  ofPredecessor === true
    ? `${kind} ${name} of the former VirtualMachine of this name to be deleted by Kubernetes`
    : `${kind} ${name}, which is another object’s, to be gone`;

/** What is attached by it is what the spec asks for, on this VM. */
function isCurrent(context: VmContext, one: SingleAttachment): boolean {
  const { desired, vm } = context;
  const volume = desired.volumes.find(({ name }) => name === one.volume);
  if (one.deletingSinceMs !== null || volume?.claim !== one.claim || one.biosUuid !== vm.biosUuid) return false;
  // The driver does not look again at what it has attached: of a VM that was made anew it says what was so of the
  // former.
  return !(one.attached && isBare(context));
}

/** Not a single disk is attached that did not come with it. */
const isBare = ({ vm }: VmContext): boolean => vm.config !== null && vm.config.disks.every(({ own }) => own);

const because = (error: string | null): string => (error === null ? '' : ` (the vSphere CSI driver says: ${error})`);
const describeWait = ({ name, claim }: WantedVolume, error: string | null): string =>
  `the vSphere CSI driver to attach volume ${name} of claim ${claim}${because(error)}`;

/** Why it cannot be asked for, for the status; null: it can. */
function obstacleTo(context: VmContext, volume: WantedVolume, judged: JudgedVolumes): string | null {
  const { desired, observed, vm } = context;
  const { name, claim, readOnly } = volume;
  const refuse = (sentence: string): string => (judged.refusals.push(sentence), sentence);
  const hold = (sentence: string): string => (judged.pending.push(sentence), sentence);
  if (readOnly) return refuse(`Volume ${name} asks for persistentVolumeClaim.readOnly, which a VM’s disk cannot be`);
  const version = vm.config?.hardwareVersion ?? 0;
  if (version > 0 && version < hardwareVersionForVolumes)
    return refuse(
      `Volume ${name} needs hardware version ${hardwareVersionForVolumes}, and the VM has ${version}: set spec.minHardwareVersion to ${hardwareVersionForVolumes} and power it off`,
    );
  const fetched = observed.volumes?.claims[claim];
  if (fetched === undefined) return hold(`PersistentVolumeClaim ${claim} to be read`);
  if (fetched.kind !== 'found') return hold(`volume ${name}: ${fetched.message}`);
  const { phase, waitsForConsumer, selectedNode } = fetched.value;
  if (phase === 'Lost') return refuse(`PersistentVolumeClaim ${claim} of volume ${name} has lost its PersistentVolume`);
  if (phase === 'Bound') return null;
  const zone = vm.zone ?? desired.zone;
  if (waitsForConsumer && selectedNode === null && zone !== null)
    judged.changes.push({ kind: 'selectZone', claim, zone });
  return hold(`PersistentVolumeClaim ${claim} of volume ${name} to be bound; it is ${phase}`);
}

/** What a CnsNodeVmAttachment has no field for. */
const placement = [
  'controllerType',
  'controllerBusNumber',
  'unitNumber',
  'diskMode',
  'sharingMode',
  'applicationType',
] as const satisfies readonly (keyof WantedVolume)[];

const usual: Partial<WantedVolume> = { controllerType: 'SCSI', diskMode: 'Persistent', sharingMode: 'None' };

/** @returns why it is not asked for; null: it is */
function attachSingly(context: VmContext, volume: WantedVolume, judged: JudgedVolumes): string | null {
  const { desired, vm } = context;
  const { name, claim } = volume;
  const asked = placement.filter((field) => volume[field] !== null && volume[field] !== usual[field]);
  if (asked.length > 0) {
    const sentence =
      `Volume ${name} asks for ${asked.join(', ')}: the only kind that this cluster serves, CnsNodeVmAttachment, cannot say that. ` +
      'Take it out of the spec, or install a vSphere CSI driver with CnsNodeVMBatchAttachment';
    judged.refusals.push(sentence);
    return sentence;
  }
  // A guest that has not started yet is to find its disks in the order of the spec.
  const isHeld = vm.powerState !== 'poweredOn' && judged.pending.length > 0;
  if (!isHeld)
    judged.changes.push({ kind: 'attach', name: attachmentName(desired.name, name), biosUuid: vm.biosUuid, claim });
  judged.pending.push(describeWait(volume, null));
  return null;
}

/** @returns why it is not asked for; null: it is */
function addToBatch(
  context: VmContext,
  volume: WantedVolume,
  others: readonly BatchVolume[],
  batched: BatchVolume[],
  judged: JudgedVolumes,
): string | null {
  const placed = placeVolume(context, volume, others, null);
  if (typeof placed === 'string') {
    judged.refusals.push(placed);
    return placed;
  }
  batched.push(placed);
  judged.pending.push(describeWait(volume, null));
  return null;
}

function judgeBatch(
  context: VmContext,
  batch: BatchAttachment | null,
  wanted: BatchVolume[],
  judged: JudgedVolumes,
): void {
  const kept = new Set(wanted.map(({ name }) => name));
  for (const row of batch?.status ?? []) {
    const name = volumeOf(row.name);
    if (kept.has(name)) continue;
    judged.rows.push(rowOf(context, `${name}${detachingSuffix}`, row, null));
    judged.pending.push(`volume ${name} to be detached from claim ${row.claim}${because(row.error)}`);
  }
  if ((batch === null && wanted.length === 0) || (batch !== null && batch.deletingSinceMs !== null)) return;
  const change = batchOf(batch, context.vm.instanceUuid, wanted);
  if (change !== null) judged.changes.push(change);
  // What it says already gives the driver no reason to look again: it is made anew, when it is gone.
  else if (batch !== null && isBare(context) && batch.status.some((row) => row.attached && kept.has(row.name)))
    judged.changes.push({ kind: 'detachAll', uid: batch.uid });
}

function describeChanges(changes: readonly VolumeChange[]): string {
  return `Ask the vSphere CSI driver: ${changes.map(describeChange).join(', ')}`;
}

export function describeChange(change: VolumeChange): string {
  switch (change.kind) {
    case 'attach':
      return `attach claim ${change.claim}`;
    case 'detach':
      return `detach ${change.name}`;
    case 'batch':
      return change.volumes.length === 0
        ? 'detach all volumes'
        : `have volumes ${change.volumes.map(({ name }) => name).join(', ')} attached`;
    case 'detachAll':
      return 'detach all volumes';
    case 'selectZone':
      return `have claim ${change.claim} provisioned in ${change.zone}`;
    case 'addInstanceVolumes':
      return `add volumes ${change.volumes.map(({ name }) => name).join(', ')}`;
    case 'makeClaim':
      return `make claim ${change.claim}`;
    case 'deleteClaim':
      return `delete claim ${change.claim}`;
  }
}

/** Null: it has none, and had none. Pure. */
export function judgeVolumesCondition(context: VmContext): ConditionUpdate | null {
  const type = virtualMachineConditions.volumesVerified;
  const { desired, observed } = context;
  if (!observed.volumes) return null;
  const { refusals, pending, rows } = judgeVolumes(context);
  if (desired.volumes.length === 0 && rows.length === 0) return null;
  const message = [...refusals, ...(pending.length === 0 ? [] : [`Waiting for ${pending.join('; ')}`])].join('. ');
  return message === '' ? yes(type) : no(type, mismatch, message);
}
