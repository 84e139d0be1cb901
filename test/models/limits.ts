import type { AllowanceRequest, AllowanceObservation, NovaQueue } from '../../contracts/allowance.ts';
import type { Membership } from '../../workflows/limits/membership.ts';
import {
  afterLease,
  afterReport,
  allowanceOf,
  applyAnswer,
  noMembership,
  report,
  reportDueMs,
} from '../../workflows/limits/membership.ts';
import type { Answer, Ledger } from '../../workflows/limits/ledger.ts';
import { allocate, applyFailedDelivery, applyRequest, newLedger } from '../../workflows/limits/ledger.ts';
import { beginObservation, endObservation } from '../../workflows/limits/observe.ts';

/**
 * Consumers, a ledger and what is between them, for tests: reports may be late, doubled and out of order, answers late;
 * a run may be killed while its work goes on.
 */
export interface Simulation {
  nowMs: number;
  limit: number;
  /** The world shows tasks of one place, and not whose they are. */
  slots: boolean;
  /** How many migrations Nova runs at once on each host; the rest is queued, and ends all the same. */
  novaRuns: number;
  /** What an observation says besides. */
  more: Partial<AllowanceObservation>;
  ledger: Ledger;
  runs: SimulatedRun[];
  /** On their way to the ledger, in any order. */
  reports: (AllowanceRequest & { sentMs: number })[];
  /** On their way to the consumers, in this order for each. */
  answers: Answer[];
  /** When all that could read their answers last did. */
  answersReadMs: number;
  /** What a look that has begun will find. */
  found: { world: AllowanceObservation; closed: string[] } | null;
}

export interface SimulatedRun {
  consumer: string;
  runId: string;
  host: string;
  open: boolean;
  /** Open, but no worker runs it: it neither reports nor begins anything, nor reads its answers. */
  mute: boolean;
  deadline: string | null;
  membership: Membership;
  using: number;
  /** How much is still to be begun. */
  todo: number;
  parallelism: number;
  /** How much it has finished. */
  done: number;
}

export const checkMs = 1_000;
export const silentMs = 10_000;
export const renewMs = 5_000;

type Plan = Pick<SimulatedRun, 'todo' | 'parallelism'> & Partial<Pick<SimulatedRun, 'deadline'>>;

export function simulate(limit: number, runs: Plan[], slots = false): Simulation {
  const open = runs.map((run, index) => begin(`eviction/${index}`, slots ? 'lab' : `host-${index}`, 1, run));
  return {
    nowMs: 1_000_000,
    limit,
    slots,
    novaRuns: Infinity,
    more: {},
    ledger: newLedger(1_000_000),
    runs: open,
    reports: [],
    answers: [],
    answersReadMs: 1_000_000,
    found: null,
  };
}

const begin = (consumer: string, host: string, number: number, run: Plan): SimulatedRun => ({
  deadline: null,
  ...run,
  consumer,
  host,
  runId: `${consumer}#${number}`,
  open: true,
  mute: false,
  membership: noMembership,
  using: 0,
  done: 0,
});

export const inUse = ({ runs }: Simulation): number => runs.reduce((total, { using }) => total + using, 0);

const needOf = ({ using, todo, parallelism }: SimulatedRun) => ({ using, want: Math.min(parallelism, using + todo) });

/** Begins one piece of work where the share allows it. */
export function work(simulation: Simulation, run: SimulatedRun): void {
  if (!run.open || run.mute) return;
  run.membership = afterLease(run.membership, simulation.nowMs);
  if (run.todo === 0 || run.using >= Math.min(run.parallelism, allowanceOf(run.membership))) return;
  run.using += 1;
  run.todo -= 1;
}

/** Work ends by itself, also that of a run that is closed. */
export function finish(run: SimulatedRun): void {
  if (run.using === 0) return;
  run.using -= 1;
  run.done += 1;
}

/** Reports where that is due; `anyway`: also where not. */
export function say(simulation: Simulation, run: SimulatedRun, anyway = false): void {
  const dueMs = reportDueMs(run.membership, needOf(run), renewMs);
  if (!run.open || run.mute || dueMs === null || (dueMs > simulation.nowMs && !anyway)) return;
  const { membership, request } = report(run.membership, needOf(run), simulation.nowMs);
  run.membership = membership;
  const { consumer, runId, host, deadline } = run;
  simulation.reports.push({ ...request, consumer, runId, host, deadline, sentMs: simulation.nowMs });
  if (membership === noMembership && run.todo === 0) run.open = false;
}

/** The report at `index` arrives; `again`: and will arrive once more. */
export function arrive(simulation: Simulation, index: number, again = false): void {
  const said = simulation.reports[index];
  if (said === undefined) return;
  if (!again) simulation.reports.splice(index, 1);
  const { sentMs, ...request } = said;
  simulation.ledger = applyRequest(simulation.ledger, request, simulation.nowMs);
  const run = simulation.runs.find(({ runId }) => runId === said.runId);
  if (run !== undefined) run.membership = afterReport(run.membership, sentMs, simulation.nowMs);
  pass(simulation);
}

export function pass(simulation: Simulation): void {
  const { ledger, answers } = allocate(simulation.ledger, simulation.nowMs);
  simulation.ledger = ledger;
  simulation.answers.push(...answers);
}

/** The first answer on its way to `run` arrives, or finds no run. */
export function answered(simulation: Simulation, run: SimulatedRun): void {
  if (run.open && run.mute) return;
  const index = simulation.answers.findIndex(({ runId }) => runId === run.runId);
  const [answer] = index < 0 ? [] : simulation.answers.splice(index, 1);
  if (answer === undefined) return;
  if (run.open) run.membership = applyAnswer(run.membership, answer.granted);
  else simulation.ledger = applyFailedDelivery(simulation.ledger, answer, simulation.nowMs);
}

/** Time passes. An answer that was sent is with its run long before a lease ends: the allocator waits for that. */
export function elapse(simulation: Simulation, ms: number): void {
  simulation.nowMs += ms;
  if (simulation.nowMs - simulation.answersReadMs < renewMs) return;
  for (const run of simulation.runs) readAnswers(simulation, run);
  simulation.answersReadMs = simulation.nowMs;
}

/** A worker runs it again: what has come meanwhile is read before anything else. */
export function speak(simulation: Simulation, run: SimulatedRun): void {
  run.mute = false;
  readAnswers(simulation, run);
}

function readAnswers(simulation: Simulation, run: SimulatedRun): void {
  while (!(run.open && run.mute) && simulation.answers.some(({ runId }) => runId === run.runId))
    answered(simulation, run);
}

export function kill(run: SimulatedRun): void {
  run.open = false;
}

/** Another run takes up what closed ones left undone. */
export function restart(simulation: Simulation, run: SimulatedRun): void {
  const siblings = simulation.runs.filter(({ consumer }) => consumer === run.consumer);
  if (siblings.some(({ open }) => open)) return;
  const todo = siblings.reduce((total, sibling) => total + sibling.todo, 0);
  for (const sibling of siblings) sibling.todo = 0;
  const { consumer, host, parallelism, deadline } = run;
  simulation.runs.push(begin(consumer, host, siblings.length + 1, { todo, parallelism, deadline }));
}

export function startLook(simulation: Simulation): void {
  if (simulation.ledger.covering === null) simulation.ledger = beginObservation(simulation.ledger);
}

/** The moment, somewhere in a look, that its result is of. */
export function takePicture({ ledger, limit, runs, slots, novaRuns, more }: Simulation): Simulation['found'] {
  const inProgress: Record<string, number> = {};
  for (const { host, using } of runs) if (using > 0) inProgress[host] = (inProgress[host] ?? 0) + using;
  const closed = runs.filter(({ open }) => !open).map(({ runId }) => runId);
  const asked = new Set(ledger.holders.map(({ runId }) => runId));
  const tasks = runs.flatMap(({ runId, using, done }) =>
    Array.from({ length: using }, (_, index) => `${runId}/${done + index}`),
  );
  return {
    world: {
      limit,
      checkMs,
      silentMs,
      inProgress,
      ...(slots ? { tasks } : { queues: queuesIn(inProgress, novaRuns) }),
      ...more,
    },
    closed: closed.filter((runId) => asked.has(runId)),
  };
}

const queuesIn = (inProgress: Readonly<Record<string, number>>, novaRuns: number): Record<string, NovaQueue> =>
  Object.fromEntries(
    Object.entries(inProgress)
      .filter(([, count]) => count > novaRuns)
      .map(([host, count]) => [host, { running: novaRuns, waiting: count - novaRuns }]),
  );

export function stopLook(simulation: Simulation): void {
  if (simulation.ledger.covering === null) return;
  const { world, closed } = (simulation.found ?? takePicture(simulation))!;
  simulation.found = null;
  simulation.ledger = endObservation(simulation.ledger, world, closed, simulation.nowMs);
  pass(simulation);
}

/** One round in which everything arrives and every run does what is due. */
export function round(simulation: Simulation, { finishing }: { finishing: boolean }): void {
  simulation.nowMs += checkMs;
  startLook(simulation);
  stopLook(simulation);
  for (const run of simulation.runs) {
    if (finishing) finish(run);
    readAnswers(simulation, run);
    for (let piece = 0; piece < run.parallelism; piece += 1) work(simulation, run);
    say(simulation, run);
  }
  while (simulation.reports.length > 0) arrive(simulation, 0);
}
