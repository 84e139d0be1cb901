import { type AnyFaultName, type FaultName, faultNames, moveFaultNames } from '../../faults/faults.ts';
import type { CallFate } from '../network.ts';

/** What becomes of one call of an outside system. A call that hangs is `slow` until its caller gives it up. */
export const callFaults = ['failBefore', 'failAfter', 'slow'] as const satisfies readonly CallFate[];
export type CallFault = (typeof callFaults)[number];

/** One fault at one place of a run of a scenario, counted from the scenario's start. */
export type Target =
  /** An activity call, by its step: `A/publishEviction.2`. */
  | { at: 'activity'; step: string; fault: AnyFaultName }
  /** A call of an outside system: `nova GET /servers/detail.3` is the third of that verb. */
  | { at: 'call'; call: string; fault: CallFault }
  /** The worker is killed with the workflow task of that number. */
  | { at: 'task'; number: number };

/** A scenario and the faults in it: one, or two in a sample. */
export interface SimulatedCell {
  scenario: string;
  targets: readonly Target[];
}

/** What a scenario without a fault does: where faults can be injected. */
export interface CleanRun {
  /** Activity calls. */
  steps: readonly string[];
  /** Calls of outside systems. */
  calls: readonly string[];
  /** Workflow tasks. */
  tasks: number;
}

const formatTarget = (target: Target): string => {
  if (target.at === 'activity') return `${target.step}/${target.fault}`;
  return target.at === 'call' ? `call ${target.call}/${target.fault}` : `task ${target.number}/kill`;
};

/** `happy/A/publishEviction.2/failAfter`: what a person types to see the cell again. Two faults are joined by ` + `. */
export const formatCell = ({ scenario, targets }: SimulatedCell): string =>
  `${scenario}/${targets.map(formatTarget).join(' + ')}`;

/** @throws where the text is no cell */
export function parseCell(text: string): SimulatedCell {
  const slash = text.indexOf('/');
  if (slash < 1) throw new Error(`${text} is no cell: scenario/step/fault, as the matrix prints them`);
  return {
    scenario: text.slice(0, slash),
    targets: text
      .slice(slash + 1)
      .split(' + ')
      .map(parseTarget),
  };
}

function parseTarget(text: string): Target {
  const slash = text.lastIndexOf('/');
  const [place, fault] = [text.slice(0, slash), text.slice(slash + 1)];
  const task = /^task (\d+)$/u.exec(place);
  if (task !== null) return { at: 'task', number: Number(task[1]) };
  if (place.startsWith('call ')) {
    const known = callFaults.find((one) => one === fault);
    if (known !== undefined) return { at: 'call', call: place.slice('call '.length), fault: known };
  }
  const anyFaults = [...faultNames, ...moveFaultNames];
  const known = anyFaults.find((one) => one === fault);
  if (known === undefined || place === '')
    throw new Error(`${text} is no step and fault; faults are ${[...anyFaults, ...callFaults, 'kill'].join(', ')}`);
  return { at: 'activity', step: place, fault: known };
}

/** Of an activity that one run calls more often, as a loop that waits does: its first calls and its last ones. */
const firstCalls = 5;
const lastCalls = 3;

/** Of the run that moves a server: `A1/awaitMigration.1`. */
const isOfMove = (step: string): boolean => /^[AB]\d+\//u.test(step);

/** What ends the run of a server does so at the first call of each of its activities. */
const faultsAt = (step: string, injected: readonly FaultName[]): readonly AnyFaultName[] =>
  isOfMove(step) && step.endsWith('.1') && injected.includes('cancel') ? [...injected, ...moveFaultNames] : injected;

/**
 * Every fault at every activity call, of a long loop at both of its ends: the cells that the matrix on a lab has too,
 * and those of {@link moveFaultNames}.
 */
export const activityCells = (
  scenario: string,
  { steps }: CleanRun,
  injected: readonly FaultName[] = faultNames,
): SimulatedCell[] =>
  [...Map.groupBy(steps, (step) => step.slice(0, step.lastIndexOf('.'))).values()]
    .flatMap((calls) => calls.filter((_, index) => index < firstCalls || index >= calls.length - lastCalls))
    .flatMap((step) =>
      faultsAt(step, injected).map((fault) => ({ scenario, targets: [{ at: 'activity' as const, step, fault }] })),
    );

/** Every fault at every call of an outside system, and a kill with every workflow task. */
export const fineCells = (scenario: string, { calls, tasks }: CleanRun): SimulatedCell[] => [
  ...calls.flatMap((call) =>
    callFaults.map((fault) => ({ scenario, targets: [{ at: 'call' as const, call, fault }] })),
  ),
  ...Array.from({ length: tasks }, (_, index) => ({ scenario, targets: [{ at: 'task' as const, number: index + 1 }] })),
];

/** Two faults in one run, so many pairs of the given cells. @param random in [0, 1) */
export function pairCells(cells: readonly SimulatedCell[], count: number, random: () => number): SimulatedCell[] {
  const pick = (): SimulatedCell => cells[Math.floor(random() * cells.length)] as SimulatedCell;
  return Array.from({ length: cells.length === 0 ? 0 : count }, () => {
    const [first, second] = [pick(), pick()];
    return { scenario: first.scenario, targets: [...first.targets, ...second.targets] };
  });
}
