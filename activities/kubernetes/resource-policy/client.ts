import { z } from 'zod';

import {
  virtualMachineSetResourcePolicySchema,
  type VirtualMachineSetResourcePolicy,
} from '../../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { fieldManager } from '../../../contracts/ids.ts';
import { checkAnswer } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import type { EventClient } from '../lib/write-event.ts';
import { createObjectRequests } from '../lib/object-requests.ts';
import type { NamespacedName, NamespacedVersion } from '../virtual-machine/client.ts';

/** A merge patch: null takes away. */
export interface PolicyMetadataChange {
  annotations?: Record<string, string | null>;
  finalizers?: string[];
}

/** kube-apiserver, as far as resource policies need it. Failures as VirtualMachineClient has them. */
export interface ResourcePolicyClient extends EventClient {
  get(key: NamespacedName, signal: AbortSignal): Promise<VirtualMachineSetResourcePolicy | null>;
  /** All of a namespace. */
  list(namespace: string, signal: AbortSignal): Promise<VirtualMachineSetResourcePolicy[]>;
  /** Names of the VirtualMachines that name a policy, by that policy. */
  listUsers(namespace: string, signal: AbortSignal): Promise<{ name: string; policy: string }[]>;
  /** The object then. */
  patch(
    version: NamespacedVersion,
    change: PolicyMetadataChange,
    signal: AbortSignal,
  ): Promise<VirtualMachineSetResourcePolicy>;
  patchStatus(
    version: NamespacedVersion,
    status: NonNullable<VirtualMachineSetResourcePolicy['status']>,
    signal: AbortSignal,
  ): Promise<VirtualMachineSetResourcePolicy>;
}

const group = 'vmoperator.vmware.com/v1alpha6';
const kind = 'VirtualMachineSetResourcePolicy';
const plural = 'virtualmachinesetresourcepolicies';
const pathOf = ({ namespace, name }: NamespacedName, subresource?: string): string =>
  resourcePath(group, plural, { namespace, name, ...(subresource !== undefined && { subresource }) });

/** A VirtualMachine may hold anything: one that drover cannot read names a policy all the same. */
const user = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z
    .object({ reserved: z.object({ resourcePolicyName: z.string().catch('') }).catch({ resourcePolicyName: '' }) })
    .catch({ reserved: { resourcePolicyName: '' } }),
});

export function createResourcePolicyClient(kubernetes: Kubernetes): ResourcePolicyClient {
  const { read, readOrNull, list } = createObjectRequests(kubernetes);
  const patch = { method: 'PATCH', patchType: 'merge', query: { fieldManager } } as const;
  return {
    get: (key, signal) => readOrNull(virtualMachineSetResourcePolicySchema, pathOf(key), signal),

    async list(namespace, signal) {
      const items = await list(resourcePath(group, plural, { namespace }), {}, signal);
      // Items of a list do not say what they are.
      return items.map((item) =>
        checkAnswer(
          virtualMachineSetResourcePolicySchema,
          { ...(item as object), apiVersion: group, kind },
          `LIST ${kind}`,
        ),
      );
    },

    async listUsers(namespace, signal) {
      const items = await list(resourcePath(group, 'virtualmachines', { namespace }), {}, signal);
      return items
        .map((item) => checkAnswer(user, item, 'LIST VirtualMachine'))
        .map(({ metadata: { name }, spec: { reserved } }) => ({ name, policy: reserved.resourcePolicyName }));
    },

    patch: ({ uid, resourceVersion, ...key }, metadata, signal) =>
      read(
        virtualMachineSetResourcePolicySchema,
        { ...patch, path: pathOf(key), body: { metadata: { ...metadata, uid, resourceVersion } } },
        signal,
      ),

    patchStatus: ({ uid, resourceVersion, ...key }, status, signal) =>
      read(
        virtualMachineSetResourcePolicySchema,
        { ...patch, path: pathOf(key, 'status'), body: { metadata: { uid, resourceVersion }, status } },
        signal,
      ),

    create: openObjects(kubernetes).create,
  };
}
