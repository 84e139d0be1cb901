import type { AgentPoolStatus, HeldAgent } from './agent-pool.ts';

/** What a pool plans, as its status lists it: by upstream's types, and what is held by what it waits for. */

type PlannedAction = AgentPoolStatus['plannedActions'][number];

/** A status lists no more of them. */
export const mostActions = 200;

export const heldAction = ({ name, waitsFor, message }: HeldAgent): PlannedAction => ({
  type: 'DeleteVM',
  name,
  reason: `${waitsFor}: ${message}`,
});

const heldForm = /^([A-Z][A-Za-z]*): (.*)$/su;

/** Null: it is not held. */
export function readHeld({
  type,
  name,
  reason,
}: {
  type: string;
  name?: string | undefined;
  reason: string;
}): Pick<HeldAgent, 'name' | 'waitsFor' | 'message'> | null {
  const [, waitsFor, message] = heldForm.exec(reason) ?? [];
  return type !== 'DeleteVM' || name === undefined || waitsFor === undefined || message === undefined
    ? null
    : { name, waitsFor, message };
}

/** `worker-3 AgentBound: its Agent is bound`, sorted. A message may say what an approval is to name. */
export const listHeld = (actions: readonly Parameters<typeof readHeld>[0][]): string[] =>
  actions
    .flatMap((action) => {
      const held = readHeld(action);
      return held === null ? [] : [`${held.name} ${held.waitsFor}: ${held.message}`];
    })
    .toSorted();
