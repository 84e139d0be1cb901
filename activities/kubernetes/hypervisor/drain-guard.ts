import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

import type { NodeKey } from '../../../contracts/hypervisor/activities.ts';
import { guardBudget, guardDeployment, guardName, guardNamespace } from '../../../contracts/hypervisor/drain-guard.ts';
import type { DrainGuard } from '../../../contracts/hypervisor/hypervisor.ts';
import { nodeMetadata } from '../../../contracts/ids.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { KubernetesObjects, NewObject, Resource } from '../../../runtime/kubernetes/objects.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { HypervisorTools } from './dependencies.ts';
import { nodes } from './node-schema.ts';

/** A label holds less than the name of a Node may: what does not fit is distinguished by a digest. */
export function guardLabel(node: string): string {
  const name = guardName(node);
  return name.length <= 63
    ? name
    : `${name.slice(0, 54)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

const metadataSchema = z.object({
  resourceVersion: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  ownerReferences: z.array(z.object({ uid: z.string() })).optional(),
});

export const budgetSchema = z.object({
  metadata: metadataSchema,
  spec: z.object({ minAvailable: z.union([z.int(), z.string()]).optional() }),
});

const containerSchema = z.object({
  image: z.string().optional(),
  readinessProbe: z.object({ exec: z.object({ command: z.array(z.string()) }).optional() }).optional(),
});

export const deploymentSchema = z.object({
  metadata: metadataSchema,
  spec: z.object({
    replicas: z.int().default(1),
    template: z.object({ spec: z.object({ containers: z.array(containerSchema) }) }),
  }),
});

const budgets = { ...guardBudget, schema: budgetSchema };
const deployments = { ...guardDeployment, schema: deploymentSchema };

export type Budget = z.output<typeof budgetSchema>;
export type Deployment = z.output<typeof deploymentSchema>;

interface GuardedNode {
  name: string;
  uid: string;
}

const probeOf = (ready: boolean): string[] => [ready ? '/bin/true' : '/bin/false'];

/** Whether an object of that name was made to hold a drain back, by drover or by the operator before it. */
export const isGuard = ({ metadata }: Budget | Deployment, node: string): boolean =>
  metadata.labels?.[nodeMetadata.drainGuard] === guardLabel(node);

const isOwned = ({ metadata }: Budget | Deployment, { uid }: GuardedNode): boolean =>
  metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

/** What the two objects come to; null: nothing, or not what drover makes of them. Pure. */
export function readDrainGuard(
  budget: Budget | null,
  deployment: Deployment | null,
  node: GuardedNode,
): DrainGuard | null {
  if (budget === null || deployment === null) return null;
  if (![budget, deployment].every((object) => isGuard(object, node.name) && isOwned(object, node))) return null;
  const { minAvailable } = budget.spec;
  const command = deployment.spec.template.spec.containers[0]?.readinessProbe?.exec?.command.join(' ');
  const ready = [true, false].find((one) => command === probeOf(one).join(' '));
  if ((minAvailable !== 0 && minAvailable !== 1) || minAvailable !== deployment.spec.replicas || ready === undefined)
    return null;
  return { minAvailable, ready };
}

/** Blocks the drain while its pod is there, ready or not. */
export const budgetFor = (node: GuardedNode, { minAvailable }: DrainGuard) => ({
  metadata: metadataFor(node),
  // A pod that is not ready may not go either: that is the default, and said because all depends on it.
  spec: { minAvailable, unhealthyPodEvictionPolicy: 'IfHealthyBudget', selector: { matchLabels: selectorFor(node) } },
});

/**
 * One pod that does nothing on exactly that Node, cordoned or tainted as it may be. The replaced operator has a
 * start-up probe that says whether the Node is onboarded, and restarts the pod all the time until it is.
 *
 * @param image has `/bin/sleep`, `/bin/true` and `/bin/false`
 */
export const deploymentFor = (node: GuardedNode, { minAvailable, ready }: DrainGuard, image: string) => ({
  metadata: metadataFor(node),
  spec: {
    replicas: minAvailable,
    selector: { matchLabels: selectorFor(node) },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: { labels: { ...selectorFor(node), [nodeMetadata.criticalComponent]: 'true' } },
      spec: {
        // By the name itself: the label kubernetes.io/hostname may be another.
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node.name] }] }],
            },
          },
        },
        tolerations: [
          { operator: 'Exists', effect: 'NoExecute' },
          { operator: 'Exists', effect: 'NoSchedule' },
        ],
        // It must be there before the Node has a network for pods.
        hostNetwork: true,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 1,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65_534,
          runAsGroup: 65_534,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [
          {
            name: 'guard',
            image,
            command: ['/bin/sleep', 'infinity'],
            readinessProbe: { exec: { command: probeOf(ready) } },
            resources: { requests: { cpu: '1m', memory: '8Mi' }, limits: { memory: '16Mi' } },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      },
    },
  },
});

/** The Node's end is theirs too. */
const metadataFor = ({ name, uid }: GuardedNode) => ({
  name: guardName(name),
  namespace: guardNamespace,
  labels: selectorFor({ name }),
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
});

const selectorFor = ({ name }: Pick<GuardedNode, 'name'>): Record<string, string> => ({
  [nodeMetadata.drainGuard]: guardLabel(name),
});

/** Both, as they are; null where there is none. */
export async function findDrainGuard(
  client: KubernetesObjects,
  node: string,
  signal: AbortSignal,
): Promise<[Budget | null, Deployment | null]> {
  const key = { namespace: guardNamespace, name: guardName(node) };
  return await Promise.all([client.get(budgets, key, signal), client.get(deployments, key, signal)]);
}

/**
 * Makes the PodDisruptionBudget and the Deployment what they should be, in that order, so that the pod is never without
 * its budget. What the operator before drover made is replaced. Nothing is made for a Node that is gone.
 *
 * @throws InvalidObject where another party has an object of that name
 */
export const ensureDrainGuard = (
  tools: HypervisorTools,
  { node: name, uid, guard }: NodeKey & { guard: DrainGuard },
): Promise<void> =>
  retryConflicts(async () => {
    const { client, scope, guardImage } = tools;
    const found = await client.get(nodes, { name }, scope.signal);
    if (found?.metadata.uid !== uid) return;
    const node = { name, uid };
    const [budget, deployment] = await findDrainGuard(client, name, scope.signal);
    const before = readDrainGuard(budget, deployment, node);
    if (isDeepStrictEqual(before, guard)) return;
    refuseForeign('PodDisruptionBudget', budget, name);
    refuseForeign('Deployment', deployment, name);
    const cause =
      guard.minAvailable === 1
        ? `the host on Node ${name} is in Nova`
        : `the host on Node ${name} is out of Nova, or its lifecycle is not driven`;
    const entry = { action: 'ensureDrainGuard', cause, before, after: guard };
    const object = `${guardNamespace}/${guardName(name)}`;
    await mutate(tools, { ...entry, object: `poddisruptionbudget/${object}` }, () =>
      put(client, budgets, budget, budgetFor(node, guard), scope.signal),
    );
    await mutate(tools, { ...entry, object: `deployment/${object}` }, () =>
      put(client, deployments, deployment, deploymentFor(node, guard, guardImage), scope.signal),
    );
  });

function refuseForeign(kind: string, object: Budget | Deployment | null, node: string): void {
  if (object === null || isGuard(object, node)) return;
  throw droverFailure(
    'InvalidObject',
    `${kind} ${guardNamespace}/${guardName(node)} has the name of what holds the drain of Node ${node} back, and is something else. Rename or delete it`,
  );
}

/**
 * Makes it, or puts it in the place of the one that was read.
 * @throws ObjectConflict when another writer did either meanwhile
 */
async function put<Schema extends z.ZodType>(
  client: KubernetesObjects,
  resource: Resource<Schema>,
  before: Budget | Deployment | null,
  object: NewObject<Schema>,
  signal: AbortSignal,
): Promise<void> {
  if (before !== null) {
    const metadata = { ...object.metadata, resourceVersion: before.metadata.resourceVersion };
    await client.replace(resource, { ...object, metadata }, signal);
  } else if ((await client.create(resource, object, signal)) === null)
    throw droverFailure('ObjectConflict', `${resource.kind} ${object.metadata.name} was made at the same moment`);
}
