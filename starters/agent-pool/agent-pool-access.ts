import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { type ObjectReference, onlyOneNamed, unknownObject } from '../command/object-reference.ts';
import type { AgentPoolObject, VsphereAgentObject } from './agent-pool-object.ts';
import { shownAgents, shownPools } from './agent-pool-objects.ts';

/** Agent pools as commands use them. Every call fails with a row of the error table. */
export interface AgentPoolAccess {
  /** All that fit the schema, and `namespace/name` of those that do not. @param namespace null: of all */
  list(namespace: string | null): Promise<{ pools: AgentPoolObject[]; unreadable: string[] }>;
  /**
   * @param consequence a sentence for who names one that is none: nothing was changed
   * @throws CommandError notFound, with the one that may have been meant; refused for one that does not fit the schema
   */
  read(reference: ObjectReference, consequence?: string): Promise<AgentPoolObject>;
  readAgent(reference: ObjectReference, consequence: string): Promise<VsphereAgentObject>;
  /** Null: there is none. */
  find(namespace: string, name: string): Promise<AgentPoolObject | null>;
  agentsOf(pool: { namespace: string; name: string }): Promise<VsphereAgentObject[]>;
  /** Sets annotations of that very version, and leaves the others. @throws ObjectConflict where it is another one by now */
  annotate(object: AgentPoolObject, annotations: Readonly<Record<string, string>>): Promise<void>;
  annotateAgent(object: VsphereAgentObject, annotations: Readonly<Record<string, string>>): Promise<void>;
}

export function agentPoolAccess(
  kubernetes: Pick<KubernetesAccess, 'list' | 'get' | 'patch'>,
  abort: AbortSignal,
): AgentPoolAccess {
  const list: AgentPoolAccess['list'] = async (namespace) => {
    const { found, unreadable } = await kubernetes.list(shownPools, namespace ?? undefined);
    return { pools: found, unreadable };
  };
  const find = (namespace: string, name: string) => kubernetes.get(shownPools, { namespace, name });
  /** For a suggestion only: who may not list gets none. */
  const suggestions = async <One>(all: () => Promise<One[]>): Promise<One[]> => {
    try {
      return await all();
    } catch {
      abort.throwIfAborted();
      return [];
    }
  };
  const allPools = async () => (await list(null)).pools;
  const allAgents = async () => (await kubernetes.list(shownAgents)).found;
  const versionOf = ({ namespace, name, uid, resourceVersion }: AgentPoolObject | VsphereAgentObject) => ({
    namespace,
    name,
    uid,
    resourceVersion,
  });
  return {
    list,
    find,
    async read({ namespace, name }, consequence) {
      if (namespace === null) return onlyOneNamed('pool', name, await allPools(), consequence);
      const pool = await find(namespace, name);
      if (pool === null) throw unknownObject('pool', { namespace, name }, await suggestions(allPools), consequence);
      return pool;
    },
    async readAgent({ namespace, name }, consequence) {
      if (namespace === null) return onlyOneNamed('agent', name, await allAgents(), consequence);
      const agent = await kubernetes.get(shownAgents, { namespace, name });
      if (agent === null) throw unknownObject('agent', { namespace, name }, await suggestions(allAgents), consequence);
      return agent;
    },
    agentsOf: async ({ namespace, name }) =>
      (await kubernetes.list(shownAgents, namespace)).found.filter(({ pool }) => pool === name),
    annotate: async (object, annotations) =>
      void (await kubernetes.patch(shownPools, versionOf(object), { metadata: { annotations } })),
    annotateAgent: async (object, annotations) =>
      void (await kubernetes.patch(shownAgents, versionOf(object), { metadata: { annotations } })),
  };
}
