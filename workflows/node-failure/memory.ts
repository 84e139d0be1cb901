import { fencedHold } from '../../contracts/ids.ts';
import type { Problem } from '../lib/failures.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { retryAfterMs } from '../lib/retry.ts';
import {
  applyConfirmation,
  applyDiskConsents,
  applyObservation,
  followBoot,
  judgeDiskConsent,
  resetProblems,
  type FencingState,
} from './fencing-state.ts';
import type { Answer, Command, NodeFailureLifecycle, NodeFailureMemory, NodeFailureStep } from './types.ts';

/** What the run of a node failure keeps from one observation to the next. All of it is pure. */

export const emptyMemory: NodeFailureMemory = {
  fencing: null,
  held: false,
  advised: false,
  failures: 0,
  guests: null,
  leftNovaMs: null,
  commands: [],
  answers: {},
  refusal: null,
};

type Change = (fencing: FencingState) => FencingState;

export const changeFencing = (memory: NodeFailureMemory, change: Change): NodeFailureMemory =>
  memory.fencing === null ? memory : { ...memory, fencing: change(memory.fencing) };

/** Applies a new observation, and answers by it what users have asked of the run before it was asked for. */
export function prune(
  memory: NodeFailureMemory,
  { input, observed, settings, askedMs, nowMs }: Situation<NodeFailureLifecycle>,
): NodeFailureMemory {
  const dated = { observed, askedMs, guests: memory.guests };
  const applied = applyObservation(memory.fencing, input.hypervisor, dated, settings, nowMs);
  const held = memory.held || (applied !== null && observed.hypervisor?.hold === fencedHold);
  // What is held may have been powered off.
  const fencing = applied === null || held ? applied : followBoot(applied, observed, askedMs);
  const leftNovaMs = observed.hasLeftNova ? (memory.leftNovaMs ?? askedMs) : null;
  return answerCommands({ ...memory, fencing, held, leftNovaMs }, askedMs, nowMs);
}

/** A command that came later than the observation was asked for is left to the next one. */
function answerCommands(memory: NodeFailureMemory, askedMs: number, nowMs: number): NodeFailureMemory {
  let { fencing } = memory;
  if (fencing === null) return memory;
  const due = memory.commands.filter(({ atMs }) => atMs <= askedMs);
  const given: [Command, Answer][] = [];
  for (const command of due) {
    const judged = judgeCommand(fencing, command, nowMs);
    fencing = judged.fencing;
    given.push([command, judged.answer]);
  }
  return { ...answer(memory, given), fencing };
}

function answer(memory: NodeFailureMemory, given: readonly [Command, Answer][]): NodeFailureMemory {
  const [, last] = given.at(-1) ?? [];
  if (last === undefined) return memory;
  return {
    ...memory,
    commands: memory.commands.filter(({ id }) => !given.some(([answered]) => answered.id === id)),
    answers: { ...memory.answers, ...Object.fromEntries(given.map(([{ id }, one]) => [id, one])) },
    refusal: last.isAccepted ? null : last.message,
  };
}

function judgeCommand(
  fencing: FencingState,
  command: Command,
  nowMs: number,
): { fencing: FencingState; answer: Answer } {
  if (command.kind === 'abandonDisks') {
    const { accepted, message } = judgeDiskConsent(command.abandonment, fencing, nowMs);
    return accepted === null
      ? { fencing, answer: { isAccepted: false, message: `Refused: ${message}` } }
      : { fencing: applyDiskConsents(fencing, accepted), answer: { isAccepted: true, message } };
  }
  const { confirmation } = command;
  const { state, decision } = applyConfirmation(fencing, confirmation, nowMs);
  const answer: Answer =
    decision.consent === 'refused'
      ? { isAccepted: false, message: `Refused (${decision.reason}): ${decision.message}` }
      : {
          isAccepted: true,
          message: `Accepted: ${confirmation.person} has made sure that ${state.incident.host} is off. Its servers are evacuated unless it shows life.`,
        };
  return { fencing: state, answer };
}

/** The run ends: no command is left without an answer. */
export const dismiss = (memory: NodeFailureMemory, message: string): NodeFailureMemory =>
  answer(
    memory,
    memory.commands.map((command) => [command, { isAccepted: false, message: `Refused: ${message}` }]),
  );

/** The incident is over. What has come since then may be another one. */
export const reopen = (memory: NodeFailureMemory): NodeFailureMemory => ({
  ...memory,
  fencing: null,
  leftNovaMs: null,
  failures: 0,
});

export const resetFailures = (memory: NodeFailureMemory): NodeFailureMemory => ({
  ...changeFencing(memory, resetProblems),
  failures: 0,
});

/** The planner waits until the step may be tried again. */
export function applyFailure(
  memory: NodeFailureMemory,
  { kind: step }: NodeFailureStep,
  { code, reason, message }: Problem,
  nowMs: number,
): NodeFailureMemory {
  const failures = memory.failures + 1;
  const problem = { message, retryAtMs: nowMs + retryAfterMs(failures, reason), step };
  // It was off for a moment, or was to be: a host that has power again may be booting.
  const isOnAgain = step === 'powerOff' && code === 'PowerStillOn';
  const change: Change = (fencing) => ({ ...(isOnAgain ? withPowerSince(fencing, nowMs) : fencing), problem });
  return { ...changeFencing(memory, change), failures };
}

const withPowerSince = (fencing: FencingState, sinceMs: number): FencingState => ({
  ...fencing,
  signs: {
    ...fencing.signs,
    witnesses: fencing.signs.witnesses.map((one) => (one.kind === 'bmc' ? { ...one, sinceMs } : one)),
  },
});
