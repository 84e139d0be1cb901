import { z } from 'zod';

import {
  type AnnotatedNodes,
  judgeNode,
  machineNodeLabel,
  type MachineNodeActivities,
  type NodeChange,
  nodeFinalizer,
  notManagedAnnotation,
} from '../../contracts/machine-safety/unmanaged-nodes.ts';
import type { KubernetesObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { type ActivityContext, type ForActivities, contextOf } from '../lib/context.ts';
import { mutate } from '../lib/mutate.ts';
import { whileBeating } from '../lib/wait.ts';

export interface NodeDependencies extends ForActivities<ActivityContext> {
  /** Of the Machines. */
  client: KubernetesObjects;
  /** Of the Nodes; null: there is none. */
  target: KubernetesObjects | null;
  /** All namespaces whose Machines have Nodes there. */
  namespaces: readonly string[];
  isActing: boolean;
  creationTimeoutMs: number;
}

/** Of a Machine, no more than the name of its Node: an odd one has it all the same. */
const machineLabels = z.object({ metadata: z.object({ labels: z.record(z.string(), z.string()).optional() }) });
const machines = { ...resources.Machine, schema: machineLabels };

const nodeMetadata = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    creationTimestamp: z.iso.datetime({ offset: true }),
    annotations: z.record(z.string(), z.string()).optional(),
    finalizers: z.array(z.string()).optional(),
  }),
});
const nodes = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', schema: nodeMetadata };
type Node = z.output<typeof nodeMetadata>;

export const createNodeActivities = (dependencies: NodeDependencies): MachineNodeActivities => ({
  async annotateNodes() {
    const tools = contextOf(dependencies);
    const { target, isActing } = tools;
    if (target === null || !isActing) return null;
    return await whileBeating(
      tools,
      () => undefined,
      () => annotate({ ...tools, target }),
    );
  },
});

type NodeTools = Omit<NodeDependencies, 'scope' | 'target'> & ActivityContext & { target: KubernetesObjects };

async function annotate(tools: NodeTools): Promise<AnnotatedNodes> {
  const { client, target, namespaces, creationTimeoutMs, scope, clock } = tools;
  // Nodes first: a Machine whose Node came in between has it.
  const found = await target.list(nodes, {}, scope.signal);
  const lists = await Promise.all(namespaces.map((namespace) => client.list(machines, { namespace }, scope.signal)));
  const machineNodes = new Set(lists.flat().flatMap(({ metadata }) => metadata.labels?.[machineNodeLabel] ?? []));
  const changeOf = ({ metadata: { name, creationTimestamp, annotations = {}, finalizers = [] } }: Node): NodeChange =>
    judgeNode(
      {
        name,
        createdMs: Date.parse(creationTimestamp),
        isMarked: Object.hasOwn(annotations, notManagedAnnotation),
        hasFinalizer: finalizers.includes(nodeFinalizer),
      },
      machineNodes,
      { creationTimeoutMs, nowMs: clock.now() },
    );
  const changed: Record<'mark' | 'unmark', string[]> = { mark: [], unmark: [] };
  for (const { metadata } of found.filter((node) => changeOf(node) !== null)) {
    const change = await retryConflicts(async () => {
      const node = await target.get(nodes, { name: metadata.name }, scope.signal);
      const wanted = node?.metadata.uid === metadata.uid ? changeOf(node) : null;
      if (node !== null && wanted !== null) await patchNode(tools, node, wanted);
      return wanted;
    });
    if (change !== null) changed[change].push(metadata.name);
  }
  return { marked: changed.mark, unmarked: changed.unmark };
}

/** On the version that was read. */
async function patchNode(
  { target, ...tools }: NodeTools,
  { metadata }: Node,
  change: 'mark' | 'unmark',
): Promise<void> {
  const { annotations = {}, finalizers = [] } = metadata;
  const patch =
    change === 'mark'
      ? {
          annotations: { [notManagedAnnotation]: '1' },
          finalizers: finalizers.filter((finalizer) => finalizer !== nodeFinalizer),
        }
      : { annotations: { [notManagedAnnotation]: null } };
  await mutate(
    tools,
    {
      action: change === 'mark' ? 'markUnmanagedNode' : 'unmarkManagedNode',
      cause: change === 'mark' ? 'no Machine has this Node' : 'a Machine has this Node',
      object: `node/${metadata.name}`,
      before: { [notManagedAnnotation]: annotations[notManagedAnnotation] ?? null, finalizers },
      after: patch,
    },
    () => target.patch(nodes, metadata, { metadata: patch }, tools.scope.signal),
  );
}
