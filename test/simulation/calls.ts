import type { ErrorCode } from '../../contracts/errors.ts';
import { errors } from '../../contracts/errors.ts';
import type { Problem } from '../../workflows/lib/failures.ts';
import type { Actor, Simulation, Wait } from './simulation.ts';

/** A call fails with a row of the error table. */
export class Fault extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode) {
    super(errors[code].advice);
    this.code = code;
  }
}

const problemOf = (code: ErrorCode): Problem => ({ code, reason: errors[code].reason, message: errors[code].advice });

/** How long Temporal tries a call again before its failure reaches the run. */
export const givenUpMs = 60_000;

type System = keyof Simulation['downUntilMs'];
const outageOf: Record<System, ErrorCode> = { nova: 'NovaUnavailable', kubernetes: 'KubernetesUnavailable' };

/** One call to an outside system: it takes time, its effect happens in the middle of it, and either may fail. */
export function call<Answer>(sim: Simulation, actor: Actor, system: System, effect: () => Answer, then: (answer: Answer) => void, fail: (problem: Problem) => void): void {
  const { clock, random } = sim;
  const { token } = actor;
  const deliver = (afterMs: number, tell: () => void): void => clock.at(clock.nowMs + afterMs, () => void (actor.token === token && tell()));
  clock.at(clock.nowMs + 20 + random() * 300, () => {
    const downForMs = sim.downUntilMs[system] - clock.nowMs;
    if (downForMs > givenUpMs) return deliver(givenUpMs, () => fail(problemOf(outageOf[system])));
    if (downForMs > 0) return clock.at(clock.nowMs + downForMs, () => void (actor.token === token && call(sim, actor, system, effect, then, fail)));
    const chance = random() * 100;
    if (chance < sim.faultPercent / 2) return deliver(givenUpMs, () => fail(problemOf(outageOf[system])));
    try {
      const answer = effect();
      if (chance < sim.faultPercent) return deliver(givenUpMs, () => fail(problemOf(outageOf[system])));
      deliver(10 + random() * 300, () => then(answer));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { code } = error;
      deliver(10 + random() * 300, () => fail(problemOf(code)));
    }
  });
}

/** Every mutation asks first whether `drover stop` is in force. */
export function passStopGate({ stopUntilMs, clock }: Simulation): void {
  if (clock.nowMs < stopUntilMs) throw new Fault('Stopped');
}

/** Waits on Nova, by polling: until `look` has an answer, or has one because of the deadline. */
export function waitOnNova<Answer>(
  sim: Simulation,
  actor: Actor,
  look: (isLate: boolean) => Answer | undefined,
  deadlineMs: number,
  then: (answer: Answer) => void,
  fail: (problem: Problem) => void,
): void {
  const { clock, random, waits } = sim;
  const { token } = actor;
  let due = false;
  const isOver = (): boolean => {
    if (actor.token === token && waits.has(wait)) return false;
    waits.delete(wait);
    return true;
  };
  const lookNow = (): void => {
    due = false;
    if (isOver() || clock.nowMs < sim.downUntilMs.nova) return;
    const answer = look(clock.nowMs >= deadlineMs);
    if (answer === undefined) return;
    waits.delete(wait);
    then(answer);
  };
  const wait: Wait = {
    check() {
      if (due || isOver()) return;
      due = true;
      clock.at(clock.nowMs + 50 + random() * 1_000, lookNow);
    },
    give() {
      if (isOver()) return;
      waits.delete(wait);
      fail(problemOf('NovaUnavailable'));
    },
  };
  waits.add(wait);
  wait.check();
  clock.at(deadlineMs, () => wait.check());
  const downForMs = sim.downUntilMs.nova - clock.nowMs;
  if (downForMs > givenUpMs) clock.at(clock.nowMs + givenUpMs, () => wait.give());
  else if (downForMs > 0) clock.at(sim.downUntilMs.nova, () => wait.check());
}

/** A system goes down; Nova's waits give up when that lasts. */
export function takeDown(sim: Simulation, system: System, forMs: number): void {
  const { clock, waits, downUntilMs } = sim;
  downUntilMs[system] = Math.max(downUntilMs[system], clock.nowMs + forMs);
  clock.at(downUntilMs[system], () => {
    for (const wait of waits) wait.check();
  });
  if (system !== 'nova' || forMs <= givenUpMs) return;
  const waiting = [...waits];
  clock.at(clock.nowMs + givenUpMs, () => {
    for (const wait of waiting) wait.give();
  });
}
