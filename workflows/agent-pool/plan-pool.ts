import type {
  AgentPoolInput,
  AgentPoolSettings,
  AgentPoolStatus,
  DesiredPool,
  HeldAgent,
  ObservedPool,
  PoolProblem,
  ReleasedAgent,
  UnpreparedAgent,
  WantedAgent,
} from '../../contracts/agent-pool/agent-pool.ts';
import { agentPoolConditions as types, isoNotReady } from '../../contracts/agent-pool/metadata.ts';
import { heldAction, listHeld, mostActions } from '../../contracts/agent-pool/planned-actions.ts';
import { type ConditionUpdate } from '../../contracts/conditions.ts';
import type { Problem } from '../lib/failures.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { describePlan, done, execute, type Plan, type Step, wait } from '../lib/plan.ts';
import { retryAfterMs } from '../lib/retry.ts';
import {
  count,
  type MachineStep,
  planReplacement,
  pruneReplacement,
  type ReplacementMemory,
  sayDrift,
} from './plan-replacement.ts';
import { sayObserved } from './say-observed.ts';

/**
 * What a pool is to do next, and what it is to say. What is wanted and what may go was judged where it was observed.
 * All of it is pure.
 */

export type PoolStep = Step &
  (
    | { kind: 'addFinalizer' | 'removeFinalizer' | 'refreshIso' | 'removeIsos' }
    | { kind: 'prepare'; agents: UnpreparedAgent[] }
    | { kind: 'release'; agents: ReleasedAgent[] }
    | { kind: 'pin'; agentMachines: string[] }
    | { kind: 'create'; agents: WantedAgent[] }
    | { kind: 'destroyStrays'; vms: ObservedPool['strays'] }
    | MachineStep
  );

/** Steps that are done for each of several objects, of which one may be refused. */
const refusables = ['prepare', 'pin', 'release'] as const;
type Refusable = (typeof refusables)[number];

/** Times are Unix ms. */
export interface PoolMemory extends ReplacementMemory {
  /** When VMs were replaced whose Agents did not come. */
  replacedMs: number[];
  /** What refused the last creates, for people; null: nothing did. */
  refused: { message: string; untilMs: number } | null;
  /** What kube-apiserver refused of a step. Left out: nothing. */
  refusals?: Partial<Record<Refusable, { message: string; untilMs: number }>>;
  /** Why the ISO could not be refreshed; null: it could. */
  iso: { problem: Problem; failures: number; untilMs: number } | null;
  /** Their removal failed, and the pool goes all the same. Left out: it did not. */
  areIsosLeft?: true;
}

export const noPoolMemory: PoolMemory = { replacedMs: [], refused: null, iso: null };

export interface PoolLifecycle {
  input: AgentPoolInput;
  desired: DesiredPool;
  observed: ObservedPool;
  settings: AgentPoolSettings;
  memory: PoolMemory;
  step: PoolStep;
  status: AgentPoolStatus;
}

export type PoolSituation = Situation<PoolLifecycle>;
type PoolPlan = Plan<PoolStep>;

const hourMs = 60 * 60_000;
const isoLock = 'iso';

export function planPool(situation: PoolSituation): PoolPlan {
  const { desired, observed, settings } = situation;
  if (desired === null) return done('gone', 'NotFound', 'There is no such VsphereAgentPool');
  if (desired.deleting) return planDeletion(situation, desired);
  const all: PoolStep[] = [
    // Before anything is made: what is deleted in between would be left behind.
    ...(desired.isHeld || settings.mode === 'observe'
      ? []
      : [{ kind: 'addFinalizer', phase: 'Providing', summary: 'Add the finalizer' } as const]),
    ...isoSteps(situation),
    ...prepareSteps(observed.unprepared),
    ...pinSteps(observed.unpinned),
    ...releaseSteps(allowed(situation).released),
    ...createSteps(situation),
    ...machineSteps(situation),
    ...straySteps(observed.strays),
  ];
  const steps = all.filter((step) => !isRefusedStill(situation, step));
  if (steps.length > 0) return execute(steps);
  const untilMs = nextMs(situation);
  const problem = problemsOf(situation)[0];
  if (problem !== undefined) return wait('Waiting', problem.reason, problem.message, untilMs);
  return wait('Steady', 'Reconciled', 'a change, or the next check of the discovery ISO', untilMs);
}

/** Those that may go do so first; the pool stays until the last of its VMs has gone. */
function planDeletion(situation: PoolSituation, { isHeld, deletes, force }: DesiredPool): PoolPlan {
  const { remaining, held, released, strays, problems, iso } = situation.observed;
  if (!isHeld) return done('gone', 'Released', 'It is being deleted, and drover holds nothing of it');
  const steps = [...releaseSteps(released), ...straySteps(strays)].filter((step) => !isRefusedStill(situation, step));
  if (steps.length > 0) return execute(steps);
  const [first] = held;
  if (remaining > 0) {
    const what = remaining === 1 ? 'its last VsphereAgent' : `${remaining} VsphereAgents`;
    const refused = openRefusals(situation.memory, situation.observed).release;
    const why = first === undefined ? refused?.message : `${first.name}: ${first.message}`;
    const message = why === undefined ? '' : `. ${why}`;
    return wait('Deleting', first?.waitsFor ?? 'AgentsRemaining', `${what} to be gone${message}`, nextMs(situation));
  }
  // No run would look for them any more.
  if (first !== undefined) return wait('Deleting', first.waitsFor, first.message, nextMs(situation));
  const unseen = problems.find(({ condition }) => condition === types.vsphere);
  // No VM is made before there is an ISO.
  if (unseen !== undefined && deletes && !force && iso.path !== null)
    return wait(
      'Deleting',
      unseen.reason,
      `its vCenter to say that no VM of the pool is left: ${unseen.message}; the annotation drover.dev/force-delete=true lets the pool go all the same`,
      nextMs(situation),
    );
  // What it uploads would come after the removal.
  if (deletes && !force && situation.inFlight.has(isoLock))
    return wait('Deleting', 'ISORefreshing', 'the refresh of its discovery ISO to end', nextMs(situation));
  return execute([
    ...isoRemoval(situation),
    { kind: 'removeFinalizer', phase: 'Deleting', summary: 'Remove the finalizer' },
  ]);
}

/** When no VM of the pool has one in its drive any more. */
const isoRemoval = ({ observed, memory }: PoolSituation): PoolStep[] =>
  observed.leavesIsos === true && memory.areIsosLeft !== true
    ? [{ kind: 'removeIsos', phase: 'Deleting', summary: 'Remove its discovery ISOs' }]
    : [];

/** The others of it are done. */
const isRefusedStill = ({ memory, nowMs }: PoolSituation, { kind }: PoolStep): boolean =>
  refusables.some((one) => one === kind && (memory.refusals?.[one]?.untilMs ?? 0) > nowMs);

/** Those of which there is something to do still. */
const openRefusals = (
  { refusals = {} }: Pick<PoolMemory, 'refusals'>,
  { unprepared, unpinned, released }: ObservedPool,
): NonNullable<PoolMemory['refusals']> => {
  const asked = { prepare: unprepared, pin: unpinned, release: released };
  return Object.fromEntries(
    refusables.flatMap((kind) => {
      const refusal = refusals[kind];
      return refusal === undefined || asked[kind].length === 0 ? [] : [[kind, refusal]];
    }),
  );
};

/** Beside the others: it may take long, and a pool with an ISO goes on meanwhile. */
function isoSteps({ observed: { iso }, inFlight, memory, nowMs }: PoolSituation): PoolStep[] {
  const dueMs = isoDueMs(iso.dueMs, memory);
  if (dueMs === null || dueMs > nowMs || inFlight.has(isoLock)) return [];
  return [
    { kind: 'refreshIso', phase: 'Providing', summary: `Refresh the discovery ISO: ${iso.why}`, background: isoLock },
  ];
}

const isoDueMs = (dueMs: number | null, { iso }: PoolMemory): number | null =>
  dueMs === null ? null : Math.max(dueMs, iso?.untilMs ?? 0);

const prepareSteps = (agents: UnpreparedAgent[]): PoolStep[] =>
  agents.length === 0
    ? []
    : [{ kind: 'prepare', phase: 'Providing', summary: `Prepare ${count(agents, 'Agent')}`, agents }];

const pinSteps = (agentMachines: string[]): PoolStep[] =>
  agentMachines.length === 0
    ? []
    : [{ kind: 'pin', phase: 'Providing', summary: `Pin ${count(agentMachines, 'AgentMachine')}`, agentMachines }];

const releaseSteps = (agents: ReleasedAgent[]): PoolStep[] =>
  agents.length === 0
    ? []
    : [
        {
          kind: 'release',
          phase: 'Releasing',
          summary: `Release ${agents.map(({ name, cause }) => `${name} (${cause})`).join(', ')}`,
          agents,
          publish: 'before',
        },
      ];

const straySteps = (vms: ObservedPool['strays']): PoolStep[] =>
  vms.length === 0
    ? []
    : [
        {
          kind: 'destroyStrays',
          phase: 'Releasing',
          summary: `Destroy ${vms.map(({ name }) => name).join(', ')}, which no VsphereAgent has`,
          vms,
        },
      ];

/** Its Agent did not come, or has gone before it was taken. */
const isReplaced = ({ cause }: Pick<ReleasedAgent, 'cause'>): boolean =>
  cause === 'AgentDiscoveryExpired' || cause === 'AgentMissing';

/**
 * So many VMs are replaced within an hour; the others are held, so that a network without discovery is no endless loop
 * of creates.
 */
export function allowed({ observed, settings: { rules }, memory, nowMs }: PoolSituation): {
  released: ReleasedAgent[];
  held: HeldAgent[];
} {
  let left = rules.replacementsPerHour - memory.replacedMs.filter((atMs) => atMs > nowMs - hourMs).length;
  const released: ReleasedAgent[] = [];
  const held = [...observed.held];
  for (const agent of observed.released) {
    if (!isReplaced(agent)) released.push(agent);
    else if (left > 0) {
      left -= 1;
      released.push(agent);
    } else
      held.push({
        name: agent.name,
        cause: agent.cause,
        waitsFor: 'ReplacementLimit',
        message: `${rules.replacementsPerHour} VMs were replaced within the last hour as their Agents did not come or went: see why discovery fails, on the console of a VM`,
      });
  }
  return { released, held };
}

/** A VM that is held though its Agent did not come stands for the one that would replace it. */
const heldBack = (held: readonly HeldAgent[]): number =>
  held.filter(({ waitsFor }) => waitsFor === 'ReplacementLimit').length;

/** How many may be created now. */
function roomOf(situation: PoolSituation): number {
  const { observed, memory, nowMs } = situation;
  const { counts, limits, problems } = observed;
  if (problems.length > 0 || limits.freeSpace !== null) return 0;
  if (memory.refused !== null && memory.refused.untilMs > nowMs) return 0;
  return Math.min(limits.maxConcurrent - counts.provisioning, limits.maxAgents - counts.owned);
}

function createSteps(situation: PoolSituation): PoolStep[] {
  const { wanted } = situation.observed;
  const missing = wanted.length - heldBack(allowed(situation).held);
  const agents = wanted.slice(0, Math.max(0, Math.min(missing, roomOf(situation))));
  if (agents.length === 0) return [];
  return [{ kind: 'create', phase: 'Providing', summary: `Create ${count(agents, 'VsphereAgent')}`, agents }];
}

/** While nothing is made, so that as many VMs stand ready as there can be. */
const machineSteps = (situation: PoolSituation): PoolStep[] =>
  createSteps(situation).length > 0 ? [] : planReplacement(situation);

/** When time alone changes the plan. */
function nextMs({ observed, memory, nowMs }: PoolSituation): number | null {
  const times = [
    observed.nextMs,
    isoDueMs(observed.iso.dueMs, memory),
    memory.refused?.untilMs ?? null,
    memory.forbidden?.untilMs ?? null,
    ...Object.values(openRefusals(memory, observed)).map(({ untilMs }) => untilMs),
  ].filter((atMs): atMs is number => atMs !== null && atMs > nowMs);
  return times.length === 0 ? null : Math.min(...times);
}

/** Why not all that is wanted is there, or under way; null: it is. */
function shortageOf(situation: PoolSituation): Pick<PoolProblem, 'reason' | 'message'> | null {
  const { observed, memory, nowMs } = situation;
  const { wanted, counts, limits, problems, stuck = null } = observed;
  if (wanted.length === 0) return stuck;
  const missing = `${count(wanted, 'VM')} more ${wanted.length === 1 ? 'is' : 'are'} wanted`;
  if (problems[0] !== undefined) return { reason: problems[0].reason, message: `${missing}: ${problems[0].message}` };
  if (limits.freeSpace !== null)
    return { reason: limits.freeSpace.reason, message: `${missing}: ${limits.freeSpace.message}` };
  if (memory.refused !== null && memory.refused.untilMs > nowMs)
    return { reason: 'CreateRefused', message: `${missing}: ${memory.refused.message}` };
  // More room would let more be made that are stuck.
  if (stuck !== null) return { reason: stuck.reason, message: `${missing}: ${stuck.message}` };
  if (counts.owned >= limits.maxAgents)
    return {
      reason: 'MaxAgents',
      message: `${missing}, and the pool has ${counts.owned} of at most ${limits.maxAgents}: raise drover.dev/max-agents, or agentPools.maxAgents in drover’s settings`,
    };
  if (counts.provisioning >= limits.maxConcurrent)
    return {
      reason: 'MaxConcurrent',
      message: `${missing}, and ${counts.provisioning} are under way, the most at once`,
    };
  const held = heldBack(allowed(situation).held);
  if (held > 0)
    return {
      reason: 'ReplacementLimit',
      message: `${missing}, and ${held} VMs wait to be replaced, as no Agent of theirs came`,
    };
  return { reason: 'Deficit', message: missing };
}

/** Of the pool as a whole. */
function problemsOf({ observed, memory, nowMs }: PoolSituation): PoolProblem[] {
  const { iso } = memory;
  const { dueMs } = observed.iso;
  // While it is tried again it is said still: else each try would be an Event.
  const fails = iso !== null && (iso.untilMs > nowMs || (dueMs !== null && dueMs <= nowMs));
  const ofIso = fails ? [{ condition: types.iso, reason: iso.problem.reason, message: iso.problem.message }] : [];
  // Others are made meanwhile, so that it is none of those that hold creates up.
  const { stuck } = observed;
  const ofStuck = stuck === undefined ? [] : [{ condition: types.capacity, ...stuck }];
  const ofRefusals = Object.values(openRefusals(memory, observed)).map(({ message }) => ({
    condition: types.ready,
    reason: 'ObjectRefused',
    message,
  }));
  return [...observed.problems, ...ofIso, ...ofStuck, ...ofRefusals];
}

/** What the object is to say of a plan; null: nothing. */
export function poolStatus(situation: PoolSituation, plan: PoolPlan): AgentPoolStatus | null {
  const { desired, observed } = situation;
  if (desired === null || (plan.kind === 'done' && plan.outcome === 'gone')) return null;
  const { generation: observedGeneration } = desired;
  if (situation.settings.mode === 'observe')
    return { conditions: [{ type: types.observed, ...sayObserved(plan, observedGeneration) }], plannedActions: [] };
  const { counts, drifted, iso } = observed;
  const problems = problemsOf(situation);
  const shortage = shortageOf(situation);
  const condition = (type: string, isTrue: boolean, reason: string, message: string): ConditionUpdate => ({
    type,
    status: isTrue ? 'True' : 'False',
    reason,
    message,
    observedGeneration,
  });
  const unless = (type: string, reason: string, message: string): ConditionUpdate => {
    const problem = problems.find((one) => one.condition === type);
    return problem === undefined
      ? condition(type, true, reason, message)
      : condition(type, false, problem.reason, problem.message);
  };
  const [problem] = problems;
  const said = plan.kind === 'execute' && problem !== undefined ? problem : describePlan(plan);
  // A plan whose steps are about to be executed is no problem, and a wait for a change is the end of all work.
  const isReady =
    problems.length === 0 && (plan.kind === 'execute' || (plan.kind === 'wait' && plan.phase === 'Steady'));
  return {
    conditions: [
      isReady
        ? condition(types.ready, true, 'Reconciled', 'All that is wanted is there, or under way')
        : condition(types.ready, false, said.reason, said.message),
      condition(
        types.demand,
        true,
        'Observed',
        `${counts.agentMachines} AgentMachines, ${counts.waiting} of them wait; ${counts.available} Agents are available, ${counts.provisioning} VMs under way`,
      ),
      unless(types.infraEnv, 'Available', 'The InfraEnv has a discovery ISO'),
      shortage === null
        ? condition(types.capacity, true, 'Satisfied', 'No AgentMachine waits for a VM that is not under way')
        : condition(types.capacity, false, shortage.reason, shortage.message),
      unless(types.vsphere, 'Ready', 'The vCenter of the pool answers'),
      iso.path === null
        ? { ...unless(types.iso, isoNotReady, 'The discovery ISO is not in the datastore yet'), status: 'False' }
        : unless(types.iso, 'ISOReady', `The discovery ISO is ${iso.path}`),
      drifted.length === 0
        ? condition(types.drifted, false, 'NoDrift', 'Every VM is of the template of the pool')
        : condition(types.drifted, true, ...sayDrift(situation)),
    ],
    plannedActions: actionsOf(situation, plan),
  };
}

/** By upstream's types. */
function actionsOf(situation: PoolSituation, plan: PoolPlan): AgentPoolStatus['plannedActions'] {
  const { wanted } = situation.observed;
  const deficit = wanted.length === 0 ? [] : [{ type: 'DemandDeficit', reason: shortageOf(situation)?.message ?? '' }];
  const steps = plan.kind === 'execute' ? plan.steps : [];
  const actions = steps.flatMap((step): AgentPoolStatus['plannedActions'] => {
    if (step.kind === 'prepare')
      return step.agents.map(({ agent }) => ({ type: 'PatchAgent', name: agent, reason: 'AgentPrepared' }));
    if (step.kind === 'deleteMachines')
      return step.machines.map(({ name }) => ({ type: 'DeleteMachine', name, reason: 'TemplateDrifted' }));
    if (step.kind !== 'release') return [];
    return step.agents.flatMap(({ name, cause, agent }) => [
      { type: 'DeleteVM', name, reason: cause },
      ...(agent === null ? [] : [{ type: 'DeleteAgent', name: agent.name, reason: cause }]),
    ]);
  });
  const held = allowed(situation).held.map(heldAction);
  const all = [...deficit, ...actions, ...held];
  return all.length === 0 ? [{ type: 'Noop', reason: 'Satisfied' }] : all.slice(0, mostActions);
}

/** Whether the object says so. */
export const isPoolSaid = ({ conditions, saidHeld, isListed }: ObservedPool, status: AgentPoolStatus): boolean =>
  isListed &&
  saidHeld.join() === listHeld(status.plannedActions).join() &&
  status.conditions.every((update) => {
    const said = conditions.find(({ type }) => type === update.type);
    return (
      said?.status === update.status &&
      said.reason === update.reason &&
      said.message === update.message &&
      said.observedGeneration === update.observedGeneration
    );
  });

/** What was refused is tried again after this. */
const refusedMs = 60_000;

/** Without kube-apiserver the finalizer could not be removed either; a stop is lifted some time. */
const awaited: readonly Problem['code'][] = ['KubernetesUnavailable', 'Stopped'];

/** A failure of the ISO is the condition’s: what there is serves on. So it is with one object that is refused. */
export function applyPoolFailure(
  memory: PoolMemory,
  step: PoolStep,
  problem: Problem,
  nowMs: number,
): PoolMemory | null {
  const refused = refusables.find((one) => one === step.kind);
  if (refused !== undefined && problem.code === 'ObjectRefused') {
    return {
      ...memory,
      refusals: { ...memory.refusals, [refused]: { message: problem.message, untilMs: nowMs + refusedMs } },
    };
  }
  if (step.kind === 'removeIsos') return awaited.includes(problem.code) ? null : { ...memory, areIsosLeft: true };
  if (step.kind !== 'refreshIso') return null;
  const failures = (memory.iso?.failures ?? 0) + 1;
  return { ...memory, iso: { problem, failures, untilMs: nowMs + retryAfterMs(failures, problem.reason) } };
}

/** Only those that have gone count as replaced. */
export function applyRelease(
  { refusals: { release: _before, ...others } = {}, ...memory }: PoolMemory,
  agents: readonly Pick<ReleasedAgent, 'name' | 'cause'>[],
  { released, refused = null }: { released: readonly string[]; refused?: string | null },
  nowMs: number,
): PoolMemory {
  const replaced = agents.filter((agent) => isReplaced(agent) && released.includes(agent.name));
  const release = refused === null ? null : { message: refused, untilMs: nowMs + refusedMs };
  const refusals = { ...others, ...(release && { release }) };
  return {
    ...memory,
    replacedMs: [...memory.replacedMs, ...replaced.map(() => nowMs)],
    ...(Object.keys(refusals).length > 0 && { refusals }),
  };
}

function pruneRefusals(memory: Pick<PoolMemory, 'refusals'>, observed: ObservedPool): Pick<PoolMemory, 'refusals'> {
  const refusals = openRefusals(memory, observed);
  return Object.keys(refusals).length === 0 ? {} : { refusals };
}

export const prunePool = (
  { replacing, forbidden, refusals, ...memory }: PoolMemory,
  situation: Pick<PoolSituation, 'observed' | 'nowMs'>,
): PoolMemory => ({
  ...memory,
  ...pruneRefusals({ ...(refusals && { refusals }) }, situation.observed),
  ...pruneReplacement({ ...(replacing && { replacing }), ...(forbidden && { forbidden }) }, situation),
  replacedMs: memory.replacedMs.filter((atMs) => atMs > situation.nowMs - hourMs),
  refused: memory.refused !== null && memory.refused.untilMs > situation.nowMs ? memory.refused : null,
});
