import type { VirtualMachineStatus } from '../../../../contracts/crds/virtual-machine.ts';
import type {
  BatchAttachment,
  BatchVolume,
  ObservedClaim,
  ObservedVolumes,
  SingleAttachment,
  VolumeChange,
} from '../../../../contracts/virtual-machine/volumes.ts';
import {
  beginMs,
  minute,
  uid,
  vmContextOf,
  volume as wanted,
  type Given,
} from '../../../../test/fixtures/workflows/virtual-machine.ts';
import type { Outcome } from '../context.ts';
import { judgeVolumes, judgeVolumesCondition, planDetach, planVolumes } from './volumes.ts';

const claim = (more: Partial<ObservedClaim> = {}): ObservedVolumes['claims'][string] => ({
  kind: 'found',
  value: {
    phase: 'Bound',
    selectedNode: null,
    waitsForConsumer: false,
    requested: '1Gi',
    limit: null,
    ...more,
  },
});

const object = { uid: 'uid-1', own: true, deletingSinceMs: null };
const single = (volume: string, more: Partial<SingleAttachment> = {}): SingleAttachment => ({
  ...object,
  name: `web-${volume}`,
  volume,
  claim: `claim-${volume}`,
  biosUuid: uid,
  attached: false,
  diskUuid: null,
  error: null,
  ...more,
});
const entry = (name: string, unitNumber: number, more: Partial<BatchVolume> = {}): BatchVolume => ({
  name,
  claim: `claim-${name}`,
  controllerKey: 1_000,
  unitNumber,
  diskMode: 'persistent',
  sharingMode: 'sharingNone',
  ...more,
});
const batch = (volumes: BatchVolume[], more: Partial<BatchAttachment> = {}): BatchAttachment => ({
  ...object,
  name: 'web',
  instanceUuid: uid,
  volumes,
  status: [],
  ...more,
});
const state = (name: string, attached = true, error: string | null = null) => ({
  name,
  claim: `claim-${name}`,
  attached,
  diskUuid: attached ? `6000C29-${name}` : null,
  error,
});

const both = { single: true, batch: true };
const onlySingle = { single: true, batch: false };
const volumesOf = (more: Partial<ObservedVolumes> = {}): ObservedVolumes => ({
  served: both,
  problem: null,
  claims: { 'claim-data': claim(), 'claim-logs': claim() },
  attachments: [],
  batch: null,
  ...more,
});

const controllers: NonNullable<VirtualMachineStatus['hardware']>['controllers'] = [
  { type: 'SCSI', busNumber: 0, deviceKey: 1_000, devices: [{ type: 'Disk', unitNumber: 0 }] },
  { type: 'SCSI', busNumber: 1, deviceKey: 1_001 },
];
const own = { key: 2_000, name: 'disk-0', capacityBytes: 1, own: true, boot: true };
/** With a disk that did not come with it. */
const disks = [own, { ...own, key: 2_001, name: 'disk-1', own: false, boot: false }];

interface Of {
  desired?: Given['desired'];
  vm?: Given['vm'];
  volumes?: Partial<ObservedVolumes> | null;
  recorded?: VirtualMachineStatus;
  bare?: boolean;
  config?: object;
  later?: number;
}

const contextOf = ({ desired, vm, volumes = {}, recorded = {}, bare = false, config = {}, later = 0 }: Of) => {
  const context = vmContextOf({
    desired: { volumes: [wanted('data')], ...desired },
    vm: { powerState: 'poweredOff', shown: { hardware: { controllers } }, ...vm },
    observed: { recorded, volumes: volumes === null ? null : volumesOf(volumes) },
    config: { disks: bare ? [own] : disks, ...config },
    nowMs: beginMs + later,
  });
  return context;
};

const change = (one: VolumeChange): string => {
  switch (one.kind) {
    case 'attach':
      return `attach ${one.name} of ${one.claim}`;
    case 'detach':
      return `detach ${one.name}`;
    case 'batch':
      return `batch ${one.volumes.map(({ name, controllerKey, unitNumber }) => `${name}@${controllerKey}:${unitNumber}`).join(' ')}`.trim();
    case 'detachAll':
      return 'detach all';
    case 'selectZone':
      return `${one.claim} in ${one.zone}`;
    case 'addInstanceVolumes':
    case 'makeClaim':
    case 'deleteClaim':
      return one.kind;
  }
};
const short = (outcome: Outcome): string => {
  if (outcome.kind === 'execute')
    return outcome.steps
      .flatMap((step) => (step.kind === 'changeVolumes' ? step.changes.map(change) : [step.kind]))
      .join(', ');
  if (outcome.kind === 'wait') return `wait ${outcome.message}`;
  return outcome.kind === 'failed' ? `stop ${outcome.message}` : outcome.kind;
};

const rows: [why: string, of: Of, does: string | RegExp][] = [
  ['no volumes, and none before', { desired: { volumes: [] }, volumes: null }, 'success'],
  ['paused by an administrator', { config: { extraConfig: { 'vmservice.virtualmachine.pause': 'true' } } }, 'success'],
  [
    'neither kind is served',
    { volumes: { served: { single: false, batch: false } } },
    /^stop Volumes data cannot be attached: this cluster serves neither .*`drover retry vm team\/web/u,
  ],
  [
    'neither kind is served, and another controller has attached them',
    {
      volumes: { served: { single: false, batch: false } },
      recorded: { volumes: [{ name: 'data', type: 'Managed', attached: true }] },
    },
    'success',
  ],
  ['they may not be read', { volumes: { problem: 'forbidden' } }, 'stop forbidden'],

  [
    'batch: all of them, at the first free units',
    { desired: { volumes: [wanted('data'), wanted('logs')] } },
    'batch data@1000:1 logs@1000:2',
  ],
  [
    'batch: the place that the spec names',
    { desired: { volumes: [wanted('data', { controllerType: 'SCSI', controllerBusNumber: 1, unitNumber: 3 })] } },
    'batch data@1001:3',
  ],
  [
    'batch: asked for, and waited for',
    { volumes: { batch: batch([entry('data', 1)]) } },
    /^wait the vSphere CSI driver to attach volume data of claim claim-data$/u,
  ],
  [
    'batch: the driver says what is wrong',
    { volumes: { batch: batch([entry('data', 1)], { status: [state('data', false, 'no space')] }) } },
    /\(the vSphere CSI driver says: no space\)$/u,
  ],
  ['batch: attached', { volumes: { batch: batch([entry('data', 1)], { status: [state('data')] }) } }, 'success'],
  [
    'batch: where it is it stays',
    { volumes: { batch: batch([entry('data', 9)], { status: [state('data')] }) } },
    'success',
  ],
  [
    'batch: another volume comes in addition',
    {
      desired: { volumes: [wanted('logs'), wanted('data')] },
      volumes: { batch: batch([entry('data', 1)], { status: [state('data')] }) },
    },
    'batch logs@1000:2 data@1000:1',
  ],
  [
    'batch: one that the spec names no more is detached, and nothing else',
    {
      volumes: {
        batch: batch([entry('data', 1), entry('logs', 2)], { status: [state('data'), state('logs')] }),
      },
    },
    'batch data@1000:1',
  ],
  [
    'batch: while it is being detached',
    { volumes: { batch: batch([entry('data', 1)], { status: [state('data'), state('logs:detaching')] }) } },
    /^wait volume logs to be detached/u,
  ],
  [
    'batch: the last one',
    { desired: { volumes: [] }, volumes: { batch: batch([entry('data', 1)], { status: [state('data')] }) } },
    'batch',
  ],
  ['batch: none is left', { desired: { volumes: [] }, volumes: { batch: batch([]) } }, 'success'],
  [
    'batch: another claim under the same name waits until the former is off',
    {
      desired: { volumes: [wanted('data', { claim: 'other' })] },
      volumes: { claims: { other: claim() }, batch: batch([entry('data', 1)], { status: [state('data')] }) },
    },
    'batch',
  ],
  [
    'batch: and then is attached',
    {
      desired: { volumes: [wanted('data', { claim: 'other' })] },
      volumes: { claims: { other: claim() }, batch: batch([]) },
    },
    'batch data@1000:1',
  ],
  [
    'batch: a volume that finds no place takes no other one off',
    {
      desired: { volumes: [wanted('data', { controllerType: 'NVME' }), wanted('logs')] },
      volumes: { batch: batch([entry('logs', 2)], { status: [state('logs')] }) },
    },
    'stop Volume data: the VM has no NVME controller',
  ],
  [
    'batch: a unit that is taken',
    { desired: { volumes: [wanted('data', { unitNumber: 0 })] } },
    /^stop .*unit 0 of SCSI controller 0 is taken/u,
  ],
  [
    'batch: the unit of the controller itself',
    { desired: { volumes: [wanted('data', { unitNumber: 7 })] } },
    /^stop .*unit 7/u,
  ],
  [
    'batch: WSFC without a shared controller',
    { desired: { volumes: [wanted('data', { applicationType: 'MicrosoftWSFC' })] } },
    /^stop .*needs a SCSI controller with sharingMode Physical/u,
  ],
  [
    'batch: WSFC at the shared one',
    {
      desired: {
        volumes: [wanted('data', { applicationType: 'MicrosoftWSFC' })],
        sharedControllers: ['SCSI:1'],
      },
    },
    'batch data@1001:0',
  ],
  [
    'batch: another object’s is not touched',
    { volumes: { batch: batch([entry('data', 1)], { own: false }) } },
    /^stop CnsNodeVMBatchAttachment team\/web is another object’s/u,
  ],
  [
    'batch: of a VirtualMachine of that name that is gone is waited for',
    { volumes: { batch: batch([entry('data', 1)], { own: false, ofPredecessor: true }) } },
    /^wait CnsNodeVMBatchAttachment team\/web of the former VirtualMachine of this name to be deleted by Kubernetes/u,
  ],
  [
    'batch: another object’s that is being deleted is waited for',
    { volumes: { batch: batch([entry('data', 1)], { own: false, deletingSinceMs: beginMs }) } },
    /^wait CnsNodeVMBatchAttachment team\/web, which is another object’s, to be gone/u,
  ],
  [
    'batch: of a VM that was made anew the driver says what was so of the former',
    { bare: true, volumes: { batch: batch([entry('data', 1)], { status: [state('data')] }) } },
    'detach all',
  ],
  [
    'batch: of such a VM it is waited for while it is deleted',
    {
      bare: true,
      volumes: { batch: batch([entry('data', 1)], { status: [state('data')], deletingSinceMs: beginMs }) },
    },
    /^wait the vSphere CSI driver to attach volume data/u,
  ],
  ['batch: and then made anew', { bare: true }, 'batch data@1000:1'],
  [
    'batch: of a VM that has none of its disks yet the driver says so',
    { bare: true, volumes: { batch: batch([entry('data', 1)], { status: [state('data', false)] }) } },
    /^wait the vSphere CSI driver to attach volume data/u,
  ],
  [
    'batch: of a VM that was made anew, one that leaves the spec is detached as any other',
    {
      bare: true,
      desired: { volumes: [] },
      volumes: { batch: batch([entry('data', 1)], { status: [state('data')] }) },
    },
    'batch',
  ],

  ['single: asked for', { volumes: { served: onlySingle } }, 'attach web-data of claim-data'],
  [
    'single: one after the other, while the VM is off',
    { desired: { volumes: [wanted('data'), wanted('logs')] }, volumes: { served: onlySingle } },
    'attach web-data of claim-data',
  ],
  [
    'single: at once, while it runs',
    {
      desired: { volumes: [wanted('data'), wanted('logs')] },
      vm: { powerState: 'poweredOn' },
      volumes: { served: onlySingle },
    },
    'attach web-data of claim-data, attach web-logs of claim-logs',
  ],
  [
    'single: waited for',
    { volumes: { served: onlySingle, attachments: [single('data')] } },
    /^wait the vSphere CSI driver to attach/u,
  ],
  [
    'single: attached',
    { volumes: { served: onlySingle, attachments: [single('data', { attached: true })] } },
    'success',
  ],
  [
    'single: what was attached by one stays with it, where batches are served too',
    { volumes: { attachments: [single('data', { attached: true })] } },
    'success',
  ],
  [
    'single: one that the spec names no more',
    {
      volumes: {
        served: onlySingle,
        attachments: [single('data', { attached: true }), single('logs', { attached: true })],
      },
    },
    'detach web-logs',
  ],
  [
    'single: another claim: the former is detached first',
    {
      desired: { volumes: [wanted('data', { claim: 'other' })] },
      volumes: { served: onlySingle, claims: { other: claim() }, attachments: [single('data', { attached: true })] },
    },
    'detach web-data',
  ],
  [
    'single: and waited for',
    {
      desired: { volumes: [wanted('data', { claim: 'other' })] },
      volumes: {
        served: onlySingle,
        claims: { other: claim() },
        attachments: [single('data', { deletingSinceMs: beginMs })],
      },
    },
    /^wait volume data to be detached from claim claim-data/u,
  ],
  [
    'single: of a former VM',
    { volumes: { served: onlySingle, attachments: [single('data', { biosUuid: 'other', attached: true })] } },
    'detach web-data',
  ],
  [
    'single: of a VM that was made anew with the same UUID',
    { bare: true, volumes: { served: onlySingle, attachments: [single('data', { attached: true })] } },
    'detach web-data',
  ],
  [
    'single: another object’s is not touched',
    { volumes: { served: onlySingle, attachments: [single('data', { own: false })] } },
    /^stop CnsNodeVmAttachment web-data is another object’s/u,
  ],
  [
    'single: of a VirtualMachine of that name that is gone is waited for',
    { volumes: { served: onlySingle, attachments: [single('data', { own: false, ofPredecessor: true })] } },
    /^wait CnsNodeVmAttachment web-data of the former VirtualMachine of this name to be deleted by Kubernetes/u,
  ],
  [
    'single: what it cannot say is refused',
    {
      desired: { volumes: [wanted('data', { sharingMode: 'MultiWriter', unitNumber: 3 })] },
      volumes: { served: onlySingle },
    },
    /^stop Volume data asks for unitNumber, sharingMode:/u,
  ],
  [
    'single: what is so anyway is not refused',
    {
      desired: { volumes: [wanted('data', { controllerType: 'SCSI', diskMode: 'Persistent', sharingMode: 'None' })] },
      volumes: { served: onlySingle },
    },
    'attach web-data of claim-data',
  ],

  [
    'a claim that is not there',
    {
      volumes: {
        claims: { 'claim-data': { kind: 'unread', message: 'There is no PersistentVolumeClaim claim-data' } },
      },
    },
    'wait volume data: There is no PersistentVolumeClaim claim-data',
  ],
  [
    'a claim that is not bound',
    { volumes: { claims: { 'claim-data': claim({ phase: 'Pending' }) } } },
    /^wait PersistentVolumeClaim claim-data of volume data to be bound; it is Pending/u,
  ],
  [
    'a claim that is lost',
    { volumes: { claims: { 'claim-data': claim({ phase: 'Lost' }) } } },
    /^stop .* has lost its PersistentVolume/u,
  ],
  [
    'a claim that waits for its consumer: the VM’s zone',
    { volumes: { claims: { 'claim-data': claim({ phase: 'Pending', waitsForConsumer: true }) } } },
    'claim-data in zone-a',
  ],
  [
    'a claim whose consumer has chosen',
    { volumes: { claims: { 'claim-data': claim({ phase: 'Pending', waitsForConsumer: true, selectedNode: 'b' }) } } },
    /^wait PersistentVolumeClaim/u,
  ],
  ['read only', { desired: { volumes: [wanted('data', { readOnly: true })] } }, /^stop .*readOnly/u],
  [
    'hardware that is too old',
    { config: { hardwareVersion: 13 } },
    /^stop .*needs hardware version 15, and the VM has 13/u,
  ],
];

test.each(rows)('volumes: %s', (_why, of, does) => {
  const outcome = short(planVolumes(contextOf(of)));
  if (typeof does === 'string') expect(outcome).toBe(does);
  else expect(outcome).toMatch(does);
});

test('applicationType is a preset, and what the spec says counts before it', () => {
  const volumes = [
    wanted('data', { applicationType: 'OracleRAC' }),
    wanted('logs', { applicationType: 'OracleRAC', sharingMode: 'None' }),
  ];
  const { changes } = judgeVolumes(contextOf({ desired: { volumes } }));
  expect(changes).toMatchObject([
    {
      volumes: [
        { name: 'data', diskMode: 'independent_persistent', sharingMode: 'sharingMultiWriter' },
        { name: 'logs', diskMode: 'independent_persistent', sharingMode: 'sharingNone' },
      ],
    },
  ]);
});

test('what waits long is observed ever less often', () => {
  const pending = { volumes: { batch: batch([entry('data', 1)]) } };
  const since = (lastTransitionTime: string): VirtualMachineStatus => ({
    conditions: [
      {
        type: 'VirtualMachineHardwareVolumesVerified',
        status: 'False',
        reason: 'HardwareVolumesMismatch',
        message: '',
        lastTransitionTime,
      },
    ],
  });
  const begin = new Date(beginMs).toISOString();
  const waits = [0, 20_000, 10 * minute, 24 * 60 * minute].map((later) => {
    const outcome = planVolumes(contextOf({ ...pending, recorded: since(begin), later }));
    return outcome.kind === 'wait' ? (outcome.untilMs ?? 0) - beginMs - later : outcome;
  });
  expect(waits).toEqual([2_000, 5_000, 150_000, 600_000]);
});

test('a row has what the attachment, the claim and vCenter say; what is gone goes, others’ classic rows stay', () => {
  const attached = single('data', { attached: true, diskUuid: '6000C29D-AB' });
  const context = contextOf({
    volumes: { served: onlySingle, claims: { 'claim-data': claim({ limit: '2Gi' }) }, attachments: [attached] },
    vm: {
      shown: { hardware: { controllers } },
      disksByUuid: { '6000c29dab': { controllerType: 'SCSI', controllerBusNumber: 0, unitNumber: 1, used: '1Mi' } },
    },
    recorded: {
      volumes: [
        { name: 'disk-0', type: 'Classic' },
        { name: 'old:detaching', type: 'Managed' },
      ],
    },
  });
  expect(judgeVolumes(context)).toMatchObject({
    attached: ['data'],
    gone: ['old:detaching'],
    rows: [
      {
        name: 'data',
        type: 'Managed',
        attached: true,
        diskUUID: '6000C29D-AB',
        requested: '1Gi',
        limit: '2Gi',
        controllerType: 'SCSI',
        unitNumber: 1,
        used: '1Mi',
      },
    ],
  });
  expect(judgeVolumesCondition(context)).toMatchObject({ status: 'True' });
});

test.each<[string, Of, string | RegExp]>([
  ['no attachment', { volumes: {} }, 'success'],
  [
    'every kind of its own, and no other one’s',
    { volumes: { attachments: [single('data'), single('logs', { own: false })], batch: batch([]) } },
    'detach web-data, detach all',
  ],
  [
    'it is waited for',
    { volumes: { attachments: [single('data', { deletingSinceMs: beginMs })] } },
    /^wait the vSphere CSI driver to detach/u,
  ],
  [
    'for a time: then drover detaches the disks itself',
    { volumes: { attachments: [single('data', { deletingSinceMs: beginMs })] }, later: 6 * minute },
    'success',
  ],
])('before a VM is destroyed: %s', (_why, of, does) => {
  const outcome = short(planDetach(contextOf(of)));
  if (typeof does === 'string') expect(outcome).toBe(does);
  else expect(outcome).toMatch(does);
});
