import type {
  AgentPoolInput,
  AgentPoolObservation,
  DesiredPool,
  HeldAgent,
  ObservedPool,
  PoolProblem,
} from '../../../contracts/agent-pool/agent-pool.ts';
import { judgeIso } from '../../../contracts/agent-pool/iso.ts';
import {
  agentPoolAnnotations,
  agentPoolConditions,
  agentPoolFinalizer,
} from '../../../contracts/agent-pool/metadata.ts';
import { listHeld } from '../../../contracts/agent-pool/planned-actions.ts';
import { isTrue } from '../../../contracts/agent-pool/pool-facts.ts';
import { isoFactsOf, recordedIsoOf } from '../../../contracts/agent-pool/read-iso.ts';
import type { InfraEnv } from '../../../contracts/crds/infra-env.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { agentPoolId } from '../../../contracts/ids.ts';
import { modeOf, pendingRetry } from '../../../contracts/kinds/requests.ts';
import type { Unobserved } from '../../../contracts/runs.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import { readAgentPoolInput } from '../../lib/input.ts';
import type { AgentPoolTools, Look } from './dependencies.ts';
import { type JudgedStrays, judgeSpace, judgeStrays, lookAtVcenter, strayAge } from './look-at-vcenter.ts';
import { isListed } from './pool-status.ts';
import { readWorld } from './read-world.ts';

const nothing: ObservedPool = {
  counts: {
    agentMachines: 0,
    waiting: 0,
    unready: 0,
    withoutAgent: 0,
    matching: 0,
    bound: 0,
    available: 0,
    provisioning: 0,
    owned: 0,
  },
  problems: [],
  wanted: [],
  unprepared: [],
  released: [],
  held: [],
  unpinned: [],
  drifted: [],
  limits: { maxAgents: 0, maxConcurrent: 0, freeSpace: null },
  iso: { path: null, dueMs: null, why: '' },
  strays: [],
  remaining: 0,
  nextMs: null,
  conditions: [],
  saidHeld: [],
  isListed: true,
};

export async function observeAgentPool(
  tools: AgentPoolTools,
  input: AgentPoolInput,
): Promise<AgentPoolObservation | Unobserved> {
  const { client, settings, namespaces, cluster, scope } = tools;
  const { namespace, name } = readAgentPoolInput(input);
  if (settings === null)
    return {
      kind: 'nothing',
      message: `VsphereAgentPools are switched off in drover’s settings (modes.VsphereAgentPool); ${namespace}/${name} is left as it is`,
    };
  if (namespaces.length > 0 && !namespaces.includes(namespace))
    return {
      kind: 'nothing',
      message: `drover’s settings have no pools in ${namespace} (agentPools.namespaces); ${namespace}/${name} is left as it is`,
    };
  const workflowId = agentPoolId(namespace, name, cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name });
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${namespace}/${name}` };
  }
  const { freeSpacePercent, ...runSettings } = settings;
  const pool = await client.get(resources.VsphereAgentPool, { namespace, name }, scope.signal);
  // Its run stays open: a bridge that begins signals it.
  const common = { kind: 'observed', digest: null } as const;
  if (pool === null) return { ...common, settings: runSettings, desired: null, observed: nothing, retry: null };
  return {
    ...common,
    settings: { ...runSettings, mode: modeOf(pool, settings.mode) },
    retry: pendingRetry(pool),
    desired: desiredOf(pool),
    observed: await observe(tools, pool, { ...runSettings, freeSpacePercent }),
  };
}

const desiredOf = ({ metadata, spec }: VsphereAgentPool): DesiredPool => ({
  uid: metadata.uid,
  generation: metadata.generation,
  deleting: metadata.deletionTimestamp !== undefined,
  isHeld: metadata.finalizers?.includes(agentPoolFinalizer) ?? false,
  deletes: spec.cleanupPolicy === 'Delete',
  force: isTrue(metadata.annotations, agentPoolAnnotations.forceDelete),
});

async function observe(
  tools: AgentPoolTools,
  pool: VsphereAgentPool,
  { rules, freeSpacePercent, mode }: NonNullable<AgentPoolTools['settings']>,
): Promise<ObservedPool> {
  const observes = modeOf(pool, mode) === 'observe';
  const { client, clock, scope, cluster } = tools;
  const key = { namespace: pool.metadata.namespace, name: pool.spec.infraEnvRef.name };
  // Once it is gone, no run looks for VMs of it any more.
  const isLast = pool.metadata.deletionTimestamp !== undefined && pool.spec.cleanupPolicy === 'Delete';
  // VMs before VsphereAgents: one that was made in between has its own.
  const [infraEnv, look] = await Promise.all([
    client.get(neighbourResources.InfraEnv, key, scope.signal),
    lookAtVcenter(tools, pool, !isLast),
  ]);
  const world = await readWorld(tools, pool, rules);
  const nowMs = clock.now();
  const limits = limitsOf(pool, rules);
  const { judged } = world;
  const { counts, wanted, unprepared, released, drifted, remaining, replacement, stuck } = judged;
  const { strays, held } = straysOf(look, world, cluster, nowMs);
  return {
    counts,
    problems: [...judged.problems, ...infraEnvProblems(pool, infraEnv), ...known(look.problem), ...limits.problems],
    ...(stuck !== undefined && { stuck }),
    wanted,
    unprepared,
    released,
    held: [...judged.held, ...held],
    unpinned: judged.unpinned.map(({ agentMachine }) => agentMachine),
    drifted,
    ...(replacement !== undefined && { replacement }),
    limits: { ...limits.limits, freeSpace: look.seen === null ? null : judgeSpace(look.seen, pool, freeSpacePercent) },
    iso: judgeIso(isoFactsOf(pool, infraEnv, { isGone: look.seen?.isIsoGone ?? false, nowMs })),
    ...(isLast && hasIsos(pool) && ({ leavesIsos: true } as const)),
    strays: strays.map(({ vmId, name, uid }) => ({ vmId, name, uid })),
    remaining,
    nextMs: nextMs(judged.nextMs, look, held),
    conditions: (pool.status?.conditions ?? []).map(({ lastTransitionTime: _time, ...condition }) => condition),
    // Where drover only observes, lists are the operator's that acts.
    saidHeld: observes ? [] : listHeld(pool.status?.plannedActions ?? []),
    isListed: observes || isListed(world),
  };
}

function hasIsos(pool: VsphereAgentPool): boolean {
  const { current, history } = recordedIsoOf(pool);
  return current !== null || history.length > 0;
}

const known = <Value>(value: Value | null): Value[] => (value === null ? [] : [value]);

/**
 * A vCenter that could be looked at is looked at again with the next observation, whenever that is; but nothing says
 * when a VM has become old enough, or is gone.
 */
function nextMs(judgedMs: number | null, look: Look, held: readonly HeldAgent[]): number | null {
  if (look.problem === null && !held.some(({ waitsFor }) => waitsFor === strayAge)) return judgedMs;
  return judgedMs === null ? look.nextMs : Math.min(judgedMs, look.nextMs);
}

/** What was seen before may be destroyed since: those that go are seen right now. */
function straysOf(
  { seen, isOld }: Look,
  { pool, vsphereAgents }: Awaited<ReturnType<typeof readWorld>>,
  cluster: string,
  nowMs: number,
): JudgedStrays {
  const judged = judgeStrays(seen?.vms ?? [], vsphereAgents, { pool, cluster, nowMs });
  return isOld ? { ...judged, strays: [] } : judged;
}

function infraEnvProblems({ metadata, spec, status }: VsphereAgentPool, infraEnv: InfraEnv | null): PoolProblem[] {
  const name = `InfraEnv ${metadata.namespace ?? ''}/${spec.infraEnvRef.name}`;
  const problem = (message: string): PoolProblem[] => [
    { condition: agentPoolConditions.infraEnv, reason: 'InfraEnvUnavailable', message },
  ];
  if (infraEnv === null || infraEnv.metadata.deletionTimestamp !== undefined)
    return problem(`${name} is not there: create it, or correct spec.infraEnvRef`);
  if (infraEnv.spec?.clusterRef)
    return problem(
      `${name} has spec.clusterRef, so that its Agents belong to a cluster before a NodePool can take them: take it off`,
    );
  if (infraEnv.status?.isoDownloadURL || status?.iso?.path) return [];
  const created = infraEnv.status?.conditions?.find(({ type }) => type === 'ImageCreated');
  const why = created?.status === 'False' && created.message ? `: ${created.message.slice(0, 500)}` : '';
  return problem(`${name} has no discovery ISO yet${why}`);
}

/**
 * A pool may say itself how large it gets, as far as the settings let it: who writes pools need not be who runs drover.
 */
function limitsOf(
  { metadata: { annotations = {} } }: VsphereAgentPool,
  rules: { maxAgents: number; maxConcurrent: number },
): { limits: { maxAgents: number; maxConcurrent: number }; problems: PoolProblem[] } {
  const problems: PoolProblem[] = [];
  const limit = (key: string, most: number): number => {
    const text = annotations[key];
    if (text === undefined) return most;
    if (/^\d{1,5}$/u.test(text.trim())) return Math.min(most, Number(text));
    problems.push({
      condition: agentPoolConditions.capacity,
      reason: 'InvalidAnnotation',
      message: `The annotation ${key} is no number from 0 to 99999: correct it, or take it off`,
    });
    return 0;
  };
  const limits = {
    maxAgents: limit(agentPoolAnnotations.maxAgents, rules.maxAgents),
    maxConcurrent: limit(agentPoolAnnotations.maxConcurrent, rules.maxConcurrent),
  };
  return { limits, problems };
}
