import { agentPoolConditions, isoNotReady } from '../../../contracts/agent-pool/metadata.ts';
import type { VsphereAgentActivities, VsphereAgentStatus } from '../../../contracts/agent-pool/vsphere-agent.ts';
import { type Condition, type ConditionUpdate, findCondition, setConditions } from '../../../contracts/conditions.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import { retryHandledAnnotation } from '../../../contracts/eviction/annotations.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { conditionMessageLimit, cut } from '../../kubernetes/lib/cut-text.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import type { VsphereAgentTools } from './dependencies.ts';

/** What the object says of itself is no mutation that `drover stop` holds back. */
export async function publishVsphereAgent(
  tools: VsphereAgentTools,
  { namespace, name, uid, status, retryHandled }: Parameters<VsphereAgentActivities['publishVsphereAgent']>[0],
): Promise<void> {
  const { client, scope } = tools;
  const found = await client.get(resources.VsphereAgent, { namespace, name }, scope.signal);
  if (found?.metadata.uid !== uid) return;
  try {
    const { metadata } = await writeStatus(tools, found, status);
    if (retryHandled !== null && metadata.annotations?.[retryHandledAnnotation] !== retryHandled)
      await client.patch(
        resources.VsphereAgent,
        metadata,
        { metadata: { annotations: { [retryHandledAnnotation]: retryHandled } } },
        scope.signal,
      );
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
    return;
  }
  if ('observed' in status) return;
  const { ready } = status;
  const before = findCondition(found.status?.conditions, agentPoolConditions.ready);
  if (before?.status === ready.status && before.reason === ready.reason) return;
  // An Event of each would say what one of the pool does.
  if (ready.reason === isoNotReady) return;
  await announce(
    tools,
    {
      regarding: { kind: 'VsphereAgent', namespace, name, uid },
      type: ready.status === 'True' ? 'Normal' : 'Warning',
      reason: ready.reason,
      message: ready.message,
    },
    [uid, String(scope.scheduledMs), ready.reason],
  );
}

/** Phase and reason of the VM are those of its pool's run. @returns the object then */
async function writeStatus(
  { client, scope, clock }: VsphereAgentTools,
  found: VsphereAgent,
  status: VsphereAgentStatus,
): Promise<VsphereAgent> {
  const before = found.status?.conditions ?? [];
  const set = (type: string, said: Omit<ConditionUpdate, 'type'>): readonly Condition[] =>
    setConditions(
      before,
      [{ ...said, type, message: cut(said.message, conditionMessageLimit) }],
      new Date(clock.now()).toISOString(),
    );
  if ('observed' in status) {
    const conditions = set(agentPoolConditions.observed, status.observed);
    if (conditions === before) return found;
    return await client.patchStatus(
      resources.VsphereAgent,
      found.metadata,
      { conditions: [...conditions] },
      scope.signal,
    );
  }
  const { vm, ready } = status;
  const conditions = set(agentPoolConditions.ready, ready);
  const recorded = found.status?.vm;
  const isVmSaid =
    vm === undefined ||
    (recorded?.name === vm.name &&
      recorded.biosUUID === vm.biosUUID &&
      (recorded.macAddress ?? null) === vm.macAddress);
  const { observedGeneration = found.metadata.generation } = ready;
  if (conditions === before && isVmSaid && found.status?.observedGeneration === observedGeneration) return found;
  return await client.patchStatus(
    resources.VsphereAgent,
    found.metadata,
    {
      observedGeneration,
      // What drover would have done when it only observed is out of date.
      conditions: conditions.filter(({ type }) => type !== agentPoolConditions.observed),
      ...(vm !== undefined && { vm: { name: vm.name, biosUUID: vm.biosUUID, macAddress: vm.macAddress } }),
    },
    scope.signal,
  );
}
