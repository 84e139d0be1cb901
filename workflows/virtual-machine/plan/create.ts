import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import {
  defaultVmAnnotation,
  managedBy,
  virtualMachineAnnotations,
  virtualMachineLabels,
} from '../../../contracts/virtual-machine/metadata.ts';
import { isProfileId } from '../../../contracts/virtual-machine/profile-id.ts';
import type { Fetched, ObservedImage, PlacedAt } from '../../../contracts/virtual-machine/observation.ts';
import type { CreateSource, CreateSpec } from '../../../contracts/virtual-machine/mutations.ts';
import { addPciDevice, hardwareVersionFor } from './class-devices.ts';
import { placeOf, planCachedFiles, planCopies, removeCopies, sourcesOf, type ChosenCache } from './cached-files.ts';
import { isAuto, judgeCache } from './fast-deploy.ts';
import { diffPolicyTags, judgePolicies, planEvaluation } from './policies.ts';
import { judgePrerequisites, obstacleOf } from './prerequisites.ts';
import { planInstanceStorage } from './volumes/instance-storage.ts';
import { latchPatch } from './config.ts';
import { describeApplied, wantCompute, wantExtraConfig } from './want-config.ts';
import {
  describeRefused,
  execute,
  stop,
  wait,
  type Context,
  type Outcome,
  type VirtualMachineAction,
} from './context.ts';

/**
 * Makes the VM, once everything that it needs is there.
 */
export function planCreate(context: Context): Outcome {
  const { desired, observed, settings } = context;
  if (desired.refused.length > 0) return stop('NotSupported', `No VM is made. ${describeRefused(desired)}`);
  const obstacle = obstacleOf(judgePrerequisites(desired, observed.prerequisites));
  if (obstacle !== null) return wait('WaitingForPrerequisites', obstacle.message, recheckAt(context));
  const evaluation = planEvaluation(context, null, 'create');
  if (evaluation.kind !== 'success') return evaluation;
  const placed = judgePlacement(context);
  if (placed.kind !== 'placed')
    return wait(
      placed.kind === 'ungrouped' ? 'WaitingForGroup' : 'WaitingForPrerequisites',
      placed.message,
      recheckAt(context),
    );
  const stored = planInstanceStorage(context, placed.at);
  if ('outcome' in stored) return stored.outcome;
  const { at } = stored;
  const chosen = chooseSource(context);
  if ('problem' in chosen) return stop('NotSupported', chosen.problem);
  const cached = chosen.kind === 'cachedDisks' ? planCachedFiles(context, chosen, at) : { source: chosen };
  if ('outcome' in cached) return cached.outcome;

  const { source } = cached;
  const { name, uid, copiesAt, firstBootDone, bootstrap, bootstrapHashes } = desired;
  const classFacts = observed.prerequisites.class;
  const applied = classFacts?.kind === 'found' ? classFacts.value : null;
  const sources = source.kind === 'cachedDisks' ? sourcesOf(source) : null;
  // A disk that is there is not copied again, and those of two versions of an image make no VM.
  const isOutdated = sources !== null && copiesAt?.sources !== undefined && copiesAt.sources !== sources;
  if (copiesAt && (isOutdated || copiesAt.datacenter !== at.datacenter || copiesAt.datastore !== at.datastore))
    return execute('create', ...removeCopies(name, placeOf(uid, copiesAt)));
  const copies =
    source.kind === 'cachedDisks' ? planCopies(source, name, placeOf(uid, at), desired.config.provisioning) : [];
  const notes = {
    labels: {
      // Where cached disks are not there after all, it may go elsewhere: then the zone is noted when it is made.
      ...(source.kind !== 'cachedDisks' && { [virtualMachineLabels.zone]: at.zone }),
      ...(desired.imageCache.name !== null && { [virtualMachineLabels.imageCache]: null }),
    },
    annotations: {
      ...(desired.imageCache.location !== null && { [virtualMachineAnnotations.imageCacheLocation]: null }),
      [virtualMachineAnnotations.creating]: new Date(context.nowMs).toISOString(),
      // One that was there before, and is gone, was another: this one's first start is to come.
      ...(firstBootDone && { [virtualMachineAnnotations.firstBootDone]: null }),
      // So are its bootstrap data, and the customization that the other has had.
      ...(bootstrapHashes.config !== null && { [virtualMachineAnnotations.bootstrapConfigHash]: null }),
      ...(bootstrapHashes.custom !== null && { [virtualMachineAnnotations.bootstrapCustomHash]: null }),
      ...(stored.isBoundAnew && { [virtualMachineAnnotations.instanceStorageBound]: 'true' }),
      ...(applied !== null && { [virtualMachineAnnotations.lastResizedClass]: describeApplied(applied) }),
      ...(sources !== null && {
        [virtualMachineAnnotations.copies]: `${at.datacenter},${at.datastore},${sources}`,
      }),
    },
    ...(bootstrapHashes.custom !== null && bootstrap.atNextPowerOn === false && latchPatch(bootstrap.kind, true)),
  };
  const isNotedFirst = copies.length > 0;
  const create: VirtualMachineAction = {
    kind: 'createVirtualMachine',
    create: createSpec(context, source, at),
    blocking: !settings.asyncCreate,
    notes: isNotedFirst ? [] : [notes],
  };
  const note: VirtualMachineAction = { kind: 'patchVirtualMachine', patches: [notes] };
  return execute(
    'create',
    ...(isNotedFirst ? [[`Note that ${name} is being made, where, and with which class`, note] as const] : []),
    ...copies,
    [`Make VM ${name} from ${describeSource(source)}${describeWithout(context, source, at)}`, create],
  );
}

/** Not every possible cause has an event: a Secret, a datastore. */
const recheckAt = ({ settings, nowMs }: Context): number => nowMs + settings.pollMs;

type Place = { kind: 'placed'; at: PlacedAt } | { kind: 'unplaced' | 'ungrouped'; message: string };

/** A member of a group goes where its group was placed; any other where there is room. */
export function judgePlacement({
  desired,
  observed,
  settings,
}: Pick<Context, 'desired' | 'observed' | 'settings'>): Place {
  const { group, placement } = observed;
  if (settings.groups && group?.unknownKind !== true && desired.group !== null && desired.zone === null) {
    if (group === null || !group.found)
      return { kind: 'ungrouped', message: `VirtualMachineGroup ${desired.group}, which does not exist` };
    if (!group.linked) return { kind: 'ungrouped', message: `VirtualMachineGroup ${desired.group} to list it` };
    if (group.placement === null)
      return {
        kind: 'ungrouped',
        message: `VirtualMachineGroup ${desired.group} to place it, as the controller of groups does. Where that does not run: give the VM the label ${virtualMachineLabels.zone}, or set virtualMachine.groups: false`,
      };
    return { kind: 'placed', at: group.placement };
  }
  return placement.kind === 'placed' ? placement : { kind: 'unplaced', message: placement.message };
}

/** Whether fast deploy is on for this VM, and how. */
export function fastDeployOf(context: Context): 'direct' | 'linked' | null {
  const { desired, observed, settings } = context;
  if (settings.fastDeploy === null) return null;
  const { class: classFacts, storageClass } = observed.prerequisites;
  const found = classFacts?.kind === 'found' ? classFacts.value : null;
  // A linked disk needs its image's cache as long as it lives: that is for a user to ask for.
  const fastDeploy = desired.fastDeploy ?? (settings.fastDeploy === 'auto' ? 'direct' : settings.fastDeploy);
  const hasInstanceStorage =
    desired.instanceStorage !== undefined || (found !== null && found.instanceStorage !== null);
  if ((fastDeploy !== 'direct' && fastDeploy !== 'linked') || hasInstanceStorage) return null;
  if (isAuto(context) && judgeCache(context, placeIn(context)) !== null) return null;
  const isEncrypted = storageClass?.kind === 'found' && storageClass.value.encrypted;
  // The disk of a linked VM has only what is written, whatever its spec says.
  const isThick = !['thin', null].includes(desired.config.provisioning);
  return isEncrypted || isThick || found?.passthrough === true ? 'direct' : fastDeploy;
}

const placeIn = (context: Context): PlacedAt | null => {
  const place = judgePlacement(context);
  return place.kind === 'placed' ? place.at : null;
};

/** Where nothing caches images at all, there is nothing to say. */
function describeWithout(context: Context, source: CreateSource, at: PlacedAt): string {
  if (!isAuto(context) || context.desired.imageCacheAskedAt === null || source.kind === 'cachedDisks') return '';
  const why = judgeCache(context, at);
  return why === null ? '' : `, as ${why}`;
}

/** Where the disks come from. */
export function chooseSource(
  context: Context,
): Exclude<CreateSource, { kind: 'cachedDisks' }> | ChosenCache | { problem: string } {
  const image = found(context.observed.prerequisites.image);
  const itemId = image?.providerItemId ?? null;
  if (image === null || itemId === null) return { problem: 'There is no image to make it from' };
  const mode = fastDeployOf(context);
  const isTemplate = itemId.startsWith('vm-');
  const tooLarge = mode === 'linked' ? largerThanParent(context, image) : null;
  if (tooLarge !== null) return { problem: tooLarge };
  if (mode !== null && image.type !== 'ISO') return { kind: 'cachedDisks', itemId, mode };
  if (isTemplate) return { kind: 'template', moId: itemId };
  if (image.type === 'ISO') return { kind: 'nothing' };
  if (image.type === 'OVF' || image.type === null) return { kind: 'contentLibraryItem', itemId };
  return { problem: `An item of type ${image.type} cannot be deployed; OVF, OVA and ISO can` };
}

/** vSphere extends no disk that has a parent: the VM would be made, and never be as its spec wants it. */
function largerThanParent(
  { desired }: Pick<Context, 'desired'>,
  { name, type, hardware }: ObservedImage,
): string | null {
  const wanted = desired.config.bootDiskBytes;
  const capacity = hardware.disks[0]?.capacityBytes ?? null;
  if (type === 'ISO' || wanted === null || capacity === null || wanted <= capacity) return null;
  return `spec.advanced.bootDiskCapacity is larger than the boot disk of image ${name} (${capacity} bytes), and a linked disk cannot be extended. Annotate it with ${virtualMachineAnnotations.fastDeploy}: direct`;
}

const found = (image: Fetched<ObservedImage> | null): ObservedImage | null =>
  image?.kind === 'found' ? image.value : null;

const describeSource = (source: CreateSource): string => {
  switch (source.kind) {
    case 'contentLibraryItem':
      return `item ${source.itemId}`;
    case 'template':
      return `template ${source.moId}`;
    case 'cachedDisks':
      return `cached disks of ${source.itemId} (${source.mode})`;
    case 'nothing':
      return 'its ISO';
  }
};

/** Owner and instance UUID are in the call itself: whatever becomes of the answer, the VM can be found again. */
function createSpec(context: Context, source: CreateSource, at: PlacedAt): CreateSpec {
  const { desired, observed } = context;
  const { class: classFacts, image, network, isos, storageClass } = observed.prerequisites;
  const profileId = storageClass?.kind === 'found' ? storageClass.value.profileId : '';
  const applied = classFacts?.kind === 'found' ? classFacts.value : null;
  // A clone has the hardware of its template.
  const hardwareVersion = source.kind === 'template' ? null : hardwareVersionFor(applied, found(image));
  // NUMA nodes and the order to boot in need what vCenter makes of the call: they are set before the first start.
  const { bootOptions, bootDiskBytes, provisioning, coresPerSocket, ...rest } = desired.config;
  const { minHardwareVersion: _, extraConfig: __, vnumaNodeCount: ___, bootOrder: ____, ...set } = rest;
  const cards = desired.networkDisabled ? [] : desired.networkCards;
  const { extraConfig: policyNote = [], ...policyTags } = diffPolicyTags(judgePolicies(context, null), {});
  const config: ReconfigSpec = {
    ...wantCompute(desired.size, applied, { cpuMHz: at.cpuMHz, current: null }),
    ...Object.fromEntries(Object.entries(set).filter(([, value]) => value !== null)),
    ...bootOptions,
    ...(coresPerSocket !== null && { numCoresPerSocket: coresPerSocket }),
    annotation: defaultVmAnnotation,
    managedBy,
    ...policyTags,
    extraConfig: [
      ...policyNote,
      ...Object.entries(wantExtraConfig(desired, applied, {})).flatMap(([key, value]) =>
        value === '' ? [] : [{ key, value }],
      ),
    ],
    deviceChange: [
      ...cards.map(({ name, type, macAddress }) => ({
        operation: 'add' as const,
        device: 'networkCard' as const,
        card: {
          key: null,
          type,
          macAddress,
          backing: network?.interfaces.find((one) => one.name === name)?.backing ?? '',
        },
      })),
      ...desired.cdroms.flatMap(({ name, connected, allowGuestControl, slot = null }) => {
        const iso = isos[name] ?? null;
        // Its controller may come with the first change.
        return iso === null || slot !== null
          ? []
          : [
              {
                operation: 'add' as const,
                device: 'cdrom' as const,
                cdrom: { key: null, iso, connected, allowGuestControl },
              },
            ];
      }),
      ...(applied?.devices ?? []).map(addPciDevice),
    ],
  };
  return {
    name: desired.name,
    instanceUuid: desired.instanceUuid ?? desired.uid,
    uuid: desired.biosUuid ?? desired.uid,
    source,
    at,
    ...(observed.managerId !== '' && { managerId: observed.managerId }),
    bootDiskBytes,
    config,
    ...(isProfileId(profileId) && { storageProfileId: profileId }),
    ...(provisioning !== null && { provisioning }),
    ...(hardwareVersion !== null && { hardwareVersion }),
    classConfigSpec: applied?.configSpec ?? {},
  };
}
