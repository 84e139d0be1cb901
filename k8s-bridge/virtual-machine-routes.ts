import { kindTable } from '../contracts/kinds/table.ts';
import { retryHandledAnnotation } from '../contracts/eviction/annotations.ts';
import { annotations } from '../contracts/ids.ts';
import { virtualMachineConditions } from '../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations as marks, virtualMachineLabels } from '../contracts/virtual-machine/marks.ts';
import type { KubeObject } from './kube-object.ts';
import { isOwn } from './owned-fields.ts';
import { conditionsOf, nameOf, ownRoute, type Reference, type Route, type WatchedFields } from './route.ts';

/** Switches of the lifecycle: what a VM never waits for is not watched. */
export interface VirtualMachineRouteSettings {
  /** Where VirtualMachineImageCaches are; null: fast deploy is off. */
  imageCacheNamespace: string | null;
  groups: boolean;
}

const { apiVersion } = kindTable.VirtualMachine;

/** drover's own notes, under its own prefix. */
const notes: readonly string[] = [marks.creating, marks.copies, retryHandledAnnotation];
const readAnnotations: readonly string[] = [
  marks.paused,
  marks.skipDelete,
  marks.applyPowerStateTime,
  marks.fastDeploy,
  marks.sameClassResize,
  marks.forceBackup,
  marks.clusterModuleGroup,
  marks.snapshotRevertInProgress,
];
const prefixes = [marks.powerOnCheckPrefix, marks.deleteCheckPrefix, marks.conditionPrefix];

/** A VirtualMachine concerns the run that drives it. */
export const virtualMachineRoute = ({ imageCacheNamespace }: VirtualMachineRouteSettings): Route => ({
  ...ownRoute('VirtualMachine'),
  // What it names, and what has become of its VM in vCenter, is not in it.
  partial: true,
  watchesLabel: (key) => (virtualMachineLabels.clusterRoles as readonly string[]).includes(key),
  watchesAnnotation: (key) =>
    readAnnotations.includes(key) ||
    prefixes.some((prefix) => key.startsWith(prefix)) ||
    (key.startsWith('drover.dev/') && !notes.includes(key)),
  retryHandled: retryHandledAnnotation,
  names: (object) => [
    ...namesOf(object),
    ...(imageCacheNamespace === null ? [] : cachesOf(object, imageCacheNamespace)),
  ],
  fields: volumeFields,
  condition: ({ metadata }, mode) =>
    mode === 'observe' || !['act', undefined].includes(metadata.annotations?.[annotations.mode])
      ? virtualMachineConditions.observed
      : virtualMachineConditions.lifecycle,
});

/** An object may hold anything. */
interface AnySpec {
  className?: unknown;
  imageName?: unknown;
  image?: { kind?: unknown; name?: unknown } | null;
  groupName?: unknown;
  reserved?: { resourcePolicyName?: unknown } | null;
  hardware?: { cdrom?: unknown } | null;
}

function namesOf({ metadata, spec }: KubeObject): string[] {
  const { className, imageName, image, groupName, reserved, hardware } = (spec ?? {}) as AnySpec;
  const { namespace = '' } = metadata;
  const here = (name: string): string => `${namespace}/${name}`;
  const drives = Array.isArray(hardware?.cdrom) ? (hardware.cdrom as ({ image?: AnySpec['image'] } | null)[]) : [];
  const images = [image, ...drives.map((drive) => drive?.image), { kind: 'VirtualMachineImage', name: imageName }];
  return [
    ...(typeof className === 'string' ? [nameOf('VirtualMachineClass', here(className))] : []),
    ...images.flatMap((named) => {
      if (typeof named?.name !== 'string') return [];
      if (named.kind === 'ClusterVirtualMachineImage') return [nameOf(named.kind, named.name)];
      return named.kind === 'VirtualMachineImage' ? [nameOf(named.kind, here(named.name))] : [];
    }),
    ...(typeof reserved?.resourcePolicyName === 'string'
      ? [nameOf('VirtualMachineSetResourcePolicy', here(reserved.resourcePolicyName))]
      : []),
    ...(typeof groupName === 'string' ? [nameOf('VirtualMachineGroup', here(groupName))] : []),
  ];
}

/** The one that it waits for. */
function cachesOf({ metadata: { labels = {} } }: KubeObject, namespace: string): string[] {
  const cache = labels[virtualMachineLabels.imageCache];
  return cache === undefined ? [] : [nameOf('VirtualMachineImageCache', `${namespace}/${cache}`)];
}

/** Volumes are attached by another controller, which says so in the status; a VM is not powered on without them. */
function volumeFields(object: KubeObject): WatchedFields {
  const { volumes } = (object['status'] ?? {}) as { volumes?: unknown };
  if (!Array.isArray(volumes)) return {};
  const rows = (volumes as ({ name?: unknown; type?: unknown; attached?: unknown } | null)[]).flatMap((volume) => {
    const { name, type = 'Managed', attached } = volume ?? {};
    if (typeof name !== 'string') return [];
    const own = isOwn(object, ['f:status', 'f:volumes', `k:${JSON.stringify({ name, type })}`, 'f:attached']);
    return [[`status.volumes.${name}`, { value: attached === true, own }] as const];
  });
  return Object.fromEntries(rows);
}

const generationOf = ({ metadata }: KubeObject): number => metadata.generation;
const conditionsIn = (object: KubeObject): unknown[] =>
  conditionsOf(object).map(({ type, status, reason }) => [type, status, reason]);
const statusOf = ({ status }: KubeObject): Record<string, unknown> => (status ?? {}) as Record<string, unknown>;

const named = { apiVersion, drives: 'VirtualMachine' } as const;
/** Needed while its VM is made. */
const image = {
  ...named,
  concerns: 'unsettled',
  matter: (object: KubeObject) =>
    JSON.stringify([conditionsIn(object), statusOf(object)['providerItemID'], statusOf(object)['type']]),
} as const;

/** What VirtualMachines name, and wait for. Secrets, StorageClasses and the vCenter are looked at by the runs that wait: to watch all Secrets would be to read them. */
export function virtualMachineReferences({
  imageCacheNamespace,
  groups,
}: VirtualMachineRouteSettings): readonly Reference[] {
  const always: Reference[] = [
    {
      ...named,
      kind: 'VirtualMachineClass',
      plural: 'virtualmachineclasses',
      concerns: 'all',
      matter: (object) => String(generationOf(object)),
    },
    { ...image, kind: 'VirtualMachineImage', plural: 'virtualmachineimages' },
    { ...image, kind: 'ClusterVirtualMachineImage', plural: 'clustervirtualmachineimages' },
    {
      ...named,
      kind: 'VirtualMachineSetResourcePolicy',
      plural: 'virtualmachinesetresourcepolicies',
      concerns: 'unsettled',
      matter: (object) =>
        JSON.stringify([
          generationOf(object),
          object.metadata.deletionTimestamp !== undefined,
          statusOf(object)['clustermodules'],
          statusOf(object)['resourcePools'],
        ]),
    },
  ];
  const caches = (namespace: string): Reference => ({
    ...named,
    kind: 'VirtualMachineImageCache',
    plural: 'virtualmachineimagecaches',
    namespace,
    concerns: 'unsettled',
    matter: (object) => JSON.stringify([conditionsIn(object), statusOf(object)['locations']]),
  });
  const group: Reference = {
    ...named,
    kind: 'VirtualMachineGroup',
    plural: 'virtualmachinegroups',
    concerns: 'all',
    matter: (object) => JSON.stringify([generationOf(object), statusOf(object)['members']]),
  };
  return [
    ...always,
    ...(imageCacheNamespace === null ? [] : [caches(imageCacheNamespace)]),
    ...(groups ? [group] : []),
  ];
}
