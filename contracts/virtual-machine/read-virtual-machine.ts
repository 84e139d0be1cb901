import { goDurationMs } from '../go-duration.ts';
import type { VirtualMachine, VirtualMachineSpec } from '../crds/virtual-machine.ts';
import { modeOf, pendingRetry } from '../kinds/requests.ts';
import { cardProperties } from './card-properties.ts';
import { mebibytesOf, quantityOf } from '../quantity.ts';
import { readAdvancedKeys } from './advanced-keys.ts';
import type { Slot } from './config.ts';
import type {
  AppliedClass,
  BootstrapKind,
  DesiredVirtualMachine,
  InstanceStorageNotes,
  WantedController,
  WantedBootstrap,
  WantedNetworkCard,
  WantedSettings,
  WantedSize,
} from './lifecycle.ts';
import { virtualMachineAnnotations as own, readGuestAsked, readMadeDisks, virtualMachineLabels } from './metadata.ts';
import { drivesOf } from './older-versions.ts';
import { isEvaluated } from './policies.ts';
import { refusedIn } from './refused-fields.ts';

/**
 * What a VirtualMachine asks for. A spec without a field is read with the CRD's default, or with what upstream's
 * webhooks fill in.
 */
export function readVirtualMachine({ metadata, spec = {}, status }: VirtualMachine): DesiredVirtualMachine {
  const given = metadata.annotations ?? {};
  const labels = metadata.labels ?? {};
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    deleting: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    // A mode that is set is meant to restrict: a misspelt one is read as `observe`.
    mode: modeOf({ metadata }, 'act'),
    retry: pendingRetry({ metadata }),
    paused: own.paused in given,
    skipDelete: own.skipDelete in given,
    powerOnChecks: namesUnder(given, own.powerOnCheckPrefix),
    deleteChecks: namesUnder(given, own.deleteCheckPrefix),
    givenConditions: readConditions(given),
    powerState: spec.powerState ?? 'PoweredOn',
    powerOffMode: spec.powerOffMode ?? 'TrySoft',
    suspendMode: spec.suspendMode ?? 'TrySoft',
    restartMode: spec.restartMode ?? 'TrySoft',
    nextRestartTime: spec.nextRestartTime || null,
    applyPowerStateAt: given[own.applyPowerStateTime] ?? null,
    firstBootDone: given[own.firstBootDone] === 'true',
    waitForTools: own.waitForTools in given && given[own.waitForTools] !== 'false',
    className: spec.className || null,
    lastResizedClass: readApplied(given[own.lastResizedClass]),
    sameClassResize: own.sameClassResize in given,
    image: spec.image ?? (spec.imageName ? { kind: 'VirtualMachineImage', name: spec.imageName } : null),
    storageClass: spec.storageClass || null,
    resourcePolicy: spec.reserved?.resourcePolicyName || null,
    clusterModule: given[own.clusterModuleGroup] || null,
    group: spec.groupName || null,
    zone: labels[virtualMachineLabels.zone] || null,
    creatingSince: given[own.creating] || null,
    copiesAt: readCopies(given[own.copies] ?? ''),
    madeDisks: own.disks in given ? readMadeDisks(given[own.disks] ?? '') : null,
    managerId: given[own.managerId] || null,
    formerInstanceId: given[own.cloudInitInstanceId] || null,
    instanceUuid: spec.instanceUUID || null,
    biosUuid: spec.biosUUID || null,
    size: readSize(spec),
    config: readConfig(spec),
    networkDisabled: spec.network?.disabled ?? false,
    networkCards: (spec.network?.interfaces ?? []).map(readCard),
    cdroms: drivesOf(spec).map(({ name, connected = true, allowGuestControl = true, ...place }) => ({
      name,
      connected,
      allowGuestControl,
      slot: readSlot(place),
    })),
    controllers: readControllers(spec),
    volumes: readVolumes(spec),
    ...(hasInstanceStorage(spec) && { instanceStorage: readInstanceStorage(given) }),
    ...(isEvaluated({ spec, status }) && { policies: { named: spec.policies ?? [], labels } }),
    sharedControllers: readSharedControllers(spec),
    mmioSizeGB: given[own.mmioSize] || null,
    bootstrap: readBootstrap(spec),
    bootstrapHashes: { config: given[own.bootstrapConfigHash] ?? null, custom: given[own.bootstrapCustomHash] ?? null },
    fastDeploy: given[own.fastDeploy] ?? null,
    imageCache: {
      name: labels[virtualMachineLabels.imageCache] || null,
      location: given[own.imageCacheLocation] || null,
    },
    imageCacheAskedAt: given[own.imageCacheAsked] || null,
    guestAsked: readGuestAsked(given[own.guestAsked] ?? ''),
    upgradedTo: {
      build: given[own.upgradedToBuildVersion] ?? null,
      schema: given[own.upgradedToSchemaVersion] ?? null,
      feature: given[own.upgradedToFeatureVersion] ?? null,
    },
    currentSnapshot: spec.currentSnapshotName || null,
    promoteDisks: spec.promoteDisksMode ?? 'Online',
    revertInProgress: own.snapshotRevertInProgress in given,
    clusterNode: virtualMachineLabels.clusterRoles.some((label) => label in labels),
    forceBackup: own.forceBackup in given,
    probe: spec.readinessProbe?.tcpSocket
      ? 'tcp'
      : spec.readinessProbe?.guestHeartbeat
        ? 'heartbeat'
        : spec.readinessProbe?.guestInfo
          ? 'guestInfo'
          : null,
    probeThreshold: spec.readinessProbe?.guestHeartbeat?.thresholdStatus ?? 'green',
    probeGuestInfo: (spec.readinessProbe?.guestInfo ?? []).map(({ key, value = '' }) => ({ key, pattern: value })),
    probePeriodMs: (spec.readinessProbe?.periodSeconds ?? 10) * 1_000,
    probePort: readProbePort(spec.readinessProbe),
    refused: refusedIn(spec),
  };
}

function readProbePort(probe: VirtualMachineSpec['readinessProbe']): DesiredVirtualMachine['probePort'] {
  if (probe?.tcpSocket === undefined) return null;
  const { host, port } = probe.tcpSocket;
  const number = Number(port);
  const isPort = Number.isInteger(number) && number > 0 && number < 65_536;
  return { host: host || null, port: isPort ? number : null, timeoutMs: (probe.timeoutSeconds ?? 10) * 1_000 };
}

type Interface = NonNullable<NonNullable<VirtualMachineSpec['network']>['interfaces']>[number];

function readCard(given: Interface): WantedNetworkCard {
  const { name, type = 'VMXNet3', macAddr, vmxnet3, vnumaNodeID } = given;
  const properties = cardProperties(given);
  return {
    name,
    type,
    macAddress: macAddr?.toLowerCase() ?? null,
    ...(vmxnet3?.uptv2Enabled === true && { uptv2Enabled: true }),
    ...(vnumaNodeID !== undefined && { vnumaNode: vnumaNodeID }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
}

/** Null: there are none, or nonsense. */
function readCopies(noted: string): DesiredVirtualMachine['copiesAt'] {
  const [datacenter = '', datastore = '', sources] = noted.split(',');
  return datacenter === '' || datastore === ''
    ? null
    : { datacenter, datastore, ...(sources !== undefined && { sources }) };
}

const readVolumes = ({ volumes = [] }: VirtualMachineSpec): DesiredVirtualMachine['volumes'] =>
  volumes.flatMap(({ persistentVolumeClaim: source, ...volume }) =>
    source === undefined
      ? []
      : [
          {
            name: volume.name,
            claim: source.claimName,
            controllerType: volume.controllerType ?? null,
            controllerBusNumber: volume.controllerBusNumber ?? null,
            unitNumber: volume.unitNumber ?? null,
            diskMode: volume.diskMode ?? null,
            sharingMode: volume.sharingMode ?? null,
            applicationType: volume.applicationType ?? null,
            readOnly: source.readOnly ?? false,
            ...(source.instanceVolumeClaim && { instance: source.instanceVolumeClaim }),
          },
        ],
  );

export const hasInstanceStorage = ({ volumes = [] }: VirtualMachineSpec): boolean =>
  volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.instanceVolumeClaim !== undefined);

function readInstanceStorage(given: Readonly<Record<string, string>>): InstanceStorageNotes {
  const { [own.instanceStorageHost]: id = '', [own.instanceStorageNode]: node = '' } = given;
  return { host: id === '' || node === '' ? null : { id, node }, isBound: own.instanceStorageBound in given };
}

function readSharedControllers({ hardware = {} }: VirtualMachineSpec): string[] {
  const { scsiControllers: scsi = [], nvmeControllers: nvme = [] } = hardware;
  const isShared = ({ sharingMode }: { sharingMode?: string | undefined }): boolean =>
    sharingMode === 'Physical' || sharingMode === 'Virtual';
  return [
    ...scsi.filter(isShared).map(({ busNumber }) => `SCSI:${busNumber}`),
    ...nvme.filter(isShared).map(({ busNumber }) => `NVME:${busNumber}`),
  ];
}

const namesUnder = (given: Readonly<Record<string, string>>, prefix: string): string[] =>
  Object.keys(given)
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length))
    .toSorted();

/** As kube-apiserver takes a reason: one that it refuses would hold up all that the status says. */
const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/u;

/** `Type;Status;Reason;Message`; what is not of that form says nothing. */
function readConditions(given: Readonly<Record<string, string>>): DesiredVirtualMachine['givenConditions'] {
  return Object.entries(given).flatMap(([key, text]) => {
    const [type = '', status, reason = '', ...message] = text.split(';');
    const isOne =
      key.startsWith(own.conditionPrefix) &&
      type !== '' &&
      reasonPattern.test(reason) &&
      (status === 'True' || status === 'False' || status === 'Unknown');
    return isOne ? [{ type, status, reason, message: message.join(';') }] : [];
  });
}

function readApplied(text: string | undefined): AppliedClass | null {
  try {
    const { Name: name, UID: uid, Generation: generation } = JSON.parse(text ?? '') as Record<string, unknown>;
    return typeof name === 'string' && typeof uid === 'string' && typeof generation === 'number'
      ? { name, uid, generation }
      : null;
  } catch {
    return null;
  }
}

type Amount = string | number | undefined;
const cores = (amount: Amount): number | null => (amount === undefined ? null : quantityOf(amount));
const mebibytes = (amount: Amount): number | null => (amount === undefined ? null : mebibytesOf(amount));

const readSize = ({ resources = {} }: VirtualMachineSpec): WantedSize => ({
  cpus: cores(resources.size?.cpu),
  memoryMiB: mebibytes(resources.size?.memory),
  cpuRequestCores: cores(resources.requests?.cpu),
  cpuLimitCores: cores(resources.limits?.cpu),
  memoryRequestMiB: mebibytes(resources.requests?.memory),
  memoryLimitMiB: mebibytes(resources.limits?.memory),
});

function readConfig(spec: VirtualMachineSpec): WantedSettings {
  const { advanced = {}, cpuAdvanced: cpu = {}, memoryAdvanced: memory = {}, bootOptions: boot = {} } = spec;
  return {
    guestId: spec.guestID || null,
    firmware: boot.firmware ?? null,
    coresPerSocket: cpu.topology?.coresPerSocket || null,
    vnumaNodeCount: cpu.topology?.vnumaNodeCount ?? null,
    cpuHotAddEnabled: cpu.hotAddEnabled ?? null,
    memoryHotAddEnabled: memory.hotAddEnabled ?? null,
    nestedHVEnabled: cpu.nestedHardwareVirtualizationEnabled ?? null,
    vPMCEnabled: cpu.performanceCountersEnabled ?? null,
    vvtdEnabled: cpu.iommuEnabled ?? null,
    memoryReservationLockedToMax: memory.reservationLockedToMax ?? null,
    latencySensitivity:
      cpu.latencySensitivity === undefined
        ? null
        : cpu.latencySensitivity === 'HighWithHyperthreading'
          ? 'high'
          : cpu.latencySensitivity.toLowerCase(),
    simultaneousThreads: cpu.latencySensitivity === 'HighWithHyperthreading' ? 2 : null,
    changeTrackingEnabled: advanced.changeBlockTracking ?? null,
    minHardwareVersion: spec.minHardwareVersion ?? null,
    bootOptions: {
      ...given('bootDelay', goDurationMs(boot.bootDelay)),
      ...given(
        'bootRetryEnabled',
        spec.bootOptions === undefined || boot.bootRetry === undefined ? null : boot.bootRetry === 'Enabled',
      ),
      ...given('bootRetryDelay', goDurationMs(boot.bootRetryDelay)),
      ...given(
        'efiSecureBootEnabled',
        boot.firmware === 'efi' && boot.efiSecureBoot !== undefined ? boot.efiSecureBoot === 'Enabled' : null,
      ),
      ...given(
        'networkBootProtocol',
        boot.networkBootProtocol === undefined ? null : boot.networkBootProtocol === 'IP6' ? 'ipv6' : 'ipv4',
      ),
    },
    bootOrder: (boot.bootOrder ?? []).map(({ type, name }) => ({ type, name: name || null })),
    bootDiskBytes: advanced.bootDiskCapacity === undefined ? null : quantityOf(advanced.bootDiskCapacity),
    provisioning:
      advanced.defaultVolumeProvisioningMode === undefined
        ? null
        : provisionings[advanced.defaultVolumeProvisioningMode],
    extraConfig: {
      ...Object.fromEntries((advanced.extraConfig ?? []).map(({ key, value = '' }) => [key, value])),
      ...readAdvancedKeys(advanced),
    },
  };
}

/** Null: it says nothing of its place. */
function readSlot({ controllerType, controllerBusNumber, unitNumber }: Partial<Place>): Slot | null {
  return controllerType === undefined && controllerBusNumber === undefined && unitNumber === undefined
    ? null
    : { bus: controllerType ?? 'IDE', busNumber: controllerBusNumber ?? 0, unitNumber: unitNumber ?? null };
}

type Place = Pick<
  NonNullable<NonNullable<VirtualMachineSpec['hardware']>['cdrom']>[number],
  'controllerType' | 'controllerBusNumber' | 'unitNumber'
>;

/** Those that are named, and those that a drive asks for besides. */
function readControllers(spec: VirtualMachineSpec): WantedController[] {
  const named = readNamedControllers(spec);
  const asked = (spec.hardware?.cdrom ?? []).flatMap((cdrom): WantedController[] => {
    const slot = readSlot(cdrom);
    return slot === null ? [] : [{ bus: slot.bus, busNumber: slot.busNumber, type: null, sharing: null }];
  });
  return [...named, ...asked].filter(
    ({ bus, busNumber }, index, all) =>
      all.findIndex((other) => other.bus === bus && other.busNumber === busNumber) === index,
  );
}

function readNamedControllers({ hardware = {} }: VirtualMachineSpec): WantedController[] {
  const plain = { type: null, sharing: 'None' } as const;
  return [
    ...(hardware.ideControllers ?? []).map(({ busNumber }) => ({ bus: 'IDE' as const, busNumber, ...plain })),
    ...(hardware.nvmeControllers ?? []).map(({ busNumber, sharingMode: sharing = 'None' }) => ({
      bus: 'NVME' as const,
      busNumber,
      type: null,
      sharing,
    })),
    ...(hardware.sataControllers ?? []).map(({ busNumber }) => ({ bus: 'SATA' as const, busNumber, ...plain })),
    ...(hardware.scsiControllers ?? []).map(({ busNumber, type = 'ParaVirtual', sharingMode: sharing = 'None' }) => ({
      bus: 'SCSI' as const,
      busNumber,
      type,
      sharing,
    })),
  ];
}

const provisionings = { Thin: 'thin', Thick: 'thick', ThickEagerZero: 'eagerZeroedThick' } as const;

const given = <Key extends string, Value>(key: Key, value: Value | null): { [Field in Key]?: Value } =>
  (value === null ? {} : { [key]: value }) as { [Field in Key]?: Value };

function readBootstrap({ bootstrap = {} }: VirtualMachineSpec): WantedBootstrap {
  const kind: BootstrapKind | null = bootstrap.cloudInit
    ? 'CloudInit'
    : bootstrap.linuxPrep
      ? 'LinuxPrep'
      : bootstrap.sysprep
        ? 'Sysprep'
        : null;
  return {
    kind,
    disabled: bootstrap.disabled ?? false,
    atNextPowerOn: (bootstrap.linuxPrep ?? bootstrap.sysprep)?.customizeAtNextPowerOn ?? null,
    instanceId: bootstrap.cloudInit?.instanceID || null,
  };
}
