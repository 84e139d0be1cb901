import { proxyActivities } from '@temporalio/workflow';
import type {
  AgentVm,
  VsphereAgentActivities,
  VsphereAgentObservation,
} from '../../contracts/agent-pool/vsphere-agent.ts';
import { agentsQueue } from '../../contracts/ids.ts';
import { vsphereAgentKind } from '../../contracts/kinds/vsphere-agent.ts';
import { agentVmCall, vcenterCall } from '../../contracts/policies.ts';
import { ownCluster } from '../lib/own-cluster.ts';
import type { Executed } from '../lib/lifecycle.ts';
import { describePlan } from '../lib/plan.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import { ofVcenter, releaseOf, slotHooks } from '../limits/slots.ts';
import {
  type AgentLifecycle,
  type AgentSituation,
  agentStatus,
  type AgentStep,
  isAgentSaid,
  planAgent,
  pruneAgent,
} from './plan-agent.ts';

const agents = (summary: string) =>
  proxyActivities<VsphereAgentActivities>({ ...vcenterCall, taskQueue: agentsQueue(ownCluster()), summary });
/** For what waits for tasks of vCenter. */
const tasks = (summary: string) =>
  proxyActivities<VsphereAgentActivities>({ ...agentVmCall, taskQueue: agentsQueue(ownCluster()), summary });

const agentOf = ({ input: { namespace, name }, desired }: AgentSituation) => ({
  namespace,
  name,
  uid: desired?.uid ?? '',
});

/** With the slot that the run holds, which the activity releases. */
const withSlot = (situation: AgentSituation) => {
  const slot = releaseOf(situation, ofVcenter);
  return { ...agentOf(situation), ...(slot !== undefined && { slot }) };
};

const slotAfter = (isSlotReleased: boolean): Executed<AgentLifecycle> =>
  isSlotReleased ? { isSlotReleased, applyResult: (memory) => ({ ...memory, slot: null }) } : {};

const known = (change: (vm: AgentVm) => AgentVm): Executed<AgentLifecycle> => ({
  observation: ({ observed, ...rest }): VsphereAgentObservation => ({
    ...rest,
    observed: { ...observed, vm: observed.vm === null ? null : change(observed.vm) },
  }),
});

/**
 * Makes the VM of a VsphereAgent, with the discovery ISO of its pool in its drive, and destroys it with the object.
 * Started by the bridge, or by hand with plain JSON; the id `agent/<namespace>/<name>` is the lock.
 */
export const reconcileAgent = defineReconciler<AgentLifecycle>(vsphereAgentKind, {
  memory: { slot: null },
  observe: ({ namespace, name }) =>
    agents(`Observe agent ${namespace}/${name}`).observeVsphereAgent({ namespace, name }),
  plan: planAgent,
  execute: {
    addFinalizer: patchFinalizer,
    removeFinalizer: patchFinalizer,
    create: async (situation, { summary }) => {
      const { isSlotReleased = false, ...vm } = await tasks(summary).createAgentVm(withSlot(situation));
      return {
        observation: (latest) => ({ ...latest, observed: { ...latest.observed, vm } }),
        ...slotAfter(isSlotReleased),
      };
    },
    attachTags: async (situation, { summary }) => {
      await agents(summary).attachAgentTags(agentOf(situation));
      return known((vm) => ({ ...vm, missingTags: [] }));
    },
    powerOn: async (situation, { summary }) => {
      await tasks(summary).powerOnAgentVm(agentOf(situation));
      return known((vm) => ({ ...vm, isOn: true }));
    },
    ejectIso: async (situation, { summary }) => {
      await tasks(summary).ejectAgentIso(agentOf(situation));
      return known((vm) => ({ ...vm, iso: null }));
    },
    destroy: async (situation, { summary }) => {
      const { isSlotReleased = false } = await tasks(summary).destroyAgentVm(withSlot(situation));
      return {
        observation: ({ observed: { agent: _agent, ...observed }, ...rest }): VsphereAgentObservation => ({
          ...rest,
          observed: { ...observed, vm: null },
        }),
        ...slotAfter(isSlotReleased),
      };
    },
  },
  prune: pruneAgent,
  status: agentStatus,
  isSaid: isAgentSaid,
  publish: (situation, status, retryHandled) =>
    agents('Publish the status of the agent').publishVsphereAgent({ ...agentOf(situation), status, retryHandled }),
  attributes: ({ input: { namespace, name } }) => ({ object: `${namespace}/${name}` }),
  details: (situation, plan) => {
    const { vm, machine, agent } = situation.observed;
    return [
      describePlan(plan).message,
      ...(vm === null ? [] : ['', `- VM \`${vm.vmId}\`, ${vm.isOn ? 'on' : 'off'}, ISO ${vm.iso ?? 'none'}`]),
      ...(machine === null ? [] : [`- Machine ${machine}`]),
      ...(agent === undefined ? [] : [`- Agent ${agent.name}, ${agent.isBound ? 'bound' : 'not bound'}`]),
    ].join('\n');
  },
  ...slotHooks<AgentLifecycle>(ofVcenter, (situation, status, retryHandled) => ({
    publish: 'publishVsphereAgent',
    request: { ...agentOf(situation), status, retryHandled },
  })),
});

/** For an object that is gone meanwhile, nothing is made. */
async function patchFinalizer(
  situation: AgentSituation,
  { kind, summary }: AgentStep,
): Promise<Executed<AgentLifecycle>> {
  const present = kind === 'addFinalizer';
  const isThere = await agents(summary).patchVsphereAgentFinalizer({ ...agentOf(situation), present });
  if (!present) return {};
  return {
    isOutdated: !isThere,
    observation: ({ desired, ...latest }) => ({
      ...latest,
      desired: desired === null ? null : { ...desired, isHeld: true },
    }),
  };
}
