import { agentPoolAnnotations, agentPoolLabels } from '../../contracts/agent-pool/metadata.ts';
import type { AgentFact, OfAgents } from './snapshot.ts';

export const noAgents: OfAgents = { agents: [], agentPools: [], agentVms: [] };

/** VsphereAgents and what they are beside, as kube-apiserver has had them. */

/** Of a VsphereAgent, a VsphereAgentPool or a Machine of Cluster API, as far as it is read. */
export interface ReadAgentObject {
  kind: string;
  metadata: {
    namespace?: string;
    name: string;
    uid: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: { poolRef?: { name?: string }; cleanupPolicy?: string };
  status?: { vm?: { phase?: string; machineRef?: { kind?: string; namespace?: string; name?: string } } };
}

export interface AgentChange {
  atMs: number;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: ReadAgentObject;
}

const keyOf = ({ metadata: { namespace = '', name } }: ReadAgentObject): string => `${namespace}/${name}`;
const isForced = (object: ReadAgentObject | undefined): boolean =>
  object?.metadata.annotations?.[agentPoolAnnotations.forceDelete] === 'true';

type Live = Omit<AgentFact, 'fromMs' | 'untilMs'>;

/** What each VsphereAgent was, from when until when. Pure. @param changes of all three kinds, in order */
export function agentFacts(changes: readonly AgentChange[]): AgentFact[] {
  const there = new Map<string, ReadAgentObject>();
  const open = new Map<string, AgentFact>();
  const facts: AgentFact[] = [];
  for (const { atMs, type, object } of changes) {
    const key = `${object.kind} ${keyOf(object)}`;
    if (type === 'DELETED') there.delete(key);
    else there.set(key, object);
    const now = new Map(
      [...there.values()].flatMap((one) => (one.kind === 'VsphereAgent' ? [liveOf(one, there)] : [])),
    );
    for (const [uid, fact] of open)
      if (!now.has(uid) || !isSame(fact, now.get(uid)!)) {
        facts.push({ ...fact, untilMs: atMs });
        open.delete(uid);
      }
    for (const [uid, live] of now) if (!open.has(uid)) open.set(uid, { ...live, fromMs: atMs, untilMs: null });
  }
  return [...facts, ...open.values()];
}

function liveOf(agent: ReadAgentObject, there: ReadonlyMap<string, ReadAgentObject>): [string, Live] {
  const { metadata, spec, status } = agent;
  const pool = `${metadata.namespace ?? ''}/${spec?.poolRef?.name ?? ''}`;
  const { kind = '', namespace = '', name = '' } = status?.vm?.machineRef ?? {};
  const machine = kind === 'Machine' && there.has(`Machine ${namespace}/${name}`) ? `${namespace}/${name}` : null;
  return [
    metadata.uid,
    {
      agent: keyOf(agent),
      uid: metadata.uid,
      pool,
      agentMachine: metadata.labels?.[agentPoolLabels.agentMachine] ?? null,
      machine,
      isForced: isForced(agent) || isForced(there.get(`VsphereAgentPool ${pool}`)),
      isUnderWay: metadata.deletionTimestamp === undefined && (status?.vm?.phase ?? 'Provisioning') === 'Provisioning',
    },
  ];
}

const isSame = (fact: Live, live: Live): boolean =>
  fact.machine === live.machine && fact.isForced === live.isForced && fact.isUnderWay === live.isUnderWay;
