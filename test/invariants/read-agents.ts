import { agentPoolAnnotations, agentPoolLabels, agentVmKeys } from '../../contracts/agent-pool/metadata.ts';
import { readHeld } from '../../contracts/agent-pool/planned-actions.ts';
import type { VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import type { VcenterWitness } from '../../lab/vsphere/witness.ts';
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

/** What a world of pools is read from. */
export interface ObservedAgents {
  /** Of VsphereAgents, VsphereAgentPools and Machines, in the order of their arrival. */
  changes: readonly AgentChange[];
  pools: readonly VsphereAgentPool[];
  witness: Pick<VcenterWitness, 'find' | 'describeVm'>;
  /** In vCenter, where VMs of pools are. */
  below: string;
}

export async function readAgents({ changes, pools, witness, below }: ObservedAgents): Promise<OfAgents> {
  const paths = await witness.find('vm', below);
  const vms = await Promise.all(paths.map((path) => witness.describeVm(path)));
  return {
    agents: agentFacts(changes),
    agentPools: [
      ...pools.map(({ metadata: { uid }, spec, status }) => ({
        uid,
        deletes: spec.cleanupPolicy === 'Delete',
        held: (status?.plannedActions ?? []).flatMap((action) => readHeld(action)?.name ?? []),
      })),
      ...gonePools(changes),
    ],
    agentVms: vms.flatMap((vm) => {
      if (vm === null) return [];
      const markOf = (key: string): string => vm.config.extraConfig.find((one) => one.key === key)?.value ?? '';
      const uid = markOf(agentVmKeys.agentUid);
      if (uid === '') return [];
      const pool = markOf(agentVmKeys.pool);
      const madeMs = Date.parse((vm.config as { createDate?: string }).createDate ?? '') || 0;
      return [{ name: vm.name, uid, pool, poolUid: markOf(agentVmKeys.poolUid), madeMs }];
    }),
  };
}

/**
 * The same changes, where watches are late: a Machine may have been gone since it was let go, whenever the watch of a
 * test says so. drover's own may have been faster. Pure.
 *
 * @param letGoMs by uid, when it was asked for
 */
export function notLaterThan(letGoMs: ReadonlyMap<string, number>, changes: readonly AgentChange[]): AgentChange[] {
  const gone = new Set(changes.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.uid));
  return changes
    .map((change): AgentChange => {
      const { uid } = change.object.metadata;
      const mostMs = gone.has(uid) ? letGoMs.get(uid) : undefined;
      return mostMs === undefined ? change : { ...change, atMs: Math.min(change.atMs, mostMs) };
    })
    .toSorted((one, other) => one.atMs - other.atMs);
}

const keyOf = ({ metadata: { namespace = '', name } }: ReadAgentObject): string => `${namespace}/${name}`;
const isForced = (object: ReadAgentObject | undefined): boolean =>
  object?.metadata.annotations?.[agentPoolAnnotations.forceDelete] === 'true';

type Live = Omit<AgentFact, 'fromMs' | 'untilMs'>;

/** No pool is gone before its VMs are, unless a user has it go by force. Pure. */
export const gonePools = (changes: readonly AgentChange[]): OfAgents['agentPools'] =>
  changes.flatMap(({ type, object }) =>
    type !== 'DELETED' || object.kind !== 'VsphereAgentPool' || isForced(object)
      ? []
      : // The default of the kind is written where it is created.
        [{ uid: object.metadata.uid, deletes: object.spec?.cleanupPolicy === 'Delete', held: [] }],
  );

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
