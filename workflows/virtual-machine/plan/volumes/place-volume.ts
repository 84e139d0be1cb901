import type {
  BatchAttachment,
  BatchVolume,
  ControllerType,
  VolumeChange,
  WantedVolume,
} from '../../../../contracts/virtual-machine/volumes.ts';
import type { VmContext } from '../context.ts';

/**
 * Where a volume is attached, and how: what the spec leaves open is chosen once, and stands in the attachment from then
 * on. Pure.
 */

interface Controller {
  type: ControllerType;
  busNumber: number;
  deviceKey: number;
  devices?: { unitNumber: number }[] | undefined;
}

/** Units of a controller; a SCSI controller is itself its unit 7. */
const units: Record<ControllerType, number> = { SCSI: 16, SATA: 30, NVME: 15, IDE: 2 };
const scsiOwnUnit = 7;

const diskModes = {
  Persistent: 'persistent',
  IndependentPersistent: 'independent_persistent',
  NonPersistent: 'nonpersistent',
  IndependentNonPersistent: 'independent_nonpersistent',
} as const;
const sharingModes = { None: 'sharingNone', MultiWriter: 'sharingMultiWriter' } as const;

/**
 * @param others what the batch holds, and what is to be added to it
 * @param entry of this volume, where it has one: it stays where it is, as far as the spec does not say otherwise
 * @returns a sentence: why there is no place for it
 */
export function placeVolume(
  context: VmContext,
  volume: WantedVolume,
  others: readonly BatchVolume[],
  entry: BatchVolume | null,
): BatchVolume | string {
  const { name, claim } = volume;
  const used = others.filter((other) => other.name !== name);
  const controller = chooseController(context, volume, used, entry);
  if (typeof controller === 'string') return controller;
  const isThere = entry !== null && entry.controllerKey === controller.deviceKey;
  const free = freeUnits(controller, used);
  const unitNumber = volume.unitNumber ?? (isThere ? entry.unitNumber : free[0]);
  const where = `${controller.type} controller ${controller.busNumber}`;
  if (unitNumber === undefined) return `Volume ${name}: no unit is free at ${where}`;
  const isOwn = isThere && entry.unitNumber === unitNumber;
  if (!isOwn && !free.includes(unitNumber))
    return `Volume ${name}: unit ${unitNumber} of ${where} is taken, or is none`;
  return {
    name,
    claim,
    controllerKey: controller.deviceKey,
    unitNumber,
    diskMode: diskModes[volume.diskMode ?? (volume.applicationType === null ? 'Persistent' : 'IndependentPersistent')],
    sharingMode: sharingModes[volume.sharingMode ?? (volume.applicationType === 'OracleRAC' ? 'MultiWriter' : 'None')],
  };
}

function chooseController(
  { desired, vm }: VmContext,
  volume: WantedVolume,
  used: readonly BatchVolume[],
  entry: BatchVolume | null,
): Controller | string {
  const { name, applicationType, controllerBusNumber: bus } = volume;
  const controllers: readonly Controller[] = vm.shown.hardware?.controllers ?? [];
  const there = controllers.find(({ deviceKey }) => deviceKey === entry?.controllerKey);
  const type = volume.controllerType ?? there?.type ?? 'SCSI';
  const isShared = (one: Controller): boolean => desired.sharedControllers.includes(`${one.type}:${one.busNumber}`);
  const ofType = controllers.filter((one) => one.type === type);
  if (bus !== null) {
    const named = ofType.find(({ busNumber }) => busNumber === bus);
    if (named === undefined) return `Volume ${name}: the VM has no ${type} controller ${bus}`;
    if (applicationType === 'MicrosoftWSFC' && !isShared(named))
      return `Volume ${name}: applicationType MicrosoftWSFC needs ${type} controller ${bus} to have sharingMode Physical in spec.hardware`;
    return named;
  }
  // Disks of a cluster of Windows are at a shared controller, all others at none.
  const fitting = ofType.filter((one) => isShared(one) === (applicationType === 'MicrosoftWSFC'));
  if (there?.type === type && fitting.includes(there)) return there;
  const [first] = fitting;
  return (
    fitting.find((one) => freeUnits(one, used).length > 0) ??
    first ??
    (applicationType === 'MicrosoftWSFC'
      ? `Volume ${name}: applicationType MicrosoftWSFC needs a ${type} controller with sharingMode Physical in spec.hardware`
      : `Volume ${name}: the VM has no ${type} controller`)
  );
}

function freeUnits({ type, deviceKey, devices = [] }: Controller, used: readonly BatchVolume[]): number[] {
  const taken = new Set([
    ...devices.map(({ unitNumber }) => unitNumber),
    ...used.filter(({ controllerKey }) => controllerKey === deviceKey).map(({ unitNumber }) => unitNumber),
    ...(type === 'SCSI' ? [scsiOwnUnit] : []),
  ]);
  return Array.from({ length: units[type] }, (_, unit) => unit).filter((unit) => !taken.has(unit));
}

/** Null: it says all of that already. */
export function batchOf(
  batch: BatchAttachment | null,
  instanceUuid: string,
  volumes: BatchVolume[],
): Extract<VolumeChange, { kind: 'batch' }> | null {
  const isSaid =
    batch?.instanceUuid === instanceUuid &&
    batch.volumes.length === volumes.length &&
    volumes.every((volume) => batch.volumes.some((one) => isSame(one, volume)));
  if (isSaid) return null;
  const before = batch && { uid: batch.uid, instanceUuid: batch.instanceUuid, volumes: batch.volumes };
  return { kind: 'batch', instanceUuid, volumes, before };
}

const isSame = (one: BatchVolume, other: BatchVolume): boolean =>
  one.name === other.name &&
  one.claim === other.claim &&
  one.controllerKey === other.controllerKey &&
  one.unitNumber === other.unitNumber &&
  one.diskMode === other.diskMode &&
  one.sharingMode === other.sharingMode;
