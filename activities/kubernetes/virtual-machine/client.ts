import type { z } from 'zod';

import type { VirtualMachineClass } from '../../../contracts/crds/virtual-machine-class.ts';
import { virtualMachineClassSchema } from '../../../contracts/crds/virtual-machine-class.ts';
import type { ClusterVirtualMachineImage, VirtualMachineImage } from '../../../contracts/crds/virtual-machine-image.ts';
import {
  clusterVirtualMachineImageSchema,
  virtualMachineImageSchema,
} from '../../../contracts/crds/virtual-machine-image.ts';
import type { VirtualMachineSetResourcePolicy } from '../../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { virtualMachineSetResourcePolicySchema } from '../../../contracts/crds/virtual-machine-set-resource-policy.ts';
import type { VirtualMachine, VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import { virtualMachineSchema } from '../../../contracts/crds/virtual-machine.ts';
import { fieldManager } from '../../../contracts/ids.ts';
import { isAlreadyExists } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import type { EventClient } from '../lib/write-event.ts';
import { createObjectRequests } from '../lib/object-requests.ts';
import type { Group, ImageCache, WholeVirtualMachine } from './schemas.ts';
import {
  claimSchema,
  groupSchema,
  imageCacheSchema,
  secretSchema,
  storageClassSchema,
  wholeVirtualMachineSchema,
} from './schemas.ts';

export interface NamespacedName {
  namespace: string;
  name: string;
}

/** The version of an object that was read; a write on another one, or on another object of that name, is refused with ObjectConflict. */
export type NamespacedVersion = NamespacedName & { uid: string; resourceVersion: string };

/** A merge patch: null takes away. */
export interface VirtualMachineChange {
  metadata?: {
    labels?: Record<string, string | null>;
    annotations?: Record<string, string | null>;
    finalizers?: string[];
  };
  spec?: Record<string, unknown>;
}

/** Fields of the status as a merge patch says them. */
export type StatusChange = Record<string, unknown> & { conditions?: VirtualMachineStatus['conditions'] };

export type AnyImage = VirtualMachineImage | ClusterVirtualMachineImage;
export type ImageKind = AnyImage['kind'];

/**
 * kube-apiserver, as far as the lifecycle of a virtual machine needs it. Every answer is checked against its schema, and an object that does
 * not fit is a failure that names the field. Failures are rows of contracts/errors.ts; what is not there is null. Nothing is tried again here.
 */
export interface VirtualMachineClient extends EventClient {
  getVirtualMachine(key: NamespacedName, signal: AbortSignal): Promise<VirtualMachine | null>;
  /** With what drover knows nothing of. */
  getWholeVirtualMachine(key: NamespacedName, signal: AbortSignal): Promise<WholeVirtualMachine | null>;
  patchVirtualMachine(
    version: NamespacedVersion,
    change: VirtualMachineChange,
    signal: AbortSignal,
  ): Promise<VirtualMachine>;
  patchVirtualMachineStatus(
    version: NamespacedVersion,
    change: StatusChange,
    signal: AbortSignal,
  ): Promise<VirtualMachine>;
  getClass(key: NamespacedName, signal: AbortSignal): Promise<VirtualMachineClass | null>;
  /** The namespace counts for a VirtualMachineImage only. */
  getImage(kind: ImageKind, key: NamespacedName, signal: AbortSignal): Promise<AnyImage | null>;
  getPolicy(key: NamespacedName, signal: AbortSignal): Promise<VirtualMachineSetResourcePolicy | null>;
  /** Its parameters. */
  getStorageClass(name: string, signal: AbortSignal): Promise<Record<string, string> | null>;
  /** Its data, decoded, and the version that has them. */
  getSecret(
    key: NamespacedName,
    signal: AbortSignal,
  ): Promise<{ resourceVersion: string; data: Record<string, Buffer> } | null>;
  /** Access modes of a PersistentVolumeClaim. */
  getClaim(key: NamespacedName, signal: AbortSignal): Promise<string[] | null>;
  getGroup(key: NamespacedName, signal: AbortSignal): Promise<Group | null>;
  getImageCache(key: NamespacedName, signal: AbortSignal): Promise<ImageCache | null>;
  /** False when there is one of that name. */
  createImageCache(key: NamespacedName, spec: ImageCache['spec'], signal: AbortSignal): Promise<boolean>;
  /** All of its locations: what is left out is taken away. */
  patchImageCache(version: NamespacedVersion, spec: ImageCache['spec'], signal: AbortSignal): Promise<void>;
}

const group = 'vmoperator.vmware.com/v1alpha6';
const plurals = {
  VirtualMachineImage: 'virtualmachineimages',
  ClusterVirtualMachineImage: 'clustervirtualmachineimages',
} as const satisfies Record<ImageKind, string>;
const vmPath = (key: NamespacedName, subresource?: string): string =>
  resourcePath(group, 'virtualmachines', {
    namespace: key.namespace,
    name: key.name,
    ...(subresource !== undefined && { subresource }),
  });
const cachePath = ({ namespace, name }: NamespacedName): string =>
  resourcePath(group, 'virtualmachineimagecaches', { namespace, name });

export function createVirtualMachineClient(kubernetes: Kubernetes): VirtualMachineClient {
  const { read, readOrNull } = createObjectRequests(kubernetes);
  const patch = { method: 'PATCH', patchType: 'merge', query: { fieldManager } } as const;

  const get =
    <Schema extends z.ZodType>(schema: Schema, plural: string) =>
    ({ namespace, name }: NamespacedName, signal: AbortSignal): Promise<z.output<Schema> | null> =>
      readOrNull(schema, resourcePath(group, plural, { namespace, name }), signal);

  return {
    getVirtualMachine: get(virtualMachineSchema, 'virtualmachines'),

    getWholeVirtualMachine: get(wholeVirtualMachineSchema, 'virtualmachines'),

    patchVirtualMachine: ({ uid, resourceVersion, ...key }, { metadata, spec }, signal) =>
      read(
        virtualMachineSchema,
        {
          ...patch,
          path: vmPath(key),
          body: { metadata: { ...metadata, uid, resourceVersion }, ...(spec && { spec }) },
        },
        signal,
      ),

    patchVirtualMachineStatus: ({ uid, resourceVersion, ...key }, status, signal) =>
      read(
        virtualMachineSchema,
        { ...patch, path: vmPath(key, 'status'), body: { metadata: { uid, resourceVersion }, status } },
        signal,
      ),

    getClass: get(virtualMachineClassSchema, 'virtualmachineclasses'),

    getImage: (kind, { namespace, name }, signal) =>
      kind === 'VirtualMachineImage'
        ? readOrNull(virtualMachineImageSchema, resourcePath(group, plurals[kind], { namespace, name }), signal)
        : readOrNull(clusterVirtualMachineImageSchema, resourcePath(group, plurals[kind], { name }), signal),

    getPolicy: get(virtualMachineSetResourcePolicySchema, 'virtualmachinesetresourcepolicies'),

    async getStorageClass(name, signal) {
      const found = await readOrNull(
        storageClassSchema,
        resourcePath('storage.k8s.io/v1', 'storageclasses', { name }),
        signal,
      );
      return found === null ? null : (found.parameters ?? {});
    },

    async getSecret({ namespace, name }, signal) {
      const found = await readOrNull(secretSchema, resourcePath('v1', 'secrets', { namespace, name }), signal);
      if (found === null) return null;
      const data = Object.entries(found.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
      return { resourceVersion: found.metadata.resourceVersion, data: Object.fromEntries(data) };
    },

    async getClaim({ namespace, name }, signal) {
      const found = await readOrNull(
        claimSchema,
        resourcePath('v1', 'persistentvolumeclaims', { namespace, name }),
        signal,
      );
      return found === null ? null : (found.spec?.accessModes ?? []);
    },

    getGroup: get(groupSchema, 'virtualmachinegroups'),

    getImageCache: get(imageCacheSchema, 'virtualmachineimagecaches'),

    async createImageCache({ namespace, name }, spec, signal) {
      const body = { apiVersion: group, kind: 'VirtualMachineImageCache', metadata: { namespace, name }, spec };
      try {
        await kubernetes.request(
          {
            method: 'POST',
            path: resourcePath(group, 'virtualmachineimagecaches', { namespace }),
            query: { fieldManager },
            body,
          },
          signal,
        );
        return true;
      } catch (error) {
        if (isAlreadyExists(error)) return false;
        throw error;
      }
    },

    async patchImageCache({ uid, resourceVersion, ...key }, spec, signal) {
      await kubernetes.request(
        { ...patch, path: cachePath(key), body: { metadata: { uid, resourceVersion }, spec } },
        signal,
      );
    },

    ...openObjects(kubernetes),
  };
}
