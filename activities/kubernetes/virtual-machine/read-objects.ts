import { createHash } from 'node:crypto';

import { findCondition } from '../../../contracts/conditions.ts';
import { type AnyImage, anyImageSchema } from '../../../contracts/crds/virtual-machine-image.ts';
import type { VirtualMachine } from '../../../contracts/crds/virtual-machine.ts';
import type { ObservedObjects } from '../../../contracts/virtual-machine/activities.ts';
import type { DesiredVirtualMachine, VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import { drivesOf } from '../../../contracts/virtual-machine/older-versions.ts';
import type { Fetched, ObservedImageCache, ObservedImage } from '../../../contracts/virtual-machine/observation.ts';
import { lackOfImage } from '../../../contracts/virtual-machine/image-readiness.ts';
import { readClass, readImage, readPolicy } from '../../../contracts/virtual-machine/read-prerequisites.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { fetchObject } from '../lib/fetch-object.ts';
import { type BootstrapTools, readBootstrapFacts } from './read-bootstrap.ts';
import { readGroup } from './read-group.ts';
import { readPolicies } from './read-policies.ts';
import { readVolumes } from './read-volumes.ts';
import { type ImageCache, imageCaches, storageClasses } from './schemas.ts';

interface ReadTools extends BootstrapTools {
  settings: Pick<VirtualMachineSettings, 'fastDeploy' | 'groups'>;
  imageCacheNamespace: string;
  signal: AbortSignal;
}

/**
 * What a VirtualMachine names in Kubernetes, read at once. What cannot be read is reported as such, and is no failure.
 */
export async function readVirtualMachineObjects(
  tools: ReadTools,
  object: VirtualMachine,
  desired: DesiredVirtualMachine,
): Promise<ObservedObjects> {
  const { client, settings, signal } = tools;
  const { namespace, className, storageClass, resourcePolicy, group } = desired;
  const instanceClass = desired.volumes.find(({ instance }) => instance !== undefined)?.instance?.storageClass;
  const image = fetchImage(tools, namespace, desired.image, desired.policies !== undefined);
  const [ofClass, found, policy, storage, instance, bootstrap, isos, cache, placed, volumes, policies] =
    await Promise.all([
      className === null ? null : fetchClass(tools, namespace, className),
      image,
      resourcePolicy === null ? null : fetchResourcePolicy(tools, namespace, resourcePolicy),
      storageClass === null ? null : fetchStorageClass(tools, storageClass),
      instanceClass === undefined ? null : fetchStorageClass(tools, instanceClass),
      readBootstrapFacts(tools, object, signal),
      readIsos(tools, object, namespace),
      image.then((named) => readCache(tools, object, desired, named)),
      group === null || !settings.groups ? null : readGroup(client, { namespace, name: group }, desired.name, signal),
      readVolumes(tools, object, desired),
      readPolicies(client, desired, signal),
    ]);
  return {
    class: ofClass,
    image: found,
    resourcePolicy: policy,
    storageClass: storage,
    ...(instance !== null && { instanceStorageClass: instance }),
    bootstrap,
    ...isos,
    networks: (object.spec?.network?.interfaces ?? []).map(({ name, network }) => ({
      name,
      network: network?.name || null,
    })),
    imageCache: cache,
    group: placed,
    snapshots: { inProgress: null, problem: null },
    volumes,
    ...(policies !== undefined && { policies }),
  };
}

/** Of a core, until it is known where the VM goes. */
const thousandths = 1_000;

const fetchClass = ({ client, signal }: ReadTools, namespace: string, name: string) =>
  fetchObject(
    `VirtualMachineClass ${name}`,
    signal,
    () => client.get(resources.VirtualMachineClass, { namespace, name }, signal),
    (found) => readClass(found, thousandths),
  );

const fetchResourcePolicy = ({ client, signal }: ReadTools, namespace: string, name: string) =>
  fetchObject(
    `VirtualMachineSetResourcePolicy ${name}`,
    signal,
    () => client.get(resources.VirtualMachineSetResourcePolicy, { namespace, name }, signal),
    (found) => ({ kind: 'found', value: readPolicy(found) }),
  );

const isImageKind = (kind: string): kind is AnyImage['kind'] =>
  kind === 'VirtualMachineImage' || kind === 'ClusterVirtualMachineImage';

/** Null: it names none, or something that is no image. */
async function fetchImage(
  { client, signal }: ReadTools,
  namespace: string,
  named: DesiredVirtualMachine['image'],
  withLabels = false,
): Promise<Fetched<ObservedImage> | null> {
  if (named === null || !isImageKind(named.kind)) return null;
  const { kind, name } = named;
  const key = kind === 'VirtualMachineImage' ? { namespace, name } : { name };
  return fetchObject(
    `${kind} ${name}`,
    signal,
    () => client.get({ ...resources[kind], schema: anyImageSchema }, key, signal),
    (found) => ({
      kind: 'found',
      value: { ...readImage(found, cacheNameOf(found)), ...(withLabels && { labels: found.metadata.labels ?? {} }) },
    }),
  );
}

const cacheNameOf = ({ status }: AnyImage): string => imageCacheName(status?.providerItemID ?? '');

/** Name of the VirtualMachineImageCache of an item. */
export const imageCacheName = (itemId: string): string =>
  `vmi-${createHash('sha1').update(itemId.replaceAll('-', '')).digest('hex').slice(0, 17)}`;

/** vm-operator's parameter; kube-apiserver keeps its case. */
const policyParameter = 'storagePolicyID';

const fetchStorageClass = ({ client, signal }: ReadTools, name: string): Promise<Fetched<{ profileId: string }>> =>
  fetchObject(
    `StorageClass ${name}`,
    signal,
    () => client.get(storageClasses, { name }, signal),
    ({ parameters }) => readStorageClass(name, parameters ?? {}),
  );

function readStorageClass(name: string, parameters: Readonly<Record<string, string>>): Fetched<{ profileId: string }> {
  const profileId = parameters[policyParameter];
  return profileId === undefined || profileId === ''
    ? {
        kind: 'invalid',
        message: `StorageClass ${name} names no storage policy: it has no parameter ${policyParameter}`,
      }
    : { kind: 'found', value: { profileId } };
}

async function readIsos(
  tools: ReadTools,
  { spec }: VirtualMachine,
  namespace: string,
): Promise<Pick<ObservedObjects, 'isos' | 'lackingIsos'>> {
  const rows = await Promise.all(
    drivesOf(spec).map(async ({ name, image }) => {
      const fetched = await fetchImage(tools, namespace, image);
      const lacking = lackOfImage(image, fetched);
      return {
        name,
        lacking,
        item: lacking === null && fetched?.kind === 'found' ? fetched.value.providerItemId : null,
      };
    }),
  );
  const lackingIsos = rows.flatMap(({ name, lacking }) => (lacking === null ? [] : [[name, lacking] as const]));
  return {
    isos: Object.fromEntries(rows.map(({ name, item }) => [name, item])),
    ...(lackingIsos.length > 0 && { lackingIsos: Object.fromEntries(lackingIsos) }),
  };
}

/** The one that the VM waits for, else the one of its image. Null: fast deploy is off, or the image is not known. */
async function readCache(
  { client, settings, imageCacheNamespace: namespace, signal }: ReadTools,
  { status }: VirtualMachine,
  { imageCache, fastDeploy }: DesiredVirtualMachine,
  image: Fetched<ObservedImage> | null,
): Promise<Fetched<ObservedImageCache> | null> {
  if (settings.fastDeploy === null) return null;
  // No user asks for cached files, and it is made already.
  const isMade = (status?.uniqueID ?? '') !== '';
  if (settings.fastDeploy === 'auto' && fastDeploy === null && imageCache.name === null && isMade) return null;
  const name =
    imageCache.name ?? (image?.kind === 'found' && image.value.providerItemId !== null ? image.value.cacheName : null);
  if (name === null) return null;
  return fetchObject(
    `VirtualMachineImageCache ${name}`,
    signal,
    () => client.get(imageCaches, { namespace, name }, signal),
    (found) => ({ kind: 'found', value: readImageCache(found) }),
  );
}

function readImageCache({ metadata, status }: ImageCache): ObservedImageCache {
  const isSilent = (status?.conditions ?? []).length === 0 && (status?.locations ?? []).length === 0;
  const sinceMs = Date.parse(metadata.creationTimestamp ?? '');
  return {
    silentSinceMs: isSilent && Number.isFinite(sinceMs) ? sinceMs : null,
    hardwareReady: findCondition(status?.conditions, 'VirtualMachineImageCacheHardwareReady')?.status === 'True',
    locations: (status?.locations ?? []).map(({ datacenterID, datastoreID, profileID, conditions, files = [] }) => {
      const ready = findCondition(conditions, 'Ready');
      return {
        datacenterId: datacenterID,
        datastoreId: datastoreID,
        profileId: profileID,
        ready: ready === undefined || ready.status === 'Unknown' ? null : ready.status === 'True',
        message: ready?.message ?? '',
        files: files.map(({ id, type, diskType }) => ({
          path: id,
          kind: type === 'Other' ? 'other' : diskType === 'Managed' ? 'managedDisk' : 'disk',
        })),
      };
    }),
  };
}
