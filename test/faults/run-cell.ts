import { WorkflowNotFoundError } from '@temporalio/client';
import type { Condition } from '../../contracts/conditions.ts';
import { evictionFinalizer } from '../../contracts/ids.ts';
import { kindTable } from '../../contracts/kinds/table.ts';
import { listEvictions } from '../flows/clear-leftovers.ts';
import { until } from '../flows/until.ts';
import { violations } from '../invariants/violations.ts';
import { type AnyFaultName, faultOf } from './faults.ts';
import type { Fixture } from './fixture.ts';
import type { Scenario } from './scenario.ts';
import { gone } from './scenario.ts';
import type { HostAlias } from './context-base.ts';
import type { ScenarioContext } from './context.ts';
import { openContext } from './context.ts';
import { type Call, isOfOther } from './step.ts';
import type { AnyObject } from './subjects.ts';
import type { Injection, Recording } from './fault-control.ts';

/** One fault at one step. */
export interface Cell {
  scenario: string;
  step: string;
  fault: AnyFaultName;
}

export interface CellResult {
  /** What went wrong, a sentence each; empty: the cell passed. */
  complaints: string[];
  /** Whether the fault was injected. */
  injected: boolean;
  seconds: number;
  steps: string[];
}

/**
 * From the fault to an end that does not change any more. The longest cells time out once and start their copy again.
 */
const convergeMs = 150_000;

/** `happy/A/publishEviction.2/failAfter`: what a person types to see the cell again. */
export const formatCell = ({ scenario, step, fault }: Cell): string => `${scenario}/${step}/${fault}`;

/** Runs the scenario on the fixture, with the fault or without, as {@link runScenario} does, and clears up. */
export async function runCell(fixture: Fixture, scenario: Scenario, cell: Cell | null): Promise<CellResult> {
  const startedMs = Date.now();
  const { context, complaints, injected, steps } = await runScenario(fixture, scenario, cell === null ? [] : [cell]);
  await context.clear().catch((error: unknown) => complaints.push(`not cleared up: ${(error as Error).message}`));
  return { complaints, injected: injected.length > 0, seconds: (Date.now() - startedMs) / 1_000, steps };
}

const neverCame = (step: string): string => `${step} never came`;
const nothingInjected = ', so nothing was injected; there were ';

/** Whether a complaint says only that the place of a fault never came. Pure. */
export const isMissed = (complaint: string): boolean => complaint.includes(nothingInjected);

/**
 * A cell that was run until its step came: the last attempt counts, and whatever else was wrong with the earlier ones,
 * which were clean runs. Pure.
 */
export function joinAttempts({ step }: Pick<Cell, 'step'>, attempts: readonly CellResult[]): Omit<CellResult, 'steps'> {
  const { steps: _, complaints, ...last } = attempts.at(-1) as CellResult;
  const earlier = attempts
    .slice(0, -1)
    .flatMap((attempt, index) =>
      attempt.complaints
        .filter((complaint) => !complaint.startsWith(neverCame(step)))
        .map((complaint) => `attempt ${index + 1}, without the step: ${complaint}`),
    );
  return { ...last, complaints: [...earlier, ...complaints] };
}

export interface ScenarioResult extends Pick<CellResult, 'complaints' | 'steps'> {
  context: ScenarioContext;
  /** Steps that got their fault. */
  injected: string[];
}

/**
 * Runs the scenario with these faults until all objects are reconciled or blocked; checks its end and the invariants.
 */
export async function runScenario(
  fixture: Fixture,
  scenario: Scenario,
  injections: readonly Pick<Cell, 'step' | 'fault'>[],
): Promise<ScenarioResult> {
  let recording: Recording | null = null;
  const context: ScenarioContext = openContext(fixture, scenario.subject, () => recording?.steps ?? []);
  const complaints: string[] = [];
  try {
    await scenario.prepare(context);
    recording = fixture.record(
      context.roles,
      injections.map((one) => injectionOf(context, one)),
    );
    await scenario.start(context);
    await scenario.meanwhile?.(context);
    await untilConverged(context, scenario);
    complaints.push(
      ...(await judgeEnds(
        context,
        scenario,
        injections.map(({ fault }) => fault),
      )),
    );
    complaints.push(...((await scenario.judge?.(context)) ?? []));
    complaints.push(...violations(await fixture.readWorld(context)));
  } catch (error) {
    complaints.push((error as Error).message);
  }
  const { failure = null, injected = new Map<string, Call>(), steps = [] } = recording ?? {};
  if (failure !== null) complaints.push(`the fault could not be injected: ${failure.message}`);
  for (const { step } of injections) {
    if (!injected.has(step)) complaints.push(`${neverCame(step)}${nothingInjected}${steps.join(', ')}`);
  }
  fixture.record(new Map(), []);
  context.stopVolumes();
  context.stopPolicies();
  return { context, complaints, injected: [...injected.keys()], steps: [...steps] };
}

function injectionOf(context: ScenarioContext, { step, fault }: Pick<Cell, 'step' | 'fault'>): Injection {
  const { order, action } = faultOf(fault);
  const { client } = context.fixture;
  const alias: HostAlias = step.startsWith('B') ? 'B' : 'A';
  // Some runs belong to no single object, and a host's failure has a run beside that of its object.
  const own = isOfOther(step) || step.startsWith(`${alias}-failure/`);
  const actions: Record<typeof action, (call: Call) => Promise<void>> = {
    none: async () => undefined,
    killWorker: () => context.fixture.replaceWorker(),
    // One that has ended cannot be cancelled: then nothing was injected, and the cell says so.
    cancel: async ({ workflowId }) =>
      void (await (own ? client.workflow.getHandle(workflowId) : context.run(alias)).cancel()),
    async terminate({ workflowId }) {
      await unlessEnded(() =>
        (own ? client.workflow.getHandle(workflowId) : context.run(alias)).terminate('fault matrix'),
      );
      await context.tell(alias, 'resync');
    },
    async signalTwice() {
      await Promise.all([context.tell(alias, 'annotations'), context.tell(alias, 'annotations')]);
    },
    changeSpec: () => context.changeSpec(alias),
    cancelMove: async ({ workflowId }) => void (await client.workflow.getHandle(workflowId).cancel()),
    terminateMove: async ({ workflowId }) =>
      void (await client.workflow.getHandle(workflowId).terminate('fault matrix')),
  };
  return { step, order, action: actions[action] };
}

/** The object's own may have ended while that of one of its servers goes on: then it is only started again. */
async function unlessEnded(stop: () => Promise<unknown>): Promise<void> {
  try {
    await stop();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** The object of every host is settled and let go, and its run is closed. */
async function untilConverged(context: ScenarioContext, scenario: Scenario): Promise<void> {
  for (const alias of context.aliases) {
    await until('it to settle', convergeMs, async () => (await unsettled(context, scenario, alias)) ?? true);
    await until('the run to be closed', convergeMs, async () => {
      const { status } = await context.run(alias).describe();
      return status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW' ? true : `${alias} is ${status.name}`;
    });
  }
  // A round more may have begun between the two looks.
  const again = await Promise.all(context.aliases.map((alias) => unsettled(context, scenario, alias)));
  if (again.some((words) => words !== null)) await untilConverged(context, scenario);
}

/** What the object of the host still has to do; null: nothing. */
async function unsettled(
  context: ScenarioContext,
  { ends, subject }: Scenario,
  alias: HostAlias,
): Promise<string | null> {
  const object = await context.read(alias);
  if (object === null) return ends[alias] === gone ? null : `${alias} has no object yet`;
  const { reason, message } = endOf(context, object);
  if (!context.subject.isSettled(object)) return `${alias} is ${reason}: ${message}`;
  if (object.metadata.finalizers?.includes(evictionFinalizer) === true)
    return `${alias} is ${reason} and carries its finalizer`;
  return subject === 'Hypervisor' ? await ending(context, alias) : null;
}

/**
 * An Eviction of the host whose run has written its result, and has still to let go, as it may where the host's
 * run was cancelled.
 */
async function ending({ fixture, hostOf }: ScenarioContext, alias: HostAlias): Promise<string | null> {
  const found = (await listEvictions(fixture.environment.api)).find(
    (eviction) =>
      eviction.spec.hypervisor === hostOf(alias) &&
      eviction.metadata.finalizers?.includes(evictionFinalizer) === true &&
      kindTable.Eviction.isReconciled(eviction, 'act'),
  );
  return found === undefined ? null : `Eviction ${found.metadata.name} of ${alias} carries its finalizer`;
}

const endOf = ({ subject }: ScenarioContext, object: AnyObject | null): Pick<Condition, 'reason' | 'message'> =>
  object === null ? { reason: gone, message: 'there is no object' } : subject.endOf(object);

async function judgeEnds(
  context: ScenarioContext,
  { ends, endsAfter }: Scenario,
  injected: readonly AnyFaultName[],
): Promise<string[]> {
  const mayStop = injected.some((fault) => faultOf(fault).mayStop);
  const found = await Promise.all(
    context.aliases.map(async (alias) => {
      const object = await context.read(alias);
      const { reason, message } = endOf(context, object);
      const others = injected.flatMap((fault) => endsAfter?.[fault]?.[alias] ?? []);
      const right = [...new Set(others.length > 0 ? others : [ends[alias] ?? []].flat())];
      const isRight = right.includes(reason) || (mayStop && object !== null && context.subject.isStopped(object));
      return isRight ? [] : [`${alias} ended as ${reason} instead of ${right.join(' or ')}: ${message}`];
    }),
  );
  return found.flat();
}
