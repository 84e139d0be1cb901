import { nodeFailureRun } from '../../contracts/kinds/node-failure.ts';
import type { HypervisorStatusPatch } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorObjects } from '../lib/hypervisor-activities.ts';
import { failureHosts } from '../lib/node-failure-activities.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import { cancelMessage, describeFailure, describeFailureRun, failureReport, isSaid } from './describe.ts';
import { executeSteps } from './execute-steps.ts';
import { applyFailure, changeFencing, dismiss, emptyMemory, prune, reopen, resetFailures } from './memory.ts';
import { listen } from './messages.ts';
import { phaseOf, planNodeFailure } from './plan.ts';
import type { NodeFailureLifecycle } from './types.ts';

const noSpec = { uid: '', generation: 0 } as const;

const nothing: HypervisorStatusPatch = {
  conditions: [],
  removed: [],
  hypervisorId: null,
  serviceId: null,
  traits: null,
  aggregates: null,
  internalIp: null,
  evicted: null,
  libVirtVersion: null,
};

/**
 * Deals with the failure of a host, until it is well, is handed over to an Eviction, or is restored. Servers are
 * started elsewhere only on evidence that was observed again just before. Started by the hypervisor's run, or by hand
 * with plain JSON; the id `node-failure/<host>` is the lock. A cancel begins nothing more, and lets evacuations in
 * flight end.
 */
export const handleNodeFailure = defineReconciler<NodeFailureLifecycle>(
  { kind: nodeFailureRun.kind, input: ['hypervisor'] },
  {
    memory: emptyMemory,
    async observe(input) {
      const found = await failureHosts(`Observe ${input.hypervisor}`).observeNodeFailure(input);
      if (found.kind !== 'observed') return found;
      const { observed, settings } = found;
      const driven = { ...settings, mode: 'act', recheckMs: settings.restObserveMs, lingerMs: 0 } as const;
      return { kind: 'observed', desired: noSpec, observed, settings: driven, digest: null, retry: null };
    },
    prune,
    plan: planNodeFailure,
    execute: executeSteps,
    applyFailure,
    resetFailures,
    reopen,
    status: failureReport,
    isSaid,
    async publish({ observed: { hypervisor } }, status) {
      if (hypervisor === null) return;
      const { name, uid, generation: observedGeneration } = hypervisor;
      const conditions = [{ ...status, observedGeneration }];
      await hypervisorObjects(`Publish the failure in Hypervisor ${name}`).publishHypervisor({
        name,
        uid,
        status: { ...nothing, conditions },
      });
    },
    attributes({ input: { hypervisor }, memory }) {
      return { object: hypervisor, host: hypervisor, phase: phaseOf(memory.fencing) };
    },
    // What is over is ended all the same: no other run releases a host that is restored.
    cancel(situation) {
      const memory = changeFencing(situation.memory, (fencing) => ({ ...fencing, problem: null }));
      const plan = planNodeFailure({ ...situation, memory });
      const isOver =
        plan.kind === 'execute' && plan.steps.every(({ kind }) => kind === 'release' || kind === 'withdrawAdvice');
      const phase = phaseOf(situation.memory.fencing);
      const withdrawal = {
        kind: 'withdrawAdvice',
        phase,
        summary: 'Delete the Eviction that was only advice',
      } as const;
      return {
        steps: isOver ? plan.steps : situation.memory.advised ? [withdrawal] : [],
        message: cancelMessage(situation),
      };
    },
    details: describeFailureRun,
    progress: describeFailure,
    listen,
    dismiss,
  },
);
