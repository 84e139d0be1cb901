import type { ObservedPool, ReplacedMachine } from '../../contracts/agent-pool/agent-pool.ts';
import type { Step } from '../lib/plan.ts';

/** Machines are deleted whose VMs are of another template, and the pool says how far that is. All of it is pure. */

export interface MachineStep {
  kind: 'deleteMachines';
  machines: ReplacedMachine[];
}

export interface ReplacementMemory {
  /**
   * As many AgentMachines as there were when a Machine was deleted last: so many must be there again before another one
   * is. Left out: none was.
   */
  replacing?: { agentMachines: number };
  /** Why Machines may not be deleted, for people. Left out: they may. */
  forbidden?: { message: string; untilMs: number };
}

export interface ReplacementSituation {
  observed: Pick<ObservedPool, 'replacement' | 'drifted' | 'counts' | 'problems'>;
  memory: ReplacementMemory;
  nowMs: number;
}

/** Not while the pool could not make VMs. */
export function planReplacement({ observed, memory, nowMs }: ReplacementSituation): (MachineStep & Step)[] {
  const { machines = [] } = observed.replacement ?? {};
  if (machines.length === 0 || observed.problems.length > 0) return [];
  if (isShort({ observed, memory }) || forbiddenOf(memory, nowMs) !== null) return [];
  const names = machines.map(({ name }) => name).join(', ');
  const what = machines.length === 1 ? `Machine ${names}, whose VM is` : `Machines ${names}, whose VMs are`;
  return [
    {
      kind: 'deleteMachines',
      phase: 'Releasing',
      summary: `Delete ${what} of another template`,
      machines,
      publish: 'before',
    },
  ];
}

/** Cluster API has not made another one in the place of the last Machine that was deleted. */
const isShort = ({ observed: { counts }, memory }: Omit<ReplacementSituation, 'nowMs'>): boolean =>
  counts.agentMachines < (memory.replacing?.agentMachines ?? 0);

const forbiddenOf = ({ forbidden }: ReplacementMemory, nowMs: number): string | null =>
  forbidden !== undefined && forbidden.untilMs > nowMs ? forbidden.message : null;

export function pruneReplacement(
  { replacing, forbidden }: ReplacementMemory,
  { observed: { replacement, counts }, nowMs }: Pick<ReplacementSituation, 'observed' | 'nowMs'>,
): ReplacementMemory {
  if (replacement === undefined) return {};
  const isBack = replacement.isQuiet && counts.agentMachines >= (replacing?.agentMachines ?? 0);
  return {
    ...(replacing !== undefined && !isBack && { replacing }),
    ...(forbidden !== undefined && forbidden.untilMs > nowMs && { forbidden }),
  };
}

/** @returns reason and message of the condition, where VMs are of another template */
export function sayDrift({ observed, memory, nowMs }: ReplacementSituation): [reason: string, message: string] {
  const { drifted, replacement } = observed;
  const [are, names] = [drifted.length === 1 ? 'is' : 'are', listFew(drifted.map(({ name }) => name))];
  if (replacement === undefined)
    return ['TemplateChanged', `${count(drifted, 'VM')} ${are} of another template: ${names}`];
  const { replaced, total } = replacement;
  const said = `${replaced} of ${total} ${replaced === 1 ? 'is' : 'are'} replaced, and ${names} ${are} of another template`;
  const forbidden = forbiddenOf(memory, nowMs);
  if (forbidden !== null) return ['ReplacementForbidden', `${said}: ${forbidden}`];
  return ['Replacing', `${said}: ${sayNext({ observed, memory }, replacement)}`];
}

function sayNext(
  { observed, memory }: Omit<ReplacementSituation, 'nowMs'>,
  { isQuiet, waitsFor, machines }: NonNullable<ObservedPool['replacement']>,
): string {
  const { counts, problems } = observed;
  if (isQuiet && isShort({ observed, memory }))
    return `waiting for Cluster API to make another Machine, as ${counts.agentMachines} of ${memory.replacing?.agentMachines ?? 0} AgentMachines are there since the last one was deleted; if fewer are wanted, \`drover retry pool\` goes on`;
  if (waitsFor !== null) return `waiting for ${waitsFor.message}`;
  if (problems[0] !== undefined) return problems[0].message;
  const [first] = machines;
  return first === undefined ? 'no Machine is left to delete' : `Machine ${first.name} is next`;
}

export const count = (list: readonly unknown[], what: string): string =>
  `${list.length} ${what}${list.length === 1 ? '' : 's'}`;

const fewNames = 5;
const listFew = (names: readonly string[]): string =>
  `${names.slice(0, fewNames).join(', ')}${names.length > fewNames ? ` and ${names.length - fewNames} more` : ''}`;
