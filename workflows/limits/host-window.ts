import type { NovaQueue } from '../../contracts/allowance.ts';

/**
 * How many live migrations may be asked of a host on which Nova has kept some waiting. What waits holds slots of the
 * region for nothing, and its time in the queue counts against it. Pure.
 */
export interface HostWindow {
  /** How many Nova ran when it last kept others waiting. */
  runs: number;
  /** How many may be asked of it: that, or one more to try whether there is room now. */
  most: number;
  /** Observations since, in a row, in which all that may be asked of it was in progress and nothing waited. */
  quiet: number;
  /** After so many of them one more is tried; each time that is in vain, after twice as many. */
  patience: number;
}

const mostPatience = 20;

/**
 * The window after an observation of the region.
 *
 * @param before     null: nothing has waited so far
 * @param queue      what waits now, and what runs beside it; undefined: nothing waits
 * @param inProgress how much of the host's work is the consumer's own
 * @param others     how much is not
 * @param want       how much the consumer could use
 * @returns null: there is room for all that is wanted
 */
export function observeWindow(
  before: HostWindow | null,
  {
    queue,
    inProgress,
    others,
    want,
  }: { queue: NovaQueue | undefined; inProgress: number; others: number; want: number },
): HostWindow | null {
  // Where none runs, those that wait are just on their way through the queue, or the host is dead.
  if (queue !== undefined && queue.running > 0) return narrow(before, Math.max(1, queue.running - others));
  if (before === null || queue !== undefined || inProgress < before.most) return before;
  if (before.most >= want) return null;
  // What was tried has room: there may be more.
  if (before.most > before.runs) return { runs: before.most, most: before.most + 1, quiet: 0, patience: 1 };
  const quiet = before.quiet + 1;
  return quiet < before.patience ? { ...before, quiet } : { ...before, most: before.most + 1, quiet: 0 };
}

function narrow(before: HostWindow | null, runs: number): HostWindow {
  if (before === null) return { runs, most: runs, quiet: 0, patience: 1 };
  const wasTried = before.most > before.runs && runs < before.most;
  const patience = wasTried ? Math.min(mostPatience, before.patience * 2) : before.patience;
  return { runs, most: runs, quiet: 0, patience };
}

/** `Nova runs 1 at a time on node-3` */
export const describeWindow = (host: string, runs: number): string => `Nova runs ${runs} at a time on ${host}`;
