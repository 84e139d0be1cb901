import type {
  ClaimFacts,
  ClassFacts,
  DesiredVolume,
  ObservedVolume,
  SnapshotFacts,
  VolumeRules,
} from '../../contracts/data-volume/data-volume.ts';
import { done, type Plan, wait } from '../lib/plan.ts';
import { noMembership } from '../limits/membership.ts';
import { noVolumeMemory, type VolumeMemory, type VolumeSituation, type VolumeStep } from './lifecycle.ts';
import { awaitingAfter, awaitingAfterQueue, planVolume } from './plan.ts';
import { isVolumeSaid, volumeStatus } from './status.ts';

const gib = 1024 ** 3;
const nowMs = Date.UTC(2026, 10, 25, 12);
const minute = 60_000;
const rules: VolumeRules = {
  shareSnapshots: true,
  sourceIntervalMs: 3_000,
  snapshotsPerSource: 10,
  deadlineMs: 15 * minute,
  onDeadline: 'wait',
  crashConsistent: false,
  copyImage: 'drover',
  strategyOverride: null,
  adoptClaims: false,
};
const claim: ClaimFacts = {
  namespace: 'team',
  name: 'disk',
  uid: 'u-disk',
  deleting: false,
  phase: 'Bound',
  volume: 'pv-1',
  storageClass: 'fast',
  requestBytes: 10 * gib,
  capacityBytes: 10 * gib,
  volumeMode: 'Block',
  accessModes: ['ReadWriteOnce'],
  contentType: 'kubevirt',
  owner: 'volume',
  populatedFor: null,
  allowsAdoption: null,
  isCloned: false,
  hasNode: false,
  waitsForFileSystem: false,
  problem: null,
  cloneDepth: 0,
};
const pending = { ...claim, phase: 'Pending', volume: null, capacityBytes: null } as const;
const fast: ClassFacts = {
  name: 'fast',
  provisioner: 'dir.csi.example',
  expands: true,
  waitsForConsumer: false,
  isCsi: true,
  cloneStrategy: 'snapshot',
  snapshotClass: 'fast-snapshots',
};
const cut: SnapshotFacts = {
  namespace: 'team',
  name: 'tmp-snapshot-u-golden-1',
  uid: 'u-snapshot',
  deleting: false,
  isReady: true,
  error: null,
  cutMs: nowMs,
  restoreSizeBytes: 10 * gib,
  driver: 'dir.csi.example',
  sourceVolumeMode: 'Block',
};
const golden = {
  kind: 'pvc',
  namespace: 'team',
  name: 'golden',
  claim: { ...claim, name: 'golden', uid: 'u-golden', owner: 'none' },
  class: fast,
  usedBy: [],
  isPopulated: true,
} as const satisfies ObservedVolume['source'];
const desired: DesiredVolume = {
  uid: 'u',
  generation: 1,
  createdMs: nowMs - 1_000,
  deleting: false,
  isHeld: false,
  source: { kind: 'pvc', namespace: 'team', name: 'golden' },
  foreignSource: '',
  isLeft: false,
  contentType: 'kubevirt',
  api: 'storage',
  prePopulatedBy: null,
  isPermissive: false,
  bindsImmediately: false,
  crashConsistent: false,
  onDeadline: null,
  adopts: null,
};
/** The Job that copies into {@link claim}. */
const jobOf = (state: 'active' | 'complete' | 'failed', message = '', hasBegun = true) => ({
  job: { state, claimUid: claim.uid, hasBegun, message },
});
const nothing: ObservedVolume['temporary'] = { snapshot: null, claim: null, restored: null, transfer: null, job: null };
const recorded: ObservedVolume['recorded'] = {
  phase: '',
  progress: '',
  claimName: null,
  conditions: [],
  event: null,
  sinceMs: null,
};
const observed: ObservedVolume = {
  source: golden,
  permission: 'notNeeded',
  claimSpec: {
    storageClass: 'fast',
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Block',
    requestBytes: 10 * gib,
    overhead: 0,
    minimumBytes: 0,
  },
  class: fast,
  problem: null,
  target: null,
  temporary: nothing,
  chosen: null,
  strategyOverride: null,
  recorded,
};

interface Change extends Partial<Omit<ObservedVolume, 'temporary' | 'recorded'>> {
  own?: Partial<DesiredVolume> | null;
  temporary?: Partial<ObservedVolume['temporary']>;
  recorded?: Partial<ObservedVolume['recorded']>;
  rules?: Partial<VolumeRules>;
  memory?: Partial<VolumeMemory>;
}

const situation = ({
  own = {},
  temporary,
  recorded: said,
  rules: others,
  memory,
  ...seen
}: Change): VolumeSituation => ({
  input: { namespace: 'team', name: 'disk' },
  desired: own === null ? null : { ...desired, ...own },
  observed: {
    ...observed,
    ...seen,
    temporary: { ...nothing, ...temporary },
    recorded: { ...recorded, ...said },
  },
  settings: {
    mode: 'act',
    recheckMs: 10 * minute,
    lingerMs: 0,
    publishMinMs: 0,
    cluster: '',
    slotRenewMs: minute,
    rules: { ...rules, ...others },
  },
  memory: { ...noVolumeMemory, ...memory },
  inFlight: new Set(),
  askedMs: nowMs,
  nowMs,
});

/** Kinds of the steps, and what tells them apart. */
const stepsOf = (plan: Plan<VolumeStep>): unknown =>
  plan.kind !== 'execute'
    ? plan
    : plan.steps
        .map((step) => {
          if (step.kind === 'claim')
            return `claim ${step.isTemporary ? 'temporary ' : ''}from ${step.from === null ? 'nothing' : step.from.name}, ${step.requestBytes / gib} GiB`;
          if (step.kind === 'restore')
            return `restore ${step.from} by ${step.spec.storageClass}, ${step.spec.volumeMode}, ${step.spec.requestBytes / gib} GiB`;
          if (step.kind === 'expand') return `expand ${step.claim} to ${step.requestBytes / gib} GiB`;
          if (step.kind === 'beginAnew') return `beginAnew by ${step.strategy}`;
          if (step.kind === 'copy') return `copy ${step.from} to ${step.to.name}`;
          if (step.kind === 'transfer') return `transfer ${step.claim}`;
          return step.kind;
        })
        .join(', ');
const whenHeld = { own: { isHeld: true } };
const bound = { target: claim, ...whenHeld };
const elsewhere = { source: { ...golden, namespace: 'images' }, permission: 'granted' } as const;
const anew = { strategy: 'copy', fallbackReason: 'it took too long' } as const;
const broken = {
  ...elsewhere,
  temporary: { transfer: { phase: 'Error', message: 'PV bound to wrong PVC' } },
} as const;
const inUse = { source: { ...golden, usedBy: ['vm-1'] } };
const larger = { claimSpec: { ...observed.claimSpec!, requestBytes: 20 * gib } };
const late = (phase: string): Pick<Change, 'memory'> => ({
  memory: { awaiting: { phase, sinceMs: nowMs - 16 * minute } },
});
const given = { type: 'Running', status: 'False', reason: 'DeadlineExceeded', message: 'it took too long' } as const;
const copied = { chosen: { strategy: 'copy', fallbackReason: 'why' } } as const;
const foreign = { ...cut, name: 'monday', uid: 'u-monday', driver: 'other.csi.example' };
const monday = {
  kind: 'snapshot',
  namespace: 'team',
  name: 'monday',
  snapshot: foreign,
  restoresBy: { name: 'other', waitsForConsumer: false },
} as const satisfies ObservedVolume['source'];
const ofMonday = { source: monday, own: { source: { kind: 'snapshot', namespace: 'team', name: 'monday' } } } as const;
const standIn: ClaimFacts = { ...claim, name: 'tmp-source-pvc-u', uid: 'u-restored', storageClass: 'other' };
const noMatch = 'The storageclass provisioner does not match the volumesnapshotcontent driver';

test.each<[rule: string, change: Change, plan: unknown]>([
  ['no object', { own: null }, done('gone', 'NotFound', 'There is no such DataVolume')],
  ['a source of CDI', { own: { foreignSource: 'http', source: null } }, 'leave'],
  [
    '… that says so already',
    { own: { foreignSource: 'http', source: null, isLeft: true } },
    done('reconciled', 'LeftToCdi', 'Its source is http: CDI imports and uploads, drover clones'),
  ],
  ['a snapshot first', {}, 'snapshot'],
  ['… which is not ready', { temporary: { snapshot: { ...cut, isReady: false } } }, 'snapshot'],
  ['then the PVC, as large as the snapshot', { temporary: { snapshot: cut } }, `claim from ${cut.name}, 10 GiB`],
  ['… and not as large as it is to be', { ...larger, temporary: { snapshot: cut } }, `claim from ${cut.name}, 10 GiB`],
  ['… that is not bound', { target: pending, temporary: { snapshot: cut } }, `claim from ${cut.name}, 10 GiB`],
  ['then it is expanded', { ...bound, ...larger, temporary: { snapshot: cut } }, 'expand disk to 20 GiB'],
  [
    '… but for its file system, which the kubelet expands',
    { ...bound, ...larger, target: { ...claim, waitsForFileSystem: true } },
    'complete',
  ],
  ['then it is complete', { ...bound, temporary: { snapshot: cut } }, 'complete'],
  [
    'and nothing is left',
    { target: { ...claim, isCloned: true }, recorded: { phase: 'Succeeded' } },
    done('reconciled', 'Succeeded', 'PVC disk holds its data'),
  ],
  [
    '… but for what was temporary',
    { target: claim, recorded: { phase: 'Succeeded' }, temporary: { snapshot: cut } },
    'complete',
  ],
  [
    '… which does not go at once',
    {
      ...bound,
      recorded: { phase: 'Succeeded' },
      temporary: { snapshot: cut },
      memory: { left: ['VolumeSnapshot x'], leftAtMs: nowMs - 1_000 },
    },
    wait('Succeeded', 'TemporaryObjectsRemain', 'VolumeSnapshot x to be gone', nowMs + 4_000),
  ],
  [
    '… a moment later it is removed again, with what was waited for, and what goes after it',
    {
      ...bound,
      recorded: { phase: 'Succeeded' },
      temporary: { snapshot: cut },
      memory: { left: ['VolumeSnapshot x'], leftAtMs: nowMs - 5_000 },
    },
    'complete',
  ],
  ['its PVC was deleted: it is cloned again', { recorded: { phase: 'Succeeded' } }, 'snapshot'],
  [
    '… is being deleted',
    { target: { ...claim, deleting: true } },
    wait('Pending', 'ErrResourceMarkedForDeletion', 'PVC disk to be gone: it is being deleted'),
  ],
  [
    '… has lost its volume',
    { target: { ...claim, phase: 'Lost' } },
    done('blocked', 'ErrClaimLost', 'PVC disk lost its volume: delete the PVC, and it is made anew'),
  ],
  [
    'a PVC of that name is a user’s',
    { target: { ...claim, owner: 'none' } },
    done('blocked', 'ErrResourceExists', 'Resource "disk" already exists and is not managed by DataVolume'),
  ],
  ['… which may be adopted', { target: { ...claim, owner: 'none' }, own: { adopts: true } }, 'adopt'],
  ['… by the PVC', { target: { ...claim, owner: 'none', allowsAdoption: true } }, 'adopt'],
  ['… by the settings', { target: { ...claim, owner: 'none' }, rules: { adoptClaims: true } }, 'adopt'],
  [
    '… unless another object controls it',
    { target: { ...claim, owner: 'other' }, own: { adopts: true } },
    done('blocked', 'ErrResourceExists', 'Resource "disk" already exists and is not managed by DataVolume'),
  ],
  [
    '… of a DataVolume of this name that is gone: it goes too, whatever it holds',
    { target: { ...claim, owner: 'predecessor', populatedFor: 'disk', isCloned: true }, own: { adopts: true } },
    'removePredecessor',
  ],
  [
    '… and is waited out',
    { target: { ...claim, owner: 'predecessor', deleting: true, isCloned: true } },
    wait('Pending', 'ErrResourceMarkedForDeletion', 'PVC disk to be gone: it is being deleted'),
  ],
  [
    '… and says that it is populated for the DataVolume',
    { target: { ...claim, owner: 'other', populatedFor: 'disk' } },
    done('blocked', 'ErrResourceExists', 'Resource "disk" already exists and is not managed by DataVolume'),
  ],
  ['it is populated for the DataVolume', { target: { ...claim, owner: 'none', populatedFor: 'disk' } }, 'complete'],
  ['it holds the data already', { ...bound, own: { prePopulatedBy: 'disk' } }, 'complete'],
  [
    '… and is not there',
    { own: { prePopulatedBy: 'disk' } },
    wait('Pending', 'Pending', 'PVC disk to be bound: the DataVolume says that it holds the data already'),
  ],
  ['an empty one', { source: { kind: 'blank' }, own: { source: { kind: 'blank' } } }, 'claim from nothing, 10 GiB'],
  ['… that is bound', { ...bound, source: { kind: 'blank' } }, 'complete'],
  [
    'a problem of the spec',
    { problem: { reason: 'ErrClaimNotValid', message: 'no class' } },
    done('blocked', 'ErrClaimNotValid', 'no class'),
  ],
  [
    'no source',
    { source: { ...golden, claim: null } },
    done('blocked', 'CloneWithoutSource', 'The source pvc golden doesn’t exist'.replace('’', "'")),
  ],
  [
    '… any more, since it was cut',
    {
      source: { ...golden, claim: null },
      temporary: { snapshot: cut },
      chosen: { strategy: 'snapshot', fallbackReason: null },
    },
    `claim from ${cut.name}, 10 GiB`,
  ],
  [
    'a source that is not bound',
    { source: { ...golden, claim: { ...pending, owner: 'none' } } },
    wait('CloneScheduled', 'SourceNotBound', 'PVC team/golden to be bound', nowMs + 30_000),
  ],
  [
    'a source that is being filled',
    { source: { ...golden, isPopulated: false } },
    wait('CloneScheduled', 'SourceNotPopulated', 'the DataVolume of PVC team/golden to be complete', nowMs + 30_000),
  ],
  [
    '… until its deadline at the latest',
    {
      source: { ...golden, isPopulated: false },
      memory: { awaiting: { phase: 'CloneScheduled', sinceMs: nowMs - 15 * minute + 2_000 } },
    },
    wait('CloneScheduled', 'SourceNotPopulated', 'the DataVolume of PVC team/golden to be complete', nowMs + 2_000),
  ],
  [
    '… for too long: fail',
    { source: { ...golden, isPopulated: false }, ...late('CloneScheduled'), rules: { onDeadline: 'fail' } },
    'giveUp, removeFinalizer',
  ],
  [
    '… copy, which does not help',
    { source: { ...golden, isPopulated: false }, ...late('CloneScheduled'), rules: { onDeadline: 'copy' } },
    wait('CloneScheduled', 'SourceNotPopulated', 'the DataVolume of PVC team/golden to be complete', nowMs + 30_000),
  ],
  ['a source in use', inUse, 'awaitSource'],
  ['… which the user allows', { ...inUse, own: { crashConsistent: true } }, 'snapshot'],
  ['… which the settings allow', { ...inUse, rules: { crashConsistent: true } }, 'snapshot'],
  ['… but no copy is made of it', { ...inUse, ...copied, own: { crashConsistent: true } }, 'awaitSource'],
  ['… since the snapshot was cut', { ...inUse, temporary: { snapshot: cut } }, `claim from ${cut.name}, 10 GiB`],
  ['… for too long, and it is to wait', { ...inUse, ...late('CloneScheduled') }, 'awaitSource'],
  [
    '… and it is to fail',
    { ...inUse, ...late('CloneScheduled'), rules: { onDeadline: 'fail' } },
    'giveUp, removeFinalizer',
  ],
  [
    '… and it is to be copied, which does not help',
    { ...inUse, ...late('CloneScheduled'), rules: { onDeadline: 'copy' } },
    'awaitSource',
  ],
  ['the snapshot takes too long: wait', late('SnapshotForSmartCloneInProgress'), 'snapshot'],
  ['… fail', { ...late('SnapshotForSmartCloneInProgress'), own: { onDeadline: 'fail' } }, 'giveUp, removeFinalizer'],
  ['… copy', { ...late('SnapshotForSmartCloneInProgress'), own: { onDeadline: 'copy' } }, 'beginAnew by copy'],
  [
    '… copy, by no image',
    { ...late('SnapshotForSmartCloneInProgress'), rules: { onDeadline: 'copy', copyImage: null } },
    'snapshot',
  ],
  [
    'the PVC takes too long: copy',
    {
      target: pending,
      temporary: { snapshot: cut },
      ...late('SmartClonePVCInProgress'),
      rules: { onDeadline: 'copy' },
    },
    'beginAnew by copy',
  ],
  [
    '… but the wait for a slot of the driver does not count',
    {
      target: pending,
      temporary: { snapshot: cut },
      memory: { ...late('SmartClonePVCInProgress').memory, slot: { limit: 'clones', membership: noMembership } },
      rules: { onDeadline: 'copy' },
    },
    `claim from ${cut.name}, 10 GiB`,
  ],
  [
    'the expansion takes too long: fail, but not with a PVC that a Pod may use',
    { ...bound, ...larger, ...late('ExpansionInProgress'), rules: { onDeadline: 'fail' } },
    'expand disk to 20 GiB',
  ],
  [
    '… nor to copy it anew',
    { ...bound, ...larger, ...late('ExpansionInProgress'), rules: { onDeadline: 'copy' } },
    'expand disk to 20 GiB',
  ],
  [
    'it was given up',
    { recorded: { phase: 'Failed', conditions: [given] } },
    done('blocked', 'DeadlineExceeded', 'it took too long'),
  ],
  ['… and drover holds it', { recorded: { phase: 'Failed' }, ...whenHeld }, 'remove, removeFinalizer'],
  ['… and a user tries it again', { recorded: { phase: 'Failed' }, memory: { isRetried: true } }, 'snapshot'],
  [
    '… and its PVC goes no sooner than the Pod that uses it: it stays given up, and says why',
    { target: { ...claim, deleting: true }, recorded: { phase: 'Failed', conditions: [given] } },
    done('blocked', 'DeadlineExceeded', 'it took too long'),
  ],
  [
    '… until a user tries it again',
    { target: { ...claim, deleting: true }, recorded: { phase: 'Failed' }, memory: { isRetried: true } },
    wait('Pending', 'ErrResourceMarkedForDeletion', 'PVC disk to be gone: it is being deleted'),
  ],
  [
    'a class that waits for a consumer',
    { class: { ...fast, waitsForConsumer: true }, target: pending, temporary: { snapshot: cut } },
    wait(
      'WaitForFirstConsumer',
      'WaitForFirstConsumer',
      'a Pod that uses PVC disk, as its class binds a volume where it is used',
    ),
  ],
  [
    '… which is there',
    { class: { ...fast, waitsForConsumer: true }, target: { ...pending, hasNode: true }, temporary: { snapshot: cut } },
    `claim from ${cut.name}, 10 GiB`,
  ],
  [
    'a snapshot that is being deleted is none: another is taken',
    { temporary: { snapshot: { ...cut, deleting: true } } },
    'snapshot',
  ],
  [
    '… and a source that is in use is waited for',
    { ...inUse, temporary: { snapshot: { ...cut, deleting: true } } },
    'awaitSource',
  ],
  [
    'it is begun anew, and what was made does not go at once',
    { temporary: { snapshot: cut }, memory: { anew, left: ['PVC disk'], leftAtMs: nowMs - 1_000 } },
    wait('CloneScheduled', 'TemporaryObjectsRemain', 'PVC disk to be gone', nowMs + 4_000),
  ],
  [
    '… a moment later it is removed again, and the strategy is kept',
    { temporary: { snapshot: cut }, memory: { anew, left: ['PVC disk'], leftAtMs: nowMs - 5_000 } },
    'beginAnew by copy',
  ],
  ['… also where it was seen gone: the strategy is not fixed yet', { memory: { anew } }, 'beginAnew by copy'],
  ['csi-clone', { chosen: { strategy: 'csi-clone', fallbackReason: null } }, 'claim from golden, 10 GiB'],
  ['a copy: an empty PVC', copied, 'claim from nothing, 10 GiB'],
  ['… a Job', { ...copied, ...bound }, 'copy golden to disk'],
  ['… of a source that is in use meanwhile: it is waited for', { ...inUse, ...copied, ...bound }, 'awaitSource'],
  [
    '… of one that is used since the Job was made',
    { ...inUse, ...copied, ...bound, temporary: jobOf('complete') },
    'complete',
  ],
  [
    '… a Job whose Pod is the first consumer',
    { ...copied, target: pending, class: { ...fast, waitsForConsumer: true } },
    'copy golden to disk',
  ],
  [
    '… which works',
    { ...copied, ...bound, temporary: jobOf('active') },
    wait('CloneInProgress', 'Copying', 'the Job that copies team/golden'),
  ],
  [
    '… whose Pod does not come to copy',
    { ...copied, ...bound, temporary: jobOf('active', 'exceeded quota', false) },
    wait('CloneInProgress', 'Copying', 'the Job that copies team/golden: exceeded quota', nowMs + 15 * minute),
  ],
  [
    '… for too long',
    {
      ...copied,
      ...bound,
      ...late('CloneInProgress'),
      rules: { onDeadline: 'fail' },
      temporary: jobOf('active', 'exceeded quota', false),
    },
    'giveUp, removeFinalizer',
  ],
  [
    '… one that copies has no deadline',
    { ...copied, ...bound, ...late('CloneInProgress'), rules: { onDeadline: 'fail' }, temporary: jobOf('active') },
    wait('CloneInProgress', 'Copying', 'the Job that copies team/golden'),
  ],
  ['… which is complete', { ...copied, ...bound, temporary: jobOf('complete') }, 'complete'],
  ['… whose PVC is gone: another one would be empty', { ...copied, temporary: jobOf('complete') }, 'beginAnew by copy'],
  [
    '… also where another one was made since',
    { ...copied, target: { ...claim, uid: 'u-other' }, temporary: jobOf('complete') },
    'beginAnew by copy',
  ],
  [
    '… whose PVC is being deleted: its Pod holds it',
    { ...copied, target: { ...claim, deleting: true }, temporary: jobOf('complete') },
    'beginAnew by copy',
  ],
  [
    '… which failed',
    { ...copied, ...bound, temporary: jobOf('failed', 'no space') },
    done('blocked', 'CopyFailed', 'The Job that copies the data failed: no space. `drover retry` begins it anew'),
  ],
  [
    '… and a user tries it again',
    {
      ...copied,
      ...bound,
      temporary: jobOf('failed', 'no space'),
      memory: { isRetried: true },
    },
    'beginAnew by copy',
  ],
  [
    'a copy without an image: nothing is begun',
    { ...copied, rules: { copyImage: null } },
    done(
      'blocked',
      'CopyNotPossible',
      'Its data would have to be copied: why, and dataVolumes.copyImage names no image for that',
    ),
  ],
  [
    '… nor onto a volume of another mode',
    { source: { ...golden, claim: { ...golden.claim, volumeMode: 'Filesystem' } } },
    done(
      'blocked',
      'CopyNotPossible',
      'Its data would have to be copied: The volume modes of source and target are incompatible, and a Job copies a file system into a file system and a block volume onto a block volume: create the DataVolume again with volumeMode Filesystem',
    ),
  ],
  [
    'a snapshot of the same driver',
    { ...ofMonday, source: { ...monday, snapshot: { ...foreign, driver: fast.provisioner } } },
    'claim from monday, 10 GiB',
  ],
  [
    '… which is not ready: its driver is not known either',
    { ...ofMonday, source: { ...monday, snapshot: { ...foreign, isReady: false, driver: null }, restoresBy: null } },
    wait('CloneScheduled', 'SnapshotNotReady', 'VolumeSnapshot team/monday to be ready', nowMs + 30_000),
  ],
  [
    '… for too long: fail',
    {
      ...ofMonday,
      source: { ...monday, snapshot: { ...foreign, isReady: false, driver: null }, restoresBy: null },
      ...late('CloneScheduled'),
      own: { ...ofMonday.own, onDeadline: 'fail' },
    },
    'giveUp, removeFinalizer',
  ],
  ['a snapshot of another driver is restored by that', ofMonday, 'restore monday by other, Block, 10 GiB'],
  [
    '… that does not say what its volume was',
    { ...ofMonday, source: { ...monday, snapshot: { ...foreign, sourceVolumeMode: null } } },
    'restore monday by other, Block, 10 GiB',
  ],
  [
    '… which takes its time',
    { ...ofMonday, ...copied, temporary: { restored: { ...standIn, phase: 'Pending' } } },
    'restore monday by other, Block, 10 GiB',
  ],
  [
    '… and too long: fail',
    {
      ...ofMonday,
      ...copied,
      temporary: { restored: { ...standIn, phase: 'Pending' } },
      ...late('CloneFromSnapshotSourceInProgress'),
      rules: { onDeadline: 'fail' },
    },
    'giveUp, removeFinalizer',
  ],
  ['… then an empty PVC', { ...ofMonday, ...copied, temporary: { restored: standIn } }, 'claim from nothing, 10 GiB'],
  [
    '… also where the Pod of the Job is the first consumer of what was restored',
    {
      ...ofMonday,
      ...copied,
      source: { ...monday, restoresBy: { name: 'other', waitsForConsumer: true } },
      temporary: { restored: { ...standIn, phase: 'Pending' } },
    },
    'claim from nothing, 10 GiB',
  ],
  [
    '… then a Job',
    { ...ofMonday, ...copied, ...bound, temporary: { restored: standIn } },
    'copy tmp-source-pvc-u to disk',
  ],
  [
    '… which needs the snapshot no more',
    {
      ...ofMonday,
      ...copied,
      ...bound,
      source: { ...monday, snapshot: null, restoresBy: null },
      temporary: jobOf('complete'),
    },
    'complete',
  ],
  [
    '… a PVC of that name is another’s',
    { ...ofMonday, ...copied, temporary: { restored: { ...standIn, phase: 'Pending', owner: 'none' } } },
    done(
      'blocked',
      'ErrResourceExists',
      'PVC team/tmp-source-pvc-u is not of this DataVolume, and its name is needed: delete it',
    ),
  ],
  [
    '… no class is of its driver: nothing is begun',
    { ...ofMonday, source: { ...monday, restoresBy: null } },
    done(
      'blocked',
      'CopyNotPossible',
      `Its data would have to be copied: ${noMatch}, and no StorageClass is of its driver other.csi.example, to restore it by: create one`,
    ),
  ],
  [
    '… no image is named: nothing is begun',
    { ...ofMonday, rules: { copyImage: null } },
    done(
      'blocked',
      'CopyNotPossible',
      `Its data would have to be copied: ${noMatch}, and dataVolumes.copyImage names no image for that`,
    ),
  ],
  [
    '… another mode is wanted: nothing is begun',
    { ...ofMonday, source: { ...monday, snapshot: { ...foreign, sourceVolumeMode: 'Filesystem' } } },
    done(
      'blocked',
      'CopyNotPossible',
      `Its data would have to be copied: ${noMatch}, and a Job copies a file system into a file system and a block volume onto a block volume: create the DataVolume again with volumeMode Filesystem`,
    ),
  ],
  [
    '… elsewhere: it is copied there, and then transferred',
    {
      ...ofMonday,
      ...copied,
      source: { ...monday, namespace: 'images' },
      permission: 'granted',
      temporary: { restored: standIn, claim: { ...claim, name: 'cdi-tmp-u' } },
    },
    'copy tmp-source-pvc-u to cdi-tmp-u',
  ],
  ['from elsewhere: a snapshot there', elsewhere, 'snapshot'],
  [
    '… a temporary PVC there',
    { ...elsewhere, temporary: { snapshot: cut } },
    `claim temporary from ${cut.name}, 10 GiB`,
  ],
  [
    '… which is expanded there',
    { ...elsewhere, ...larger, temporary: { snapshot: cut, claim: { ...claim, name: 'cdi-tmp-u' } } },
    'expand cdi-tmp-u to 20 GiB',
  ],
  [
    '… which nothing uses, so that it may take too long: fail',
    {
      ...elsewhere,
      ...larger,
      temporary: { snapshot: cut, claim: { ...claim, name: 'cdi-tmp-u' } },
      ...late('ExpansionInProgress'),
      rules: { onDeadline: 'fail' },
    },
    'giveUp, removeFinalizer',
  ],
  [
    '… and transferred',
    { ...elsewhere, temporary: { snapshot: cut, claim: { ...claim, name: 'cdi-tmp-u' } } },
    'transfer cdi-tmp-u',
  ],
  [
    '… which takes too long, and is to be copied, which does not help',
    { ...broken, ...late('NamespaceTransferInProgress'), rules: { onDeadline: 'copy' } },
    'transfer cdi-tmp-u',
  ],
  [
    '… and it is to fail',
    { ...broken, ...late('NamespaceTransferInProgress'), rules: { onDeadline: 'fail' } },
    'giveUp, removeFinalizer',
  ],
  [
    '… which no deadline ends while it goes on',
    {
      ...elsewhere,
      target: pending,
      temporary: { transfer: { phase: 'Running', message: 'Waiting for target to be bound' } },
      ...late('NamespaceTransferInProgress'),
      rules: { onDeadline: 'fail' },
    },
    'transfer cdi-tmp-u',
  ],
  [
    '… nor when its PVC is bound, and may be in use',
    { ...broken, target: claim, ...late('NamespaceTransferInProgress'), rules: { onDeadline: 'fail' } },
    'transfer cdi-tmp-u',
  ],
  [
    '… which goes on, whatever else is the matter',
    { ...elsewhere, permission: 'unknown', temporary: { transfer: { phase: 'Running', message: '' } } },
    'transfer cdi-tmp-u',
  ],
  [
    '… whose record goes where its PVC was deleted since',
    { ...elsewhere, temporary: { snapshot: cut, transfer: { phase: 'Complete', message: 'Transfer complete' } } },
    'transfer cdi-tmp-u',
  ],
  [
    '… and is complete',
    { ...elsewhere, ...bound, temporary: { snapshot: cut, transfer: { phase: 'Complete', message: '' } } },
    'complete',
  ],
  [
    '… and nothing proves that its creator may',
    { ...elsewhere, permission: 'unknown' },
    done(
      'blocked',
      'CloneNotPermitted',
      'Nothing proves that its creator may clone from namespace images: the admission policy was not in force when it was created. Create the DataVolume again',
    ),
  ],
  ['deleted: what is temporary goes, with the PVC', { own: { deleting: true, isHeld: true } }, 'remove'],
  [
    '… and does not go at once',
    { own: { deleting: true, isHeld: true }, memory: { left: ['PVC images/cdi-tmp-u'], leftAtMs: nowMs } },
    wait('', 'TemporaryObjectsRemain', 'PVC images/cdi-tmp-u to be gone', nowMs + 5_000),
  ],
  [
    '… a moment later it is removed again',
    { own: { deleting: true, isHeld: true }, memory: { left: ['PVC images/cdi-tmp-u'], leftAtMs: nowMs - 5_000 } },
    'remove',
  ],
  [
    '… and drover holds nothing',
    { own: { deleting: true } },
    done('gone', 'Released', 'It is being deleted, and drover holds nothing of it'),
  ],
])('%s', (_rule, change, plan) => {
  expect(stepsOf(planVolume(situation(change)))).toEqual(plan);
});

test('a clone takes a slot where the driver works for it alone', () => {
  const slotOf = (change: Change): unknown => {
    const plan = planVolume(situation(change));
    if (plan.kind === 'done' || plan.slot === undefined) return null;
    return `${plan.slot.limit}${plan.slot.ahead === true ? ' ahead' : ''}`;
  };
  // The snapshot is shared; what comes next is not.
  expect(slotOf({})).toBe('clones ahead');
  expect(slotOf({ temporary: { snapshot: cut } })).toBe('clones');
  expect(slotOf(copied)).toBeNull();
  expect(slotOf(bound)).toBeNull();
});

test('the PVC is made with its snapshot, where there is none yet', () => {
  const restoreOf = (change: Change): unknown => {
    const plan = planVolume(situation(change));
    const [step] = plan.kind === 'execute' ? plan.steps : [];
    return step?.kind === 'snapshot' ? step.restore : undefined;
  };
  expect(restoreOf({})).toEqual({ isTemporary: false });
  expect(restoreOf(elsewhere)).toEqual({ isTemporary: true });
  expect(restoreOf({ target: pending })).toBeNull();
});

test('a phase has its deadline from when it was begun, by whatever run', () => {
  const since = (change: Change): unknown => {
    const given = situation(change);
    return awaitingAfter(given, planVolume(given));
  };
  const phase = 'SnapshotForSmartCloneInProgress';
  expect(since({})).toEqual({ phase, sinceMs: nowMs });
  expect(since({ recorded: { phase, sinceMs: 7 } })).toEqual({ phase, sinceMs: 7 });
  const inQueue = { type: 'Running', status: 'False', reason: 'TooManyClones', message: '' } as const;
  expect(since({ recorded: { phase, sinceMs: 7, conditions: [inQueue] } })).toEqual({ phase, sinceMs: nowMs });
  expect(since({ memory: { awaiting: { phase, sinceMs: 9 } }, recorded: { phase, sinceMs: 7 } })).toEqual({
    phase,
    sinceMs: 9,
  });
  expect(since({ memory: { awaiting: { phase, sinceMs: 9 } }, temporary: { snapshot: cut } })).toEqual({
    phase: 'SmartClonePVCInProgress',
    sinceMs: nowMs,
  });
});

test.each<[rule: string, since: VolumeMemory['awaiting'], after: VolumeMemory['awaiting']]>([
  [
    'counts not',
    { phase: 'SmartClonePVCInProgress', sinceMs: 100 },
    { phase: 'SmartClonePVCInProgress', sinceMs: 700 },
  ],
  [
    'counts not from when the wait began anew',
    { phase: 'SmartClonePVCInProgress', sinceMs: 400 },
    { phase: 'SmartClonePVCInProgress', sinceMs: 900 },
  ],
  [
    'does not put off what began by a clock that is ahead',
    { phase: 'SmartClonePVCInProgress', sinceMs: 1_000 },
    { phase: 'SmartClonePVCInProgress', sinceMs: 1_000 },
  ],
  [
    'puts off no other phase, which needs no slot',
    { phase: 'CloneScheduled', sinceMs: 400 },
    { phase: 'CloneScheduled', sinceMs: 400 },
  ],
  ['puts off nothing where nothing is waited for', null, null],
])('the time in the queue for a slot %s', (_rule, since, after) => {
  expect(awaitingAfterQueue(since, { phase: 'SmartClonePVCInProgress', atMs: 300 }, 900)).toEqual(after);
});

test.each<[rule: string, change: Change, phase: string, running: string, event: string | null]>([
  [
    'a snapshot is taken',
    {},
    'SnapshotForSmartCloneInProgress',
    'True Populator is running',
    'SnapshotForSmartCloneInProgress',
  ],
  [
    '… and the driver says why it cannot',
    { temporary: { snapshot: { ...cut, isReady: false, error: 'no room' } } },
    'SnapshotForSmartCloneInProgress',
    'False SnapshotFailing',
    'SnapshotFailing',
  ],
  [
    '… and the source has as many as it may have',
    { memory: { snapshotWaitsFor: 'one of its snapshots to be gone' } },
    'SnapshotForSmartCloneInProgress',
    'False TooManySnapshots',
    'TooManySnapshots',
  ],
  [
    '… and it may have another one by now',
    {
      temporary: { snapshot: { ...cut, isReady: false } },
      memory: { snapshotWaitsFor: 'one of its snapshots to be gone' },
    },
    'SnapshotForSmartCloneInProgress',
    'True Populator is running',
    'SnapshotForSmartCloneInProgress',
  ],
  ['its volume cannot be moved', broken, 'NamespaceTransferInProgress', 'False VolumeFailing', 'VolumeFailing'],
  [
    '… and is on its way',
    { ...elsewhere, temporary: { transfer: { phase: 'Running', message: 'Pods using PVC' } } },
    'NamespaceTransferInProgress',
    'True Populator is running',
    'NamespaceTransferInProgress',
  ],
  ['the source is in use', inUse, 'CloneScheduled', 'False CloneSourceInUse', 'CloneSourceInUse'],
  [
    'there is no source',
    { source: { ...golden, claim: null } },
    'Pending',
    'False CloneWithoutSource',
    'CloneWithoutSource',
  ],
  [
    'the storage cannot',
    { class: { ...fast, isCsi: false } },
    'CloneInProgress',
    'True Populator is running',
    'NoPopulator',
  ],
  [
    'it is given up',
    { ...late('SnapshotForSmartCloneInProgress'), rules: { onDeadline: 'fail' } },
    'Failed',
    'False DeadlineExceeded',
    'DeadlineExceeded',
  ],
  [
    'it was given up, and something of it is still there',
    {
      recorded: { phase: 'Failed', conditions: [given] },
      ...whenHeld,
      memory: { left: ['PVC team/disk'], leftAtMs: nowMs },
    },
    'Failed',
    'False DeadlineExceeded',
    'DeadlineExceeded',
  ],
  [
    '… which is removed',
    { recorded: { phase: 'Failed', conditions: [given] }, ...whenHeld },
    'Failed',
    'False DeadlineExceeded',
    'DeadlineExceeded',
  ],
  [
    '… and a user tries it again, but its source is gone',
    {
      recorded: { phase: 'Failed', conditions: [given] },
      memory: { isRetried: true },
      source: { ...golden, claim: null },
    },
    'Pending',
    'False CloneWithoutSource',
    'CloneWithoutSource',
  ],
  [
    '… and a PVC of another owner has its name',
    { recorded: { phase: 'Failed', conditions: [given] }, target: { ...claim, owner: 'other' } },
    'Failed',
    'False ErrResourceExists',
    'ErrResourceExists',
  ],
  [
    'the PVC of a complete one is gone, and its source too',
    { source: { ...golden, claim: null }, recorded: { phase: 'Succeeded' } },
    'Pending',
    'False CloneWithoutSource',
    'CloneWithoutSource',
  ],
  [
    'the PVC of a complete one has lost its volume',
    { target: { ...claim, phase: 'Lost' }, recorded: { phase: 'Succeeded' } },
    'Pending',
    'False ErrClaimLost',
    'ErrClaimLost',
  ],
  [
    'it is complete',
    { ...bound, recorded: { phase: 'SmartClonePVCInProgress' } },
    'Succeeded',
    'False Completed',
    'CloneSucceeded',
  ],
])('what it says, where %s', (_rule, change, phase, running, event) => {
  const given = situation(change);
  const status = volumeStatus(given, planVolume(given));
  const { status: value, reason } = status?.conditions.find(({ type }) => type === 'Running') ?? {};
  expect([status?.phase, `${value} ${reason}`, status?.event?.reason ?? null]).toEqual([phase, running, event]);
  expect(status !== null && isVolumeSaid({ ...status }, status)).toBe(true);
  expect(status !== null && isVolumeSaid(recorded, status)).toBe(false);
});
