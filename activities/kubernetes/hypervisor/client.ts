import { z } from 'zod';

import { evictionSchema } from '../../../contracts/crds/eviction.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { hypervisorSchema } from '../../../contracts/crds/hypervisor.ts';
import type { Hypervisor, HypervisorStatus } from '../../../contracts/crds/hypervisor.ts';
import type { HypervisorSpec, NewHypervisor } from '../../../contracts/hypervisor/hypervisor.ts';
import { fieldManager } from '../../../contracts/ids.ts';
import { checkAnswer, isAlreadyExists, isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { podSchema } from './agent-pods.ts';
import type { Pod } from './agent-pods.ts';
import type { NewEviction, Version } from '../eviction/client.ts';
import { createEvent } from '../lib/create-event.ts';
import type { NewEvent } from '../lib/create-event.ts';
import { createDrainGuardCalls } from './drain-guard-calls.ts';
import type { DrainGuardCalls } from './drain-guard-calls.ts';
import { nodeSchema } from './node-schema.ts';
import type { Node, Taint } from './node-schema.ts';
import { createObjectRequests } from '../lib/object-requests.ts';

const ownerSchema = z.looseObject({ kind: z.string(), uid: z.string(), controller: z.boolean().optional() });
const ownedSchema = z.object({ metadata: z.object({ ownerReferences: z.array(ownerSchema).optional() }) });
const ofHostSchema = z.object({ spec: z.object({ hypervisor: z.string() }) });

/** An owner reference is written back as it came. */
export type Owner = z.output<typeof ownerSchema>;

/** An object and who owns it. */
export interface Owned<Kind> {
  object: Kind;
  owners: Owner[];
}

/** A merge patch: null takes away. */
export interface HypervisorChange {
  metadata?: {
    labels?: Record<string, string | null>;
    annotations?: Record<string, string | null>;
    ownerReferences?: Owner[] | null;
  };
  spec?: Partial<HypervisorSpec>;
}

/**
 * kube-apiserver, as far as the lifecycle of a hypervisor needs it. Every answer is checked against its schema, and an object that does not
 * fit is a failure that names the field. Failures are rows of contracts/errors.ts; what is not there is null. Nothing is tried again here.
 */
export interface HypervisorClient extends DrainGuardCalls {
  getHypervisor(name: string, signal: AbortSignal): Promise<Owned<Hypervisor> | null>;
  /** False when there is one of that name. */
  createHypervisor(hypervisor: NewHypervisor, signal: AbortSignal): Promise<boolean>;
  patchHypervisor(version: Version, change: HypervisorChange, signal: AbortSignal): Promise<Owned<Hypervisor>>;
  patchHypervisorStatus(version: Version, change: Partial<HypervisorStatus>, signal: AbortSignal): Promise<void>;
  getNode(name: string, signal: AbortSignal): Promise<Node | null>;
  /** All Nodes of the cluster; one that does not fit the schema is left out. */
  listNodes(signal: AbortSignal): Promise<Node[]>;
  /** All of them: what is left out is taken away. */
  setTaints(version: Version, taints: readonly Taint[], signal: AbortSignal): Promise<void>;
  /** Those whose spec.hypervisor is the host. */
  listEvictionsOf(host: string, signal: AbortSignal): Promise<Owned<Eviction>[]>;
  getEviction(name: string, signal: AbortSignal): Promise<Owned<Eviction> | null>;
  /** False when the name is taken. */
  createEviction(eviction: NewEviction & { ownerReferences: Owner[] }, signal: AbortSignal): Promise<boolean>;
  annotateEviction(version: Version, annotations: Record<string, string>, signal: AbortSignal): Promise<void>;
  /** @throws ObjectConflict where another object has that name by now */
  deleteEviction(key: Pick<Eviction['metadata'], 'name' | 'uid'>, signal: AbortSignal): Promise<void>;
  /** The pods on a node, of one namespace or of all. */
  listPods(node: string, namespace: string | null, signal: AbortSignal): Promise<Pod[]>;
  createEvent(event: NewEvent, signal: AbortSignal): Promise<void>;
}

const group = 'kvm.cloud.sap/v1';
const hypervisorPath = (name: string, subresource?: string): string =>
  resourcePath(group, 'hypervisors', { name, ...(subresource !== undefined && { subresource }) });
const evictionPath = (name: string): string => resourcePath(group, 'evictions', { name });
const nodePath = (name: string): string => resourcePath('v1', 'nodes', { name });

export function createHypervisorClient(kubernetes: Kubernetes): HypervisorClient {
  const { readOrNull, list } = createObjectRequests(kubernetes);
  const patch = { method: 'PATCH', patchType: 'merge', query: { fieldManager } } as const;

  const getOwned = async <Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    signal: AbortSignal,
  ): Promise<Owned<z.output<Schema>> | null> => {
    const answer = await readOrNull(z.unknown(), path, signal);
    return answer === null ? null : toOwned(schema, answer, `GET ${path}`);
  };

  /** False when there is an object of that name. */
  const create = async (path: string, body: object, signal: AbortSignal): Promise<boolean> => {
    try {
      await kubernetes.request({ method: 'POST', path, query: { fieldManager }, body }, signal);
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
  };

  return {
    ...createDrainGuardCalls(kubernetes),

    getHypervisor: (name, signal) => getOwned(hypervisorSchema, hypervisorPath(name), signal),

    createHypervisor: ({ spec, ...metadata }, signal) =>
      create(resourcePath(group, 'hypervisors'), { apiVersion: group, kind: 'Hypervisor', metadata, spec }, signal),

    async patchHypervisor({ name, resourceVersion }, { metadata, spec }, signal) {
      const path = hypervisorPath(name);
      const body = { metadata: { ...metadata, resourceVersion }, ...(spec && { spec }) };
      return toOwned(hypervisorSchema, await kubernetes.request({ ...patch, path, body }, signal), `PATCH ${path}`);
    },

    async patchHypervisorStatus({ name, resourceVersion }, status, signal) {
      await kubernetes.request(
        { ...patch, path: hypervisorPath(name, 'status'), body: { metadata: { resourceVersion }, status } },
        signal,
      );
    },

    getNode: (name, signal) => readOrNull(nodeSchema, nodePath(name), signal),

    async listNodes(signal) {
      const items = await list(resourcePath('v1', 'nodes'), {}, signal);
      return items.flatMap((item) => nodeSchema.safeParse(item).data ?? []);
    },

    async setTaints({ name, resourceVersion }, taints, signal) {
      const body = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
      await kubernetes.request({ ...patch, path: nodePath(name), body }, signal);
    },

    async listEvictionsOf(host, signal) {
      const path = resourcePath(group, 'evictions');
      const items = await list(path, {}, signal);
      return items
        .filter((item) => ofHostSchema.safeParse(item).data?.spec.hypervisor === host)
        .map((item) => toOwned(evictionSchema, item, `GET ${path}`));
    },

    getEviction: (name, signal) => getOwned(evictionSchema, evictionPath(name), signal),

    createEviction: ({ spec, ...metadata }, signal) =>
      create(resourcePath(group, 'evictions'), { apiVersion: group, kind: 'Eviction', metadata, spec }, signal),

    async annotateEviction({ name, resourceVersion }, annotations, signal) {
      await kubernetes.request(
        { ...patch, path: evictionPath(name), body: { metadata: { resourceVersion, annotations } } },
        signal,
      );
    },

    async deleteEviction({ name, uid }, signal) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
      try {
        await kubernetes.request({ method: 'DELETE', path: evictionPath(name), body }, signal);
      } catch (error) {
        if (!isFailure(error, 'ObjectNotFound')) throw error;
      }
    },

    async listPods(node, namespace, signal) {
      const path = resourcePath('v1', 'pods', namespace === null ? {} : { namespace });
      const items = await list(path, { fieldSelector: `spec.nodeName=${node}` }, signal);
      // One that cannot be read is not taken for gone.
      return items.map((item) => checkAnswer(podSchema, item, `GET ${path}`));
    },

    createEvent: (event, signal) => createEvent(kubernetes, event, signal),
  };
}

function toOwned<Schema extends z.ZodType>(schema: Schema, answer: unknown, what: string): Owned<z.output<Schema>> {
  const { metadata } = checkAnswer(ownedSchema, answer, what);
  return { object: checkAnswer(schema, answer, what), owners: metadata.ownerReferences ?? [] };
}
