import type { Check } from './objects.ts';
import type { AgentFact, Snapshot } from './snapshot.ts';

/** VMs of agent pools. */

const prefix = 'agent/';

/** Destroys that drover has asked of a vCenter, or may have. */
const destroysOf = ({ audit }: Pick<Snapshot, 'audit'>): { agent: string; atMs: number }[] =>
  audit.flatMap(({ action, object, time, after }) => {
    const { failed, unanswered = false } = Object(after) as { failed?: string; unanswered?: boolean };
    if (action !== 'submitDestroy' || !object.startsWith(prefix) || (failed !== undefined && !unanswered)) return [];
    return [{ agent: object.slice(prefix.length), atMs: Date.parse(time) }];
  });

/** 25: no VM is destroyed whose Machine is there, unless a user forces it. */
export const agentsKeepTheirVms: Check = (world) =>
  destroysOf(world).flatMap(({ agent, atMs }) => {
    const fact = world.agents.find(
      (one) => one.agent === agent && one.fromMs <= atMs && atMs < (one.untilMs ?? Infinity),
    );
    return fact === undefined || fact.machine === null || fact.isForced
      ? []
      : [`the VM of VsphereAgent ${agent} was destroyed while Machine ${fact.machine} was there (audit log, ${atMs})`];
  });

const pathIn = (value: unknown, ...steps: string[]): unknown =>
  steps.reduce((at: unknown, step) => (Object(at) as Record<string, unknown>)[step], value);

/**
 * When the Agent of each VM could be taken first, by the VsphereAgent: from then on another AgentMachine may have it,
 * and the VsphereAgent says so later.
 */
function takeableMs({ audit }: Pick<Snapshot, 'audit'>): ReadonlyMap<string, number> {
  const preparedMs = new Map<unknown, number>();
  for (const { action, time, after } of audit)
    if (action === 'prepareAgent' && pathIn(after, 'spec', 'approved') === true)
      preparedMs.set(pathIn(after, 'spec', 'hostname'), Date.parse(time));
  return new Map(
    audit.flatMap(({ action, object, after }) => {
      const atMs = preparedMs.get(pathIn(after, 'vmName'));
      return action === 'createVsphereAgent' && atMs !== undefined ? [[object.slice(prefix.length), atMs]] : [];
    }),
  );
}

/** 26: an AgentMachine has one VM under way at most, and a VsphereAgent one VM. */
export const oneVmPerAgent: Check = ({ agentVms, ...world }) => [
  ...underWay(world).flatMap((one, index, agents) =>
    agents
      .slice(index + 1)
      .filter(
        (other) =>
          other.uid !== one.uid &&
          other.agentMachine !== null &&
          other.pool === one.pool &&
          other.agentMachine === one.agentMachine &&
          other.fromMs < (one.untilMs ?? Infinity) &&
          one.fromMs < (other.untilMs ?? Infinity),
      )
      .map((other) => `${one.agent} and ${other.agent} are under way for AgentMachine ${one.agentMachine} at once`),
  ),
  ...[...Map.groupBy(agentVms, ({ uid }) => uid)].flatMap(([uid, vms]) =>
    vms.length === 1 ? [] : [`VMs ${vms.map(({ name }) => name).join(', ')} are of VsphereAgent ${uid}`],
  ),
];

function underWay(world: Pick<Snapshot, 'agents' | 'audit'>): AgentFact[] {
  const takeable = takeableMs(world);
  return world.agents.flatMap((fact) => {
    const untilMs = Math.min(fact.untilMs ?? Infinity, takeable.get(fact.agent) ?? Infinity);
    return fact.isUnderWay && fact.fromMs < untilMs
      ? [{ ...fact, untilMs: untilMs === Infinity ? null : untilMs }]
      : [];
  });
}

/** Later than a stray counts as one, by as much as a look at a vCenter takes. */
const strayAfterMs = 35 * 60_000;

/**
 * 27: a VM with the mark of a pool that deletes, also of one that is gone, has its VsphereAgent; else it goes, or the pool
 * says that it is held.
 */
export const noVmIsLost: Check = ({ agents, agentVms, agentPools, atMs, isQuiet }) => {
  const there = new Set(agents.filter(({ untilMs }) => untilMs === null).map(({ uid }) => uid));
  return agentVms.flatMap(({ uid, name, pool, poolUid, madeMs }) => {
    const deletes = agentPools.find((one) => one.uid === poolUid && one.deletes);
    if (!isQuiet || there.has(uid) || deletes === undefined || deletes.held.includes(name)) return [];
    if (atMs - madeMs < strayAfterMs) return [];
    return [`VM ${name} of pool ${pool} has no VsphereAgent (${uid}), and the pool does not say so`];
  });
};
