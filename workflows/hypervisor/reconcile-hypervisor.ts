import type { HypervisorProgress } from '../../contracts/hypervisor/hypervisor.ts';
import { conditionsTable } from '../lib/conditions-table.ts';
import { explain } from '../lib/failures.ts';
import { host, hostCheck, hypervisorObjects, hypervisorRegion } from '../lib/hypervisor-activities.ts';
import type { Executed, Situation, StepContext } from '../lib/lifecycle.ts';
import { count } from '../lib/metrics.ts';
import { failureHosts, failureRegion } from '../lib/node-failure-activities.ts';
import { describePlan, type Plan } from '../lib/plan.ts';
import { hypervisorKind } from '../../contracts/kinds/hypervisor.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import { retryAfterMs } from '../lib/retry.ts';
import {
  applyFailure,
  clockRegistration,
  emptyMemory,
  isRetryable,
  prune,
  recordChecks,
  resetFailures,
} from './memory.ts';
import { decide, lateDeadline, planHypervisor } from './plan.ts';
import { isSaid, statusOf } from './status.ts';
import type { HypervisorLifecycle, HypervisorStep } from './types.ts';

type StepOf<Kind extends HypervisorStep['kind']> = Extract<HypervisorStep, { kind: Kind }>;
type HypervisorContext = StepContext<HypervisorLifecycle>;

/** How long the deletion of a test server may take. */
const testServerGoneMs = 120_000;

const objects = ({ summary }: HypervisorStep) => hypervisorObjects(summary);
const region = ({ settings }: HypervisorContext, { summary }: HypervisorStep) =>
  hypervisorRegion(settings.region, summary);

const keyOf = ({ input, desired }: Situation<HypervisorLifecycle>) => ({
  name: input.hypervisor,
  uid: desired?.uid ?? '',
});
/** Nova's name of the host; the Hypervisor's where Nova has none. */
const hostOf = ({ input, observed: { nova, loneService } }: HypervisorContext): string =>
  nova?.host ?? loneService?.host ?? input.hypervisor;
/** The Node that was observed: another one of that name is left alone. */
const nodeOf = ({ observed }: HypervisorContext, node: string) => ({ node, uid: observed.node?.uid ?? '' });

/**
 * Drives a hypervisor to where its Hypervisor and its Node want it. Started by the bridge, by `drover`, or by hand with
 * plain JSON; the id `hypervisor/<name>` is the lock.
 */
export const reconcileHypervisor = defineReconciler<HypervisorLifecycle>(hypervisorKind, {
  memory: emptyMemory,

  /** Where OpenStack does not answer, Kubernetes alone, so that the Hypervisor can say so. */
  async observe(input, { failures }, repeats) {
    const { hypervisor } = input;
    try {
      return await host(`Observe ${hypervisor}`).observeHypervisor(input, repeats ? 'again' : 'all');
    } catch (error) {
      const problem = explain(error);
      if (problem.code === 'InvalidInput') throw error;
      const retryAtMs = Date.now() + retryAfterMs(failures + 1);
      const known = await host(`Observe ${hypervisor}, without OpenStack`).observeHypervisor(input, 'kubernetes');
      if (known.kind !== 'observed') return known;
      const { reason, message } = problem;
      const failure = { reason, message, retryable: isRetryable(problem), retryAtMs };
      return { ...known, observed: { ...known.observed, failure } };
    }
  },

  plan: planHypervisor,
  status: statusOf,
  isSaid,

  execute: {
    createHypervisor: async (_, step) => await objects(step).createHypervisor(step.hypervisor),
    async patchHypervisor(context, step) {
      const generation = context.desired?.generation ?? 0;
      await objects(step).patchHypervisor({ ...keyOf(context), generation, patches: step.patches });
    },
    createEviction: async (_, step) => await objects(step).createEviction(step.eviction),
    async setEvictionDeadline(_, step) {
      const { name, uid, deadline } = step;
      await objects(step).setEvictionDeadline({ name, uid, deadline });
    },
    async deleteEviction(_, step) {
      const { name, uid } = step;
      await objects(step).deleteEviction({ name, uid });
    },
    taintNode: async (context, step) => await objects(step).taintNode(nodeOf(context, step.node)),
    untaintNode: async (context, step) => await objects(step).untaintNode(nodeOf(context, step.node)),
    ensureCertificate: async (context, step) => await objects(step).ensureCertificate(nodeOf(context, step.node)),
    async ensureDrainGuard(context, step) {
      await objects(step).ensureDrainGuard({ ...nodeOf(context, step.node), guard: step.guard });
    },
    async disableService(context, step) {
      await region(context, step).ensureServiceDisabled({ host: step.host, reason: step.reason });
    },
    async enableService(context, step) {
      await region(context, step).ensureServiceEnabled({ host: step.host, carrying: step.carrying });
    },
    async liftForcedDown(context, step) {
      const { name } = keyOf(context);
      const [at = '', ...who] = step.consentBy.split(/\s+/u).toReversed();
      await failureRegion(context.settings.region, step.summary).ensureForcedDown({
        host: step.host,
        forcedDown: false,
        proof: { incident: `adoption of ${name}`, by: 'person', witness: who.toReversed().join(' '), at },
      });
    },
    async changeAggregates(context, step) {
      await region(context, step).changeAggregates({ host: step.host, changes: step.changes });
    },
    async deleteTestServers(context, step) {
      const request = { host: hostOf(context), ids: step.ids, deadlineMs: testServerGoneMs };
      await region(context, step).ensureSmokeServerGone(request);
    },
    async deleteService(context, step) {
      await region(context, step).ensureServiceDeleted({ host: step.host, serviceId: step.serviceId });
    },
    async updateTraits(context, step) {
      const { providerId, add, remove } = step;
      await region(context, step).updateTraits({ providerId, add, remove });
    },
    async releaseAllocations(context, step) {
      const { providerId, consentBy } = step;
      await region(context, step).releaseAllocations({ providerId, consentBy });
    },
    async deleteProvider(context, step) {
      const { providerId, consentBy } = step;
      await region(context, step).ensureProviderGone({ providerId, consentBy });
    },
    runChecks,
    signalNodeFailure,
  },

  async publish(situation, status) {
    await hypervisorObjects(`Write the status of Hypervisor ${situation.input.hypervisor}`).publishHypervisor({
      ...keyOf(situation),
      status,
    });
  },

  attributes(situation) {
    const { hypervisor } = situation.input;
    const state = decide(situation)?.state;
    return { object: hypervisor, host: hypervisor, ...(state !== undefined && { phase: state }) };
  },

  applyFailure,
  resetFailures,
  prune: (memory, situation) => clockRegistration(prune(memory, situation.observed), situation),

  /** An operator is woken: once for each deadline. */
  planned(situation, plan) {
    const { memory } = situation;
    const atMs = lateDeadline(situation, plan);
    if (atMs === null || atMs === memory.halfOverAtMs) return memory;
    count('drainsHalfOver', {});
    return { ...memory, halfOverAtMs: atMs };
  },

  details: describe,

  progress(situation): Pick<HypervisorProgress, 'tests'> {
    const tests = situation?.memory.tests ?? [];
    return {
      tests: tests.map(({ check, attempts, results }) => ({
        check,
        attempts,
        passed: results.length > 0 && results.every(({ outcome }) => outcome === 'passed'),
      })),
    };
  },
});

async function runChecks(
  context: HypervisorContext,
  step: StepOf<'runChecks'>,
): Promise<Executed<HypervisorLifecycle>> {
  const { name: hypervisor, uid } = keyOf(context);
  const checks = step.checks.map(({ check }) => check);
  const findings = await hostCheck(step.summary, context.settings.checkMs).runHypervisorChecks({
    checks,
    hypervisor,
    uid,
    host: hostOf(context),
  });
  const atMs = Date.now();
  return { applyResult: (memory) => recordChecks(memory, step, findings, atMs) };
}

async function signalNodeFailure(
  { input: { hypervisor } }: HypervisorContext,
  { summary, cause }: StepOf<'signalNodeFailure'>,
): Promise<Executed<HypervisorLifecycle>> {
  await failureHosts(summary).signalNodeFailure({ hypervisor, cause });
  const atMs = Date.now();
  return { applyResult: (memory) => ({ ...memory, signalled: { cause, atMs } }), observation: 'unchanged' };
}

/** The run as the Web UI shows it: a sentence, and the conditions as a table. Pure. */
export function describe(situation: Situation<HypervisorLifecycle>, plan: Plan<HypervisorStep>): string {
  const { input, observed } = situation;
  const { nova, loneService } = observed;
  const service =
    nova === null
      ? loneService === null
        ? 'not in Nova'
        : `no hypervisor in Nova, service ${loneService.service.status} and ${loneService.service.state}`
      : `${nova.servers} servers, service ${nova.service.status} and ${nova.service.state}`;
  const conditions = statusOf(situation, plan)?.conditions ?? [];
  const { message } = describePlan(plan);
  return [`**${input.hypervisor}** ${message}`, '', service, '', ...conditionsTable(conditions)].join('\n');
}
