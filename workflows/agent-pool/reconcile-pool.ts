import { proxyActivities } from '@temporalio/workflow';
import type { AgentPoolActivities } from '../../contracts/agent-pool/agent-pool.ts';
import { agentsQueue } from '../../contracts/ids.ts';
import { vsphereAgentPoolKind } from '../../contracts/kinds/vsphere-agent-pool.ts';
import { isoCall, vcenterCall } from '../../contracts/policies.ts';
import { ownCluster } from '../lib/own-cluster.ts';
import type { Executed } from '../lib/lifecycle.ts';
import { describePlan } from '../lib/plan.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import {
  allowed,
  applyPoolFailure,
  applyRelease,
  isPoolSaid,
  noPoolMemory,
  planPool,
  type PoolLifecycle,
  type PoolSituation,
  poolStatus,
  type PoolStep,
  prunePool,
} from './plan-pool.ts';

const pools = (summary: string) =>
  proxyActivities<AgentPoolActivities>({ ...vcenterCall, taskQueue: agentsQueue(ownCluster()), summary });

const isos = (summary: string) =>
  proxyActivities<AgentPoolActivities>({ ...isoCall, taskQueue: agentsQueue(ownCluster()), summary });

const poolOf = ({ input: { namespace, name }, desired }: PoolSituation) => ({
  namespace,
  name,
  uid: desired?.uid ?? '',
});

/** What refuses creates, such as a quota, is asked again after this. */
const refusedMs = 60_000;

type Executing<Kind extends PoolStep['kind']> = (
  situation: PoolSituation,
  step: Extract<PoolStep, { kind: Kind }>,
) => Promise<Executed<PoolLifecycle>>;

const create: Executing<'create'> = async (situation, { agents, summary }) => {
  const { refused } = await pools(summary).createVsphereAgents({ ...poolOf(situation), agents });
  return {
    applyResult: (memory) => ({
      ...memory,
      refused: refused === null ? null : { message: refused, untilMs: Date.now() + refusedMs },
    }),
  };
};

const release: Executing<'release'> = async (situation, { agents, summary }) => {
  const result = await pools(summary).releaseVsphereAgents({ ...poolOf(situation), agents });
  return { applyResult: (memory) => applyRelease(memory, agents, result, Date.now()) };
};

/** A permission that is missing is asked for again after this. */
const forbiddenMs = 5 * 60_000;

const deleteMachines: Executing<'deleteMachines'> = async (situation, { machines, summary }) => {
  const { agentMachines } = situation.observed.counts;
  const { deleted, forbidden } = await pools(summary).deleteMachines({ ...poolOf(situation), machines });
  return {
    applyResult: (memory) => ({
      ...memory,
      ...(deleted.length > 0 && { replacing: { agentMachines } }),
      ...(forbidden !== null && { forbidden: { message: forbidden, untilMs: Date.now() + forbiddenMs } }),
    }),
  };
};

const refreshIso: Executing<'refreshIso'> = async (situation, { summary }) => {
  await isos(summary).refreshIso(poolOf(situation));
  return { applyResult: (memory) => ({ ...memory, iso: null }) };
};

/**
 * Keeps a VsphereAgentPool: as many VsphereAgents as AgentMachines wait for, their Agents prepared, and none whose
 * Machine is gone. Started by the bridge, or by hand with plain JSON; the id `agent-pool/<namespace>/<name>` is the
 * lock. It stays open while the pool is there.
 */
export const reconcileAgentPool = defineReconciler<PoolLifecycle>(vsphereAgentPoolKind, {
  memory: noPoolMemory,
  observe: ({ namespace, name }) => pools(`Observe pool ${namespace}/${name}`).observeAgentPool({ namespace, name }),
  plan: planPool,
  execute: {
    addFinalizer: patchFinalizer,
    removeFinalizer: patchFinalizer,
    prepare: async (situation, { agents, summary }) => pools(summary).prepareAgents({ ...poolOf(situation), agents }),
    pin: async (situation, { agentMachines, summary }) =>
      pools(summary).pinAgentMachines({ ...poolOf(situation), agentMachines }),
    create,
    release,
    deleteMachines,
    refreshIso,
    removeIsos: async (situation, { summary }) => isos(summary).removeIsos(poolOf(situation)),
    destroyStrays: async (situation, { vms, summary }) =>
      void (await pools(summary).destroyStrays({ ...poolOf(situation), vms })),
  },
  applyFailure: applyPoolFailure,
  // What a user has tried again need not wait for Machines that are not wanted any more, either. Of those a changed spec
  // says nothing, and each edit would cost another Node.
  resetFailures: ({ replacing, forbidden: _forbidden, refusals: _refusals, ...memory }, by) => ({
    ...memory,
    ...(by === 'spec' && replacing !== undefined && { replacing }),
    refused: null,
    iso: null,
    replacedMs: [],
  }),
  prune: prunePool,
  status: poolStatus,
  isSaid: isPoolSaid,
  publish: (situation, status, retryHandled) =>
    pools('Publish the status of the pool').publishAgentPool({ ...poolOf(situation), status, retryHandled }),
  attributes: ({ input: { namespace, name } }) => ({ object: `${namespace}/${name}` }),
  details: (situation, plan) => {
    const { counts, iso, replacement } = situation.observed;
    return [
      describePlan(plan).message,
      '',
      `- ${counts.agentMachines} AgentMachines, ${counts.waiting} wait, ${counts.bound} Agents bound`,
      `- ${counts.owned} VMs, ${counts.provisioning} under way`,
      `- ISO ${iso.path ?? 'none yet'}`,
      ...(replacement === undefined ? [] : [`- ${replacement.replaced} of ${replacement.total} VMs are replaced`]),
      ...allowed(situation).held.map(({ name, cause, message }) => `- ${name} (${cause}): ${message}`),
    ].join('\n');
  },
  progress: (situation) =>
    situation === null
      ? {}
      : { counts: situation.observed.counts, held: allowed(situation).held, iso: situation.observed.iso },
});

async function patchFinalizer(
  situation: PoolSituation,
  { kind, summary }: Pick<PoolStep, 'kind' | 'summary'>,
): Promise<Executed<PoolLifecycle>> {
  const present = kind === 'addFinalizer';
  const isThere = await pools(summary).patchAgentPoolFinalizer({ ...poolOf(situation), present });
  if (!present) return {};
  return {
    isOutdated: !isThere,
    observation: ({ desired, ...latest }) => ({
      ...latest,
      desired: desired === null ? null : { ...desired, isHeld: true },
    }),
  };
}
