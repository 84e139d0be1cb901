import type { AnyActivity, Mutation } from './mutation.ts';

/** Verbs and rules of hosts that fail, broken on purpose, and the scenario that catches each. */

/** A host that is forced down is left so. */
const leaveForcedDown = (activity: string, original: AnyActivity): AnyActivity | null =>
  activity === 'ensureForcedDown'
    ? async (...args: never[]) => {
        const { forcedDown } = args[0] as unknown as { forcedDown: boolean };
        return forcedDown ? await original(...args) : null;
      }
    : null;

export const nodeFailureMutations: readonly Mutation[] = [
  {
    name: 'evacuatedUnfenced',
    breaks: 'servers are evacuated off a host that is forced down',
    caughtBy: 'fenced',
    says: /is down and not forced down/u,
    rewrite: { from: /if \(!state\.forcedDown\) return (?=\(_ref = closed)/u, to: 'if (false) return ' },
  },
  {
    name: 'forcedDownLeft',
    breaks: 'a host that is mended is not forced down any more',
    caughtBy: 'fenced',
    says: /for it to be in service again.*no longer forced down/u,
    mutate: leaveForcedDown,
  },
  {
    name: 'lifeUnheeded',
    breaks: 'a host that shows life does not count as off any more',
    caughtBy: 'fenced',
    says: /for it to be in service again.*it is held off until it is restored/u,
    rewrite: {
      from: /if \(why !== null\)\s+return planLoss\(state, why\);/u,
      to: '',
    },
  },
  {
    name: 'silenceUnheeded',
    breaks: 'a host that has power and is silent is fenced on the word of a quorum',
    caughtBy: 'hung',
    says: /for its servers to have been evacuated.*an operator to investigate/u,
    rewrite: { from: /mode === 'automatic' && verdict\.reason === 'NoWitness' && silence\.fence/u, to: 'false' },
  },
  {
    name: 'goneTakenForUnread',
    breaks: 'a dead host whose Node is gone is judged, and can be confirmed',
    caughtBy: 'nodeless',
    says: /for its servers to have been evacuated/u,
    rewrite: {
      from: /if \(node === null \|\| compute === null\) \{/u,
      to: "if (node === null || node.ready === 'Gone' || compute === null) {",
    },
  },
  {
    name: 'aliveUnheeded',
    breaks: 'a host that lives is handed over to be emptied live',
    caughtBy: 'guests',
    says: /for it to be handed over/u,
    rewrite: {
      from: /if \(verdict\.alive === 'yes'\) return planLive\(state, nowMs\);/u,
      to: "if (verdict.alive === 'yes') return planPowerOff(state, nowMs);",
    },
  },
];
