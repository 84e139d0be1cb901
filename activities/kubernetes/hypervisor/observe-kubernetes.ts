import { z } from 'zod';

import type { Eviction } from '../../../contracts/crds/eviction.ts';
import type {
  CertificateState,
  DesiredHypervisor,
  HypervisorObservation,
  RecordedStatus,
} from '../../../contracts/hypervisor/hypervisor.ts';
import { readDesired, readEviction, readRecorded } from '../../../contracts/hypervisor/read-hypervisor.ts';
import { readNode } from '../../../contracts/hypervisor/read-node.ts';
import { fencedHold, hypervisorAnnotations } from '../../../contracts/ids.ts';
import { digestOfRead } from '../../../contracts/kinds/digest.ts';
import { hypervisorKind } from '../../../contracts/kinds/hypervisor.ts';
import { checkAnswer } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import type { ActivityScope } from '../../lib/context.ts';
import { agentsAmong, podResource } from './agent-pods.ts';
import { findDrainGuard, readDrainGuard } from './drain-guard.ts';
import { type Node, nodes } from './node-schema.ts';

/** What Kubernetes knows of a hypervisor. */
export type ObservedInKubernetes = Pick<
  HypervisorObservation,
  'recorded' | 'node' | 'evictions' | 'agentPods' | 'drainGuard' | 'certificate' | 'hold'
> & {
  /** Null: there is no such Hypervisor. */
  desired: DesiredHypervisor | null;
  /** Of what was read: see `Observation.digest`. */
  digest: string | null;
};

export interface KubernetesTools {
  client: KubernetesObjects;
  scope: Pick<ActivityScope, 'signal'>;
  /** Node labels that are copied besides the known ones. */
  copiedLabels: readonly string[];
  /** Where the agents run; empty: anywhere. */
  agentNamespaces: readonly string[];
  /** Whether drover holds Gardener's drain back: only then is it observed. */
  guardsDrain: boolean;
  readCertificate: (node: Node, signal: AbortSignal) => Promise<CertificateState | null>;
}

/**
 * The Kubernetes part of an observation, all but the agents at once.
 *
 * @throws AnswerMalformed that names the field; what the client throws
 */
export async function observeKubernetes(tools: KubernetesTools, name: string): Promise<ObservedInKubernetes> {
  const { client, scope, copiedLabels } = tools;
  const [found, node, evictions] = await Promise.all([
    client.get(resources.Hypervisor, { name }, scope.signal),
    client.get(nodes, { name }, scope.signal),
    listEvictionsOf(client, name, scope.signal),
  ]);
  const observed = node === null ? null : readNode(node, copiedLabels);
  const desired = found === null ? null : readDesired(found, found.metadata.ownerReferences ?? []);
  const [agentPods, drainGuard, certificate] = await Promise.all([
    observed?.offboardingTaint === true ? findAgents(tools, name) : null,
    node === null ? null : findGuard(tools, node),
    node === null || desired === null || desired.createCertManagerCertificate
      ? null
      : tools.readCertificate(node, scope.signal),
  ]);
  const read = [
    ...(node === null ? [] : [{ kind: 'Node', object: node }]),
    ...evictions.map((object) => ({ kind: object.kind, object })),
  ];
  return {
    digest: digestOfRead(hypervisorKind, found, read, {
      copiedLabels,
      imageCacheNamespace: null,
      groups: false,
    }),
    desired,
    recorded: found === null ? nothingRecorded : readRecorded(found),
    node: observed,
    evictions: evictions.map((eviction) => readEviction(eviction, eviction.metadata.ownerReferences ?? [])),
    agentPods,
    drainGuard,
    certificate,
    hold: readHold(found?.metadata.annotations?.[hypervisorAnnotations.hold]),
  };
}

const anyEviction = {
  ...resources.Eviction,
  schema: z.looseObject({ spec: z.looseObject({ hypervisor: z.string() }) }),
};

/**
 * Those whose spec.hypervisor is the host: one of another host that does not fit its schema is none of
 * this host's business.
 */
async function listEvictionsOf(client: KubernetesObjects, host: string, signal: AbortSignal): Promise<Eviction[]> {
  const all = await client.listValid(anyEviction, {}, signal);
  return all
    .filter(({ spec }) => spec.hypervisor === host)
    .map((eviction) => checkAnswer(resources.Eviction.schema, eviction, 'LIST Eviction'));
}

const nothingRecorded: RecordedStatus = {
  conditions: [],
  hypervisorId: null,
  serviceId: null,
  evicted: false,
  libVirtVersion: null,
  traits: null,
  aggregates: null,
  internalIp: null,
};

async function findAgents({ client, scope, agentNamespaces }: KubernetesTools, node: string): Promise<string[]> {
  const namespaces = agentNamespaces.length === 0 ? [null] : agentNamespaces;
  const pods = await Promise.all(
    namespaces.map((namespace) =>
      client.list(
        podResource,
        { namespace: namespace ?? undefined, fieldSelector: `spec.nodeName=${node}` },
        scope.signal,
      ),
    ),
  );
  return agentsAmong(pods.flat());
}

async function findGuard(
  { client, scope, guardsDrain }: KubernetesTools,
  { metadata }: Node,
): Promise<HypervisorObservation['drainGuard']> {
  return guardsDrain ? readDrainGuard(...(await findDrainGuard(client, metadata.name, scope.signal)), metadata) : null;
}

/**
 * `Reason: message`. Whatever else it says, it holds: the host stays out of service until the annotation is gone. Pure.
 */
export function readHold(text: string | undefined): HypervisorObservation['hold'] {
  if (text === undefined) return null;
  const [, reason, message] = /^([A-Za-z][A-Za-z0-9_]*): *(.+)$/su.exec(text.trim()) ?? [];
  if (reason !== undefined && message !== undefined) return { reason, message };
  return { reason: 'Held', message: text.trim() || `annotation ${hypervisorAnnotations.hold} does not say why` };
}

/**
 * The text of a user's hold: the one that was there before drover held the host, or that a user has written over
 * drover's since. Who takes drover's away takes away both. Pure.
 */
export function userHoldOf(given: Readonly<Record<string, string>>): string | null {
  const text = given[hypervisorAnnotations.hold];
  return (readHold(text)?.reason === fencedHold ? given[hypervisorAnnotations.userHold] : text) ?? null;
}
