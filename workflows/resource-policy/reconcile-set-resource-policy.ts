import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ObjectChanged } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';
import type {
  ResourcePolicyFacts,
  ResourcePolicyInput,
  ResourcePolicyRead,
  ResourcePolicyResult,
} from '../../contracts/resource-policy/resource-policy.ts';
import { showAttributes } from '../lib/attributes.ts';
import { explain } from '../lib/failures.ts';
import { policyInVcenter, policyObject } from '../lib/resource-policy-activities.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { planResourcePolicy, type ResourcePolicyPlan } from './plan.ts';

interface PolicyRun extends ResourcePolicyInput {
  /** For people. */
  message: string;
  news: boolean;
  /** Steps that failed in a row, for the back-off. */
  failures: number;
}

type Read = Extract<ResourcePolicyRead, { next: 'run' }>;

/**
 * Makes what a VirtualMachineSetResourcePolicy names in vCenter, below what its namespace has there: a folder, resource pools and cluster
 * modules; and removes it with the object, once no VirtualMachine names it. Started by the bridge, or by hand with plain JSON; the id
 * `resource-policy/<namespace>/<name>` is the lock.
 */
export async function reconcileSetResourcePolicy(input: ResourcePolicyInput): Promise<ResourcePolicyResult> {
  const { namespace, name } = Object(input) as ResourcePolicyInput;
  const run: PolicyRun = { namespace, name, message: 'Begins', news: false, failures: 0 };
  takeMessages(run);
  for (;;) {
    const ended = await pass(run, input);
    if (ended !== null && !run.news) return { policy: `${namespace}/${name}`, ...ended };
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reconcileSetResourcePolicy>(input);
  }
}

function takeMessages(run: PolicyRun): void {
  setHandler(defineQuery<{ message: string }>(messages.progress), () => ({ message: run.message }));
  setHandler(defineSignal<[Partial<ObjectChanged> | undefined]>(messages.objectChanged), () => void (run.news = true));
  const retryNow = (): string => {
    run.news = true;
    return `Looks at ${run.namespace}/${run.name} again`;
  };
  setHandler(defineUpdate<string>(messages.retryNow), retryNow);
  setHandler(defineSignal(messages.retryNow), () => void retryNow());
}

/** One look, and the step that it leads to. Null: look again. */
async function pass(run: PolicyRun, input: ResourcePolicyInput): Promise<Omit<ResourcePolicyResult, 'policy'> | null> {
  const { namespace, name } = run;
  run.news = false;
  let read: Read | null = null;
  try {
    const seen = await policyObject(`Read policy ${namespace}/${name}`).readResourcePolicy(input);
    if (seen.next === 'nothing') return { outcome: 'NothingToDo', message: seen.message };
    if (seen.next === 'handedOver')
      return { outcome: 'HandedOver', message: `Run ${seen.workflowId} drives ${namespace}/${name}` };
    read = seen;
    const plan = await decide(run, read);
    show(run, read, plan);
    if (plan.next === 'done') return { outcome: plan.outcome, message: plan.message };
    if (read.settings.mode === 'observe') return await tellWhatItWould(run, read);
    if (plan.next === 'wait') await waitFor(run, read, plan.for, read.settings.recheckMs);
    else await carryOut(run, read, plan);
    run.failures = 0;
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { code, message } = explain(error);
    if (code === 'InvalidInput') throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
    run.failures += 1;
    await waitFor(run, read, message, retryAfterMs(run.failures));
  }
  return null;
}

/** Looks at vCenter only where that matters. */
async function decide(
  { namespace, name }: PolicyRun,
  { settings, desired: object, recorded, usedBy }: Read,
): Promise<Exclude<ResourcePolicyPlan, { next: 'look' }>> {
  // Who only observes holds nothing, and tells what comes after that.
  const desired = object === null || settings.mode === 'act' ? object : { ...object, isHeld: true };
  const plan = planResourcePolicy({ desired, recorded, usedBy, facts: null });
  if (plan.next !== 'look') return plan;
  const { folder = null, resourcePool = null } = desired ?? {};
  const facts: ResourcePolicyFacts = await policyInVcenter(
    settings.vcenter,
    `Look what there is of policy ${namespace}/${name}`,
  ).lookAtResourcePolicy({ namespace, folder, resourcePool });
  return planResourcePolicy({ desired, recorded, usedBy, facts }) as Exclude<ResourcePolicyPlan, { next: 'look' }>;
}

async function carryOut(
  { namespace, name }: PolicyRun,
  { settings, desired, recorded }: Read,
  plan: Extract<ResourcePolicyPlan, { next: 'make' | 'remove' | 'note' }>,
): Promise<void> {
  const { uid = '' } = desired ?? {};
  if (plan.next === 'note')
    return await policyObject(plan.words).noteResourcePolicy({ namespace, name, uid, note: plan.note });
  const owner = {
    namespace,
    name,
    cause: desired?.deleting === true ? 'deleted' : `generation ${desired?.generation ?? 0}`,
  };
  const vcenter = policyInVcenter(settings.vcenter, plan.words);
  if (plan.next === 'remove') return await vcenter.removePolicyPart({ ...owner, part: plan.part });
  const { part } = plan;
  const module = await vcenter.makePolicyPart({ ...owner, part });
  if (part.make !== 'module' || module === null) return;
  // At once: nothing else tells whose module it is.
  const { cluster, group } = part;
  const others = recorded.modules.filter((one) => one.cluster !== cluster || one.group !== group);
  await policyObject(`Record module ${module}`).noteResourcePolicy({
    namespace,
    name,
    uid,
    note: { modules: [...others, { cluster, group, module }] },
  });
}

async function tellWhatItWould(
  { namespace, name, message }: PolicyRun,
  { desired, recorded }: Read,
): Promise<Omit<ResourcePolicyResult, 'policy'>> {
  const waitsFor = `drover only observes. It would: ${message}`;
  if (desired !== null && (recorded.observed !== desired.generation || recorded.waitsFor !== waitsFor)) {
    await policyObject('Say what it would do').noteResourcePolicy({
      namespace,
      name,
      uid: desired.uid,
      note: { observed: desired.generation, waitsFor },
    });
  }
  return { outcome: 'NothingToDo', message: waitsFor };
}

/** In the object and in the Web UI, what is missing; until something is told, or time has passed. */
async function waitFor(run: PolicyRun, read: Read | null, what: string, forMs: number): Promise<void> {
  const { namespace, name } = run;
  run.message = `Waiting for ${what}`;
  setCurrentDetails(run.message);
  const { desired = null, recorded } = read ?? {};
  if (desired !== null && recorded?.waitsFor !== what && read?.settings.mode === 'act') {
    // A report that fails is not the policy's problem: the next one says the same.
    await policyObject('Say what it waits for')
      .noteResourcePolicy({ namespace, name, uid: desired.uid, note: { waitsFor: what } })
      .catch(explain);
  }
  await condition(() => run.news, forMs);
}

function show(run: PolicyRun, { recorded }: Read, plan: Exclude<ResourcePolicyPlan, { next: 'look' }>): void {
  run.message = plan.next === 'done' ? plan.message : plan.next === 'wait' ? `Waiting for ${plan.for}` : plan.words;
  setCurrentDetails(
    [
      run.message,
      '',
      ...recorded.modules.map(
        ({ cluster, group, module }) => `- cluster module of ${group} in ${cluster}: \`${module}\``,
      ),
    ].join('\n'),
  );
  if (plan.next === 'done') showAttributes({ phase: plan.outcome });
}
