import { findCondition } from '../../contracts/conditions.ts';
import { done, execute, wait } from '../lib/plan.ts';
import type { VirtualMachinePlan } from './plan/context.ts';
import { describeStatus, isSaid, judgeEvent, publishedBy } from './status.ts';
import { diffStatus } from './status-diff.ts';
import type { VirtualMachineStatusPatch } from '../../contracts/virtual-machine/mutations.ts';
import {
  attachedBy,
  beginMs,
  candidateOf,
  classOf,
  contextOf,
  failureIn,
  guestOf,
  volume,
  type Given,
} from '../../test/fixtures/workflows/virtual-machine.ts';

const reconciled: VirtualMachinePlan = done('reconciled', 'Reconciled', 'as its spec wants it');
const describe_ = (given: Given, plan: VirtualMachinePlan = reconciled): VirtualMachineStatusPatch => {
  const context = contextOf(given);
  return (
    diffStatus(context.observed.recorded, describeStatus(context, plan)) ?? { fields: {}, conditions: [], removed: [] }
  );
};
const conditionOf = (given: Given, type: string, plan?: VirtualMachinePlan): string => {
  const { conditions, removed } = describe_(given, plan);
  const condition = conditions.find((one) => one.type === type);
  return condition === undefined
    ? removed.includes(type)
      ? 'taken away'
      : 'nothing'
    : `${condition.status} ${condition.reason}`;
};

const linkedDisks = [{ key: 2_000, name: 'disk-0', capacityBytes: 1, own: true, boot: true, linked: true as const }];

const classRows: [why: string, given: Given, shown: unknown][] = [
  [
    'Is classless Yes: status.class is cleared',
    { desired: { className: null }, observed: { recorded: { class: { apiVersion: 'v', kind: 'k', name: 'old' } } } },
    null,
  ],
  [
    'Resize enabled Yes: the class that was applied, not that of the spec',
    { desired: { className: 'large' } },
    'small',
  ],
  ['Resize enabled Yes: no backfill where nothing is known', { desired: { lastResizedClass: null } }, undefined],
  [
    'Resize enabled No: backfill from the spec',
    { settings: { resize: 'off' }, desired: { className: 'large' } },
    'large',
  ],
  [
    'Resize enabled No: what is there stays',
    {
      settings: { resize: 'off' },
      desired: { className: 'large' },
      observed: { recorded: { class: { apiVersion: 'v', kind: 'k', name: 'old' } } },
    },
    undefined,
  ],
];

test.each(classRows)('Status: %s', (_why, given, shown) => {
  const { fields } = describe_(given);
  expect('class' in fields ? (fields.class?.name ?? null) : undefined).toBe(shown);
});

const fieldRows: [why: string, given: Given, fields: object][] = [
  ['SetPowerState', { vm: { powerState: 'suspended' } }, { powerState: 'Suspended' }],
  ['SetIDs', {}, { uniqueID: 'vm-1', instanceUUID: contextOf().desired.uid, biosUUID: contextOf().desired.uid }],
  [
    'SetHWVersion',
    { config: { hardwareVersion: 22, changeTrackingEnabled: true } },
    { hardwareVersion: 22, changeBlockTracking: true },
  ],
  [
    'UpdateNetworkStatus',
    { vm: { shown: { network: { interfaces: [{ name: 'eth0' }] } } } },
    { network: { primaryIP4: '192.0.2.10', hostName: 'web', interfaces: [{ name: 'eth0' }] } },
  ],
  [
    'an address of a guest that no longer runs is not shown',
    { vm: { powerState: 'poweredOff' }, observed: { recorded: { network: { primaryIP4: '192.0.2.10' } } } },
    { network: null },
  ],
  ['UpdateStorageStatus', { vm: { shown: { storage: { total: '10Gi' } } } }, { storage: { total: '10Gi' } }],
  [
    'UpdateStorageStatus: volumes of claims stay as they are shown',
    {
      vm: { shown: { volumes: [{ name: 'disk-1', type: 'Classic' }] } },
      observed: {
        recorded: {
          volumes: [
            { name: 'disk-0', type: 'Classic' },
            { name: 'data', type: 'Managed', attached: true },
          ],
        },
      },
    },
    // The row of the claim is left to what is in the object when this is written.
    { volumes: [{ name: 'disk-1', type: 'Classic' }] },
  ],
  [
    'UpdateStorageStatus: a volume of a claim is shown by its attachment, and not as a disk of the VM too',
    {
      desired: { volumes: [volume('data')] },
      vm: {
        shown: {
          volumes: [
            { name: 'disk-1', type: 'Classic', diskUUID: 'aa-bb' },
            { name: 'disk-2', type: 'Classic', diskUUID: 'CC-DD' },
          ],
        },
        disksByUuid: { ccdd: { controllerType: 'SCSI', controllerBusNumber: 0, unitNumber: 1 } },
      },
      observed: { volumes: attachedBy('ccdd') },
      config: { disks: [{ key: 2_001, name: 'disk-2', capacityBytes: 1, own: false, boot: false }] },
    },
    {
      volumes: [
        { name: 'disk-1', type: 'Classic', diskUUID: 'aa-bb' },
        {
          name: 'data',
          type: 'Managed',
          attached: true,
          diskUUID: 'ccdd',
          controllerType: 'SCSI',
          controllerBusNumber: 0,
          unitNumber: 1,
          requested: '1Gi',
          limit: '1Gi',
        },
      ],
    },
  ],
  ['SetNodeName', {}, { nodeName: 'esx-1' }],
  ['zone', {}, { zone: 'zone-a' }],
  ['guest', {}, { guest: { guestID: 'otherGuest64', guestFullName: 'Other' } }],
  [
    'the last restart',
    { config: { extraConfig: { 'vmservice.lastRestartTime': `${beginMs}000000` } } },
    { lastRestartTime: '2026-01-01T00:00:00.000Z' },
  ],
];

test.each(fieldRows)('Status: %s', (_why, given, fields) => {
  expect(describe_(given).fields).toMatchObject(fields);
});

test('Status: when it was made in vCenter is said once', () => {
  expect(
    describe_({
      observed: { recorded: { provider: { creationTimestamp: '2025-01-01T00:00:00Z' } } },
      vm: { shown: { provider: { creationTimestamp: '2026-01-01T00:00:00Z' } } },
    }).fields,
  ).not.toHaveProperty('provider');
});

const heartbeat = (given: Partial<ReturnType<typeof guestOf>>): Given => ({
  desired: { probe: 'heartbeat' },
  vm: { guest: guestOf(given) },
});
const noTools: Given = { vm: { guest: guestOf({ toolsRunning: false }) } };
const off = { powerState: 'poweredOff' as const };
const ownKeys = contextOf().observed.vm?.config?.extraConfig ?? {};
/** Off, with another size than that of its class. */
const resized: Given = { vm: off, config: { numCPUs: 1 }, desired: { lastResizedClass: null, sameClassResize: true } };
const keyed: Given = {
  desired: { config: { ...contextOf().desired.config, extraConfig: { 'guestinfo.a': '1' } } },
};
const copy = candidateOf({ moId: 'vm-2', foundBy: ['owner'], isRecorded: false });
const elsewhere: Given = { desired: { managerId: 'older' } };

const conditionRows: [why: string, given: Given, type: string, expected: string][] = [
  ['SetCreatedCond: true', {}, 'VirtualMachineCreated', 'True True'],
  ['there is no VM yet', { vm: null }, 'VirtualMachineCreated', 'nothing'],
  ['the power state is the one that is wanted', {}, 'VirtualMachinePowerStateSynced', 'True Synced'],
  [
    'the power state is another',
    { desired: { powerState: 'PoweredOff' } },
    'VirtualMachinePowerStateSynced',
    'False NotSynced',
  ],
  ['UpdateGroupCond: not in a group', {}, 'GroupLinked', 'nothing'],
  [
    'UpdateGroupCond: linked',
    { desired: { group: 'g' }, observed: { group: { found: true, linked: true, placement: null } } },
    'GroupLinked',
    'True True',
  ],
  ['UpdateGroupCond: there is no such group', { desired: { group: 'g' } }, 'GroupLinked', 'False NotFound'],
  [
    'UpdateGroupCond: it is not a member',
    { desired: { group: 'g' }, observed: { group: { found: true, linked: false, placement: null } } },
    'GroupLinked',
    'False NotMember',
  ],
  [
    'UpdateGroupCond: there are no groups at all',
    {
      desired: { group: 'g' },
      observed: { group: { found: false, linked: false, placement: null, unknownKind: true } },
    },
    'GroupLinked',
    'False NotFound',
  ],
  [
    'UpdateGroupCond: groups are switched off',
    { desired: { group: 'g' }, settings: { groups: false } },
    'GroupLinked',
    'nothing',
  ],
  ['CheckAsync Yes: the probe is reported here', heartbeat({}), 'Ready', 'True True'],
  ['CheckAsync Yes: a heartbeat below its threshold', heartbeat({ heartbeat: 'yellow' }), 'Ready', 'False NotReady'],
  [
    'CheckAsync Yes: a lower threshold',
    { desired: { probe: 'heartbeat', probeThreshold: 'yellow' }, vm: { guest: guestOf({ heartbeat: 'yellow' }) } },
    'Ready',
    'True True',
  ],
  ['CheckAsync Yes: no heartbeat', heartbeat({ heartbeat: 'gray' }), 'Ready', 'Unknown Unknown'],
  [
    'CheckAsync No: as it was observed last',
    { ...heartbeat({}), settings: { asyncSignal: false } },
    'Ready',
    'True True',
  ],
  [
    'what the guest has set',
    { desired: { probe: 'guestInfo' }, observed: { probe: { passed: true, message: '' } } },
    'Ready',
    'True True',
  ],
  [
    'what the guest has not set',
    { desired: { probe: 'guestInfo' }, observed: { probe: { passed: false, message: 'no' } } },
    'Ready',
    'False NotReady',
  ],
  ['a port that was not probed yet', { desired: { probe: 'tcp' } }, 'Ready', 'Unknown Unknown'],
  [
    'a port that listens',
    { desired: { probe: 'tcp' }, observed: { probe: { passed: true, message: '' } } },
    'Ready',
    'True True',
  ],
  [
    'a port that does not answer',
    { desired: { probe: 'tcp' }, observed: { probe: { passed: false, message: 'no' } } },
    'Ready',
    'False NotReady',
  ],
  [
    'a port that was not probed since the last step: it stays as it was',
    {
      desired: { probe: 'tcp' },
      observed: {
        recorded: {
          conditions: [{ type: 'Ready', status: 'True', reason: 'True', message: '', lastTransitionTime: '' }],
        },
      },
    },
    'Ready',
    'nothing',
  ],
  [
    'what is off is not ready',
    { desired: { probe: 'heartbeat' }, vm: { powerState: 'poweredOff' } },
    'Ready',
    'False NotReady',
  ],
  ['no probe', {}, 'Ready', 'nothing'],
  ['it is where it belongs', {}, 'VirtualMachineLocationValid', 'True True'],
  [
    'it is in another pool',
    { vm: { location: { resourcePool: false, folder: true } } },
    'VirtualMachineLocationValid',
    'False ResourcePoolMismatch',
  ],
  [
    'it is in another folder',
    { vm: { location: { resourcePool: true, folder: false } } },
    'VirtualMachineLocationValid',
    'False FolderMismatch',
  ],
  [
    'it is elsewhere altogether',
    { vm: { location: { resourcePool: false, folder: false } } },
    'VirtualMachineLocationValid',
    'False ResourcePoolAndFolderMismatch',
  ],
  ['Tools run', {}, 'VirtualMachineTools', 'True True'],
  ['Tools do not run', noTools, 'VirtualMachineTools', 'False VirtualMachineToolsNotRunning'],
  [
    'nothing is known of Tools',
    { vm: { guest: guestOf({ toolsRunning: false, known: false }) } },
    'VirtualMachineTools',
    'Unknown NoGuestInfo',
  ],
  [
    'customized',
    { vm: { guest: guestOf({ customization: 'TOOLSDEPLOYPKG_SUCCEEDED' }) } },
    'GuestCustomization',
    'True True',
  ],
  [
    'customization has failed',
    { vm: { guest: guestOf({ customization: 'TOOLSDEPLOYPKG_FAILED' }) } },
    'GuestCustomization',
    'False GuestCustomizationFailed',
  ],
  [
    'customization says something new',
    { vm: { guest: guestOf({ customization: 'X' }) } },
    'GuestCustomization',
    'Unknown GuestCustomizationUnknown',
  ],
  [
    'a size has to wait',
    {
      desired: { className: 'large' },
      prerequisites: {
        class: { kind: 'found', value: classOf({ name: 'large', compute: { ...classOf().compute, numCPUs: 8 } }) },
      },
    },
    'VirtualMachineComputeConfigSynced',
    'False PowerOffRequired',
  ],
  [
    'a card has to wait',
    { desired: { networkCards: [] } },
    'VirtualMachineNetworkConfigSynced',
    'False PowerOffRequired',
  ],
  [
    'newer hardware has to wait',
    { desired: { config: { ...contextOf().desired.config, minHardwareVersion: 22 } } },
    'VirtualMachineComputeConfigSynced',
    'False PowerOffRequired',
  ],
  ['a size is to be changed now', resized, 'VirtualMachineComputeConfigSynced', 'False ComputeConfigMismatch'],
  [
    'a size could not be changed',
    { ...resized, memory: { failures: [failureIn('config')] } },
    'VirtualMachineComputeConfigSynced',
    'False ComputeConfigMismatch',
  ],
  [
    'which says nothing of its network',
    { ...resized, memory: { failures: [failureIn('config')] } },
    'VirtualMachineNetworkConfigSynced',
    'True True',
  ],
  [
    'a card could not be added',
    { vm: off, config: { networkCards: [] }, memory: { failures: [failureIn('config')] } },
    'VirtualMachineNetworkConfigSynced',
    'False NetworkConfigError',
  ],
  ['a key is to be set', keyed, 'VirtualMachineExtraConfigSynced', 'False ExtraConfigMismatch'],
  [
    'a key could not be set',
    { ...keyed, memory: { failures: [failureIn('config')] } },
    'VirtualMachineExtraConfigSynced',
    'False ExtraConfigError',
  ],
  [
    'a key has to wait: it is suspended',
    { ...keyed, vm: { powerState: 'suspended' } },
    'VirtualMachineExtraConfigSynced',
    'False PowerOffRequired',
  ],
  [
    'a size has to wait: an administrator has paused it',
    { ...resized, config: { numCPUs: 1, extraConfig: { ...ownKeys, 'vmservice.virtualmachine.pause': 'true' } } },
    'VirtualMachineComputeConfigSynced',
    'False ComputeConfigMismatch',
  ],
  ['the class is the one that was applied', {}, 'VirtualMachineClassConfigurationSynced', 'True True'],
  [
    'its image has gone since: the condition stays',
    { prerequisites: { image: { kind: 'notFound', message: '' } } },
    'VirtualMachineImageReady',
    'nothing',
  ],
  [
    'its class has gone since: that is',
    { prerequisites: { class: { kind: 'notFound', message: '' } } },
    'VirtualMachineClassReady',
    'False NotFound',
  ],
  ['no card shows the guest’s address yet', {}, 'VirtualMachineGuestNetworkConfigSynced', 'False NotSynced'],
  ['the spec is all done', {}, 'SpecSupported', 'nothing'],
  [
    'the spec asks for what drover does not do',
    { desired: { refused: ['spec.affinity: drover does not'] } },
    'SpecSupported',
    'False NotSupported',
  ],
  ['a drive is as it should be', {}, 'VirtualMachineHardwareDeviceConfigVerified', 'True True'],
  [
    'a drive has to wait',
    { config: { cdroms: [{ key: 1, iso: '[fast] a.iso', connected: true, allowGuestControl: true }] } },
    'VirtualMachineHardwareDeviceConfigVerified',
    'False HardwareDeviceConfigMismatch',
  ],
  [
    'a drive has no ISO, as its image is gone',
    {
      desired: { cdroms: [{ name: 'cd1', connected: true, allowGuestControl: true }] },
      prerequisites: { lackingIsos: { cd1: { reason: 'NotFound', message: 'm' } } },
    },
    'VirtualMachineHardwareCDROMVerified',
    'False NotFound',
  ],
  ['its disks are its own', {}, 'VirtualMachineDiskPromotionSynced', 'nothing'],
  [
    'its disks are linked',
    { config: { disks: linkedDisks } },
    'VirtualMachineDiskPromotionSynced',
    'False DiskPromotionPending',
  ],
  [
    'its disks are linked, and stay',
    { config: { disks: linkedDisks }, desired: { promoteDisks: 'Disabled' } },
    'VirtualMachineDiskPromotionSynced',
    'nothing',
  ],
  [
    'a revert that has not ended',
    { desired: { revertInProgress: true } },
    'VirtualMachineSnapshotRevertSucceeded',
    'False VirtualMachineSnapshotRevertInProgress',
  ],
  ['paused by an annotation', { desired: { paused: true } }, 'VirtualMachineCreated', 'nothing'],
  ['a copy is named', { observed: { candidates: [candidateOf(), copy] } }, 'VirtualMachineUnique', 'False CopyFound'],
  ['no copy, no condition', {}, 'VirtualMachineUnique', 'nothing'],
  ['of a VM in another vCenter nothing is known', { ...elsewhere, vm: null }, 'VirtualMachineCreated', 'nothing'],
  [
    'a condition that others give',
    { desired: { givenConditions: [{ type: 'Theirs', status: 'False', reason: 'Why', message: '' }] } },
    'Theirs',
    'False Why',
  ],
];

test.each(conditionRows)('Status: %s', (_why, given, type, expected) => {
  expect(conditionOf(given, type)).toBe(expected);
});

test('Status: of a VM that is gone nothing is said that held while it was there', () => {
  const conditions = ['Ready', 'VirtualMachineTools', 'VirtualMachinePowerStateSynced'].map((type) => ({
    type,
    status: 'True' as const,
    reason: 'True',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
  const recorded = {
    uniqueID: 'vm-1',
    powerState: 'PoweredOn' as const,
    nodeName: 'esx-1',
    network: { primaryIP4: '192.0.2.10' },
    conditions,
  };
  const gone: Given = { vm: null, observed: { candidates: [], recorded } };
  const waiting = wait('TooManyCreates', 'TooManyCreates', 'a slot');
  const { fields, removed } = describe_(gone, waiting);
  expect(fields).toMatchObject({ powerState: null, nodeName: null, network: null });
  expect(fields).not.toHaveProperty('uniqueID');
  expect(removed).toEqual(expect.arrayContaining(conditions.map(({ type }) => type)));
  // One that is not to be read, or that another owner has, is not known to be gone.
  const taken: Given = {
    ...gone,
    observed: { recorded, candidates: [candidateOf({ owner: null, foundBy: ['name'] })] },
  };
  expect(describe_(taken, waiting)).toMatchObject({ fields: {}, removed: [] });
});

const plans: [why: string, plan: VirtualMachinePlan, expected: string][] = [
  ['reconciled', reconciled, 'True Reconciled'],
  ['blocked', done('blocked', 'NotOwned', 'm'), 'False NotOwned'],
  ['cancelled', done('blocked', 'Cancelled', 'm'), 'False Cancelled'],
  ['waiting', wait('TooManyCreates', 'TooManyCreates', 'a slot'), 'Unknown TooManyCreates'],
  [
    'executing',
    execute([{ kind: 'destroy', moId: 'x', summary: 's', stage: 'create', phase: 'Creating' }]),
    'Unknown Creating',
  ],
];

test.each(plans)('Lifecycle: %s, with the generation that it speaks of', (_why, plan, expected) => {
  expect(conditionOf({}, 'Lifecycle', plan)).toBe(expected);
  expect(
    describe_({ desired: { generation: 7 } }, plan).conditions.find(({ type }) => type === 'Lifecycle')
      ?.observedGeneration,
  ).toBe(7);
});

test('a cancel is no problem of the create, and no Event', () => {
  const plan = done('blocked', 'Cancelled', 'The run was cancelled');
  expect(conditionOf({ vm: null }, 'VirtualMachineCreated', plan)).toBe('nothing');
  expect(conditionOf({ vm: null }, 'VirtualMachineCreated', done('blocked', 'NotOwned', 'm'))).toBe('False Error');
  expect(judgeEvent(contextOf({ vm: null }), plan)).toBeNull();
});

test('a stop that holds is no Event, also where it is tried again', () => {
  const memory = { failures: [failureIn('delete', true, { reason: 'Stopped' })] };
  expect(judgeEvent(contextOf({ memory }), wait('Stopped', 'Stopped', 'it to be lifted', 1))).toBeNull();
  expect(judgeEvent(contextOf({ memory }), wait('WaitingForVolumes', 'WaitingForVolumes', 'one'))).toBeNull();
  const patches = [{ removeFinalizers: ['f'] }];
  const release: VirtualMachinePlan = execute([
    { kind: 'patchVirtualMachine', patches, summary: 's', stage: 'delete', phase: 'Deleting' },
  ]);
  const desired = { deleting: true };
  expect(judgeEvent(contextOf({ desired }), release)).toMatchObject({ reason: 'DeleteSuccess' });
  expect(judgeEvent(contextOf({ desired, memory }), release)).toBeNull();
});

test('paused says no more than that', () => {
  const { conditions, fields } = describe_({ desired: { paused: true } }, done('blocked', 'Paused', 'paused'));
  expect(conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
    'Lifecycle False Paused',
    'VirtualMachineReconcileReady False VirtualMachineReconcilePaused',
  ]);
  expect(fields).toEqual({});
});

test('what could not be read is not known: only that is said', () => {
  const { conditions, fields, removed } = describe_(
    { vm: null, memory: { failures: [failureIn('observe')] } },
    wait('Failed', 'VsphereUnavailable', 'vCenter', 1),
  );
  expect([conditions.map(({ type }) => type), fields, removed]).toEqual([
    ['Lifecycle', 'VirtualMachineReconcileReady'],
    {},
    [],
  ]);
});

test('what is missing is said before there is a VM, and a failure of the create', () => {
  const failing: Given = {
    vm: null,
    prerequisites: { class: { kind: 'forbidden', message: 'no' } },
    memory: { failures: [failureIn('create')] },
  };
  expect([
    conditionOf(failing, 'VirtualMachineClassReady'),
    conditionOf(failing, 'VirtualMachineCreated'),
    conditionOf(failing, 'VirtualMachineConditionPlacementReady'),
  ]).toEqual(['False Forbidden', 'False Error', 'True True']);
  expect(
    conditionOf(
      { vm: null, observed: { placement: { kind: 'zoneMismatch', message: 'm' } } },
      'VirtualMachineConditionPlacementReady',
    ),
  ).toBe('False ZoneMismatch');
});

test('a foreign VM’s properties are never shown as its own', () => {
  expect(
    describe_({
      observed: {
        candidates: [candidateOf({ foundBy: ['name'], instanceUuid: 'x', owner: null })],
      },
    }).fields,
  ).toEqual({});
});

test('what it says already is not said again', () => {
  const context = contextOf();
  const conditionOf = publishedBy(context, reconciled);
  const conditions =
    conditionOf.status?.conditions.map((update) => ({ ...update, lastTransitionTime: '2026-01-01T00:00:00Z' })) ?? [];
  const recorded = { ...conditionOf.status?.fields, conditions } as never;
  expect(isSaid({ recorded: {} }, conditionOf)).toBe(false);
  const again = publishedBy({ ...context, observed: { ...context.observed, recorded } }, reconciled);
  expect(isSaid({ recorded }, again)).toBe(true);
  expect(findCondition(conditions, 'Lifecycle')?.status).toBe('True');
});

test('a change that waits, or has failed, says which and why', () => {
  const messageOf = (given: Given, type: string) =>
    describe_(given).conditions.find((condition) => condition.type === type)?.message;
  const type = 'VirtualMachineComputeConfigSynced';
  expect(messageOf({ ...resized, memory: { failures: [failureIn('config')] } }, type)).toBe('numCPUs: config failed');
  expect(messageOf({ ...resized, vm: { powerState: 'suspended' } }, type)).toBe(
    'It is suspended, and has to be resumed, or powered off, for: numCPUs 1 → 2',
  );
});
