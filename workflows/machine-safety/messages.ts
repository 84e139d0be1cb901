import { setHandler } from '@temporalio/workflow';

import { providerIdKey } from '../../contracts/machine-safety/provider-id.ts';
import type { AskedLeftover } from '../../contracts/machine-safety/sweep.ts';
import { type ApproveSweep, asSignal, type DeleteLeftover, messages } from '../../contracts/messages.ts';
import { explain, invalidInput } from '../lib/failures.ts';
import type { RunHandle } from '../lib/lifecycle.ts';
import { awaitsApproval, judgeCandidates } from './judge-candidates.ts';
import type { SweepLifecycle } from './plan-sweep.ts';
import { approve, askForLeftover } from './sweep-memory.ts';

/** Sets the handlers of the run's own messages: each is an update, and a signal, which has no answer. */
export function listen(run: RunHandle<SweepLifecycle>): void {
  listenForApproval(run);
  listenForLeftovers(run);
}

/** With the start, or to a run that is open: it observes first, and deletes by what it finds. */
function listenForLeftovers(run: RunHandle<SweepLifecycle>): void {
  const take = (argument: unknown): string => {
    const asked = readLeftover(argument);
    run.update((memory) => askForLeftover(memory, asked));
    run.wake();
    return `${asked.kind} ${asked.id} is looked at once more, and deleted where it still is left over. \`drover sweep ls\` says what came of it.`;
  };
  setHandler(messages.deleteLeftover, take);
  setHandler(asSignal(messages.deleteLeftover), (argument) => unanswered(() => take(argument)));
}

function unanswered(take: () => unknown): void {
  try {
    take();
  } catch (error) {
    explain(error);
  }
}

/** An approval is of what is held back then: what comes later needs another one. */
function listenForApproval(run: RunHandle<SweepLifecycle>): void {
  const take = (argument: unknown): string => {
    const { by, reason } = readApproval(argument);
    const situation = run.situation();
    const waiting = situation === null ? [] : judgeCandidates(situation).filter(awaitsApproval);
    if (waiting.length === 0)
      throw invalidInput('Nothing waits for an approval: `drover sweep ls` says what holds each orphan back.');
    const approval = { by, reason, atMs: Date.now() };
    const ids = waiting.map(({ providerId }) => providerId);
    run.update((memory) => approve(memory, ids, approval));
    run.wake();
    const many = new Set(ids.map(providerIdKey)).size;
    return `Approved by ${by}: ${many === 1 ? '1 VM is' : `${many} VMs are`} judged once more, and deleted. What comes later needs another approval.`;
  };
  setHandler(messages.approve, take);
  setHandler(asSignal(messages.approve), (argument) => unanswered(() => take(argument)));
}

const longest = 1_024;

/** @throws InvalidInput */
export function readApproval(argument: unknown): { by: string; reason: string | null } {
  const given = argument ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) throw invalidInput('approve takes a JSON object');
  const { by = 'unknown', reason = null } = given as Partial<Record<keyof ApproveSweep, unknown>>;
  if (typeof by !== 'string' || by === '' || by.length > longest)
    throw invalidInput(`approve: by must be a text of at most ${longest} characters`);
  if (reason !== null && (typeof reason !== 'string' || reason.length > longest))
    throw invalidInput(`approve: reason must be a text of at most ${longest} characters`);
  return { by, reason };
}

const leftoverKinds: readonly unknown[] = ['port', 'volume'] satisfies DeleteLeftover['kind'][];

/** @throws InvalidInput */
export function readLeftover(argument: unknown): AskedLeftover {
  const given = Object(argument ?? {}) as Partial<Record<keyof DeleteLeftover, unknown>>;
  const textOf = (field: 'machineClass' | 'id' | 'by' | 'at', byDefault?: string): string => {
    const text = given[field] ?? byDefault;
    if (typeof text === 'string' && text.length <= longest && (text !== '' || byDefault === '')) return text;
    throw invalidInput(`deleteLeftover: ${field} must be a text of at most ${longest} characters`);
  };
  const { kind } = given;
  if (!leftoverKinds.includes(kind)) throw invalidInput(`deleteLeftover: kind must be ${leftoverKinds.join(', ')}`);
  return {
    machineClass: textOf('machineClass'),
    kind: kind as AskedLeftover['kind'],
    id: textOf('id'),
    by: textOf('by', 'unknown'),
    at: textOf('at', ''),
  };
}
