import type { ApplicationFailure } from '@temporalio/common';

import type { AgentPoolActivities, AgentPoolStatus } from '../../../contracts/agent-pool/agent-pool.ts';
import { agentPoolConditions } from '../../../contracts/agent-pool/metadata.ts';
import { type ConditionUpdate, findCondition, setConditions } from '../../../contracts/conditions.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { errors } from '../../../contracts/errors.ts';
import { retryHandledAnnotation } from '../../../contracts/eviction/annotations.ts';
import { modeOf } from '../../../contracts/kinds/requests.ts';
import { failureDetail } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { conditionMessageLimit, cut } from '../../kubernetes/lib/cut-text.ts';
import { patchHolds } from '../../kubernetes/lib/merge-patch.ts';
import { announce, type NewEvent } from '../../kubernetes/lib/write-event.ts';
import type { AgentPoolTools } from './dependencies.ts';
import { listedOf, unsaid } from './pool-status.ts';
import { findPool, readWorld, type World } from './read-world.ts';
import { firstRefusal } from './refusals.ts';

type Request = Parameters<AgentPoolActivities['publishAgentPool']>[0];

/**
 * Writes what differs: first each VsphereAgent, as what its Machine was seen doing must not be lost, then the pool.
 * What objects say of themselves is no mutation that `drover stop` holds back.
 */
export async function publishAgentPool(tools: AgentPoolTools, { status, retryHandled, ...of }: Request): Promise<void> {
  const { client, settings, scope } = tools;
  const pool = await findPool(tools, of);
  if (pool === null || settings === null) return;
  const observes = modeOf(pool, settings.mode) === 'observe';
  const world = observes ? null : await readWorld(tools, pool, settings.rules);
  const refusal = world === null ? null : await publishVms(tools, world);
  try {
    const written = world === null ? await writeObserved(tools, pool, status) : await writeStatus(tools, world, status);
    if (retryHandled !== null && written.metadata.annotations?.[retryHandledAnnotation] !== retryHandled)
      await client.patch(
        resources.VsphereAgentPool,
        written.metadata,
        { metadata: { annotations: { [retryHandledAnnotation]: retryHandled } } },
        scope.signal,
      );
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
    return;
  }
  // As a failure it would hold up all else that the pool is to do.
  if (refusal !== null) await announceRefusal(tools, pool, failureDetail(refusal));
  if (observes) return;
  for (const { event, identity } of eventsOf(pool, status))
    await announce(tools, event, [pool.metadata.uid, String(scope.scheduledMs), ...identity]);
}

/** Others write other fields of them, so that the version is of no account. */
function publishVms({ client, scope }: AgentPoolTools, world: World): Promise<ApplicationFailure | null> {
  return firstRefusal(unsaid(world), async ({ object, status, metadata }) => {
    const { namespace, name, uid } = object.metadata;
    try {
      if (status !== null)
        await client.patchStatus(resources.VsphereAgent, { namespace, name, uid }, status, scope.signal);
      // Afterwards: its run reads in the status which Agent is meant.
      if (metadata !== null)
        await client.patch(resources.VsphereAgent, { namespace, name, uid }, { metadata }, scope.signal);
    } catch (error) {
      // It is gone, or another one.
      if (!isFailure(error, 'ObjectNotFound') && !isFailure(error, 'ObjectConflict')) throw error;
    }
  });
}

/** `metav1.Time`, which has no fractions of a second. */
const nowOf = (clock: AgentPoolTools['clock']): string => new Date(clock.now()).toISOString().replace(/\.\d+Z$/u, 'Z');

const cutOf = (update: ConditionUpdate): ConditionUpdate => ({
  ...update,
  message: cut(update.message, conditionMessageLimit),
});

/**
 * Beside the operator that acts: what that one works by, as counts and what VMs are, stays as it says it.
 *
 * @returns the object then
 */
async function writeObserved(
  { client, clock, scope }: AgentPoolTools,
  pool: VsphereAgentPool,
  status: AgentPoolStatus,
): Promise<VsphereAgentPool> {
  const before = pool.status?.conditions ?? [];
  const updates = status.conditions.filter(({ type }) => type === agentPoolConditions.observed).map(cutOf);
  const conditions = setConditions(before, updates, nowOf(clock));
  if (conditions === before) return pool;
  const change = { conditions: [...conditions] };
  return await client.patchStatus(resources.VsphereAgentPool, pool.metadata, change, scope.signal);
}

/** @returns the object then */
async function writeStatus(
  { client, clock, scope }: AgentPoolTools,
  world: World,
  { conditions, plannedActions }: AgentPoolStatus,
): Promise<VsphereAgentPool> {
  const { pool } = world;
  const { metadata } = pool;
  const isOfActing = ({ type }: { type: string }): boolean => type !== agentPoolConditions.observed;
  // What drover would have done when it only observed is out of date.
  const before = (pool.status?.conditions ?? []).filter(isOfActing);
  const change = {
    ...listedOf(world),
    plannedActions,
    observedGeneration: conditions[0]?.observedGeneration ?? metadata.generation,
    conditions: [...setConditions(before, conditions.filter(isOfActing).map(cutOf), nowOf(clock))],
  };
  if (patchHolds(pool.status, change)) return pool;
  return await client.patchStatus(resources.VsphereAgentPool, metadata, change, scope.signal);
}

const announceRefusal = (tools: AgentPoolTools, { metadata }: VsphereAgentPool, message: string): Promise<void> => {
  const { namespace = '', name, uid } = metadata;
  const regarding = { kind: 'VsphereAgentPool', namespace, name, uid } as const;
  const event = { regarding, type: 'Warning', reason: errors.ObjectRefused.reason, message } as const;
  return announce(tools, event, [uid, event.reason, message]);
};

/** Those of agent-forge-operator, when they begin. */
function eventsOf(
  { metadata, status }: VsphereAgentPool,
  { conditions, plannedActions }: AgentPoolStatus,
): { event: NewEvent; identity: string[] }[] {
  const { namespace = '', name, uid } = metadata;
  const event = (type: NewEvent['type'], reason: string, message: string) => ({
    event: { regarding: { kind: 'VsphereAgentPool', namespace, name, uid } as const, type, reason, message },
    identity: [reason, message],
  });
  const said = (actions: readonly { type: string; name?: string | undefined }[] = []): string[] =>
    actions.map((action) => `${action.type} ${action.name ?? ''}`.trim());
  const before = said(status?.plannedActions);
  const actions = said(plannedActions.filter(({ type }) => type !== 'Noop'));
  const isNew = actions.some((action) => !before.includes(action));
  const ready = conditions.find(({ type }) => type === agentPoolConditions.ready);
  const wasReady = findCondition(status?.conditions, agentPoolConditions.ready);
  const isWarning = ready?.status === 'False' && (wasReady?.status !== 'False' || wasReady.reason !== ready.reason);
  return [
    ...(isNew
      ? [event('Normal', 'PlanApplied', `planned ${actions.length} action(s): ${actions.slice(0, 20).join(', ')}`)]
      : []),
    ...(isWarning ? [event('Warning', ready.reason, ready.message)] : []),
  ];
}
