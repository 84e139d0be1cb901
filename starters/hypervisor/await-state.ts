import { findCondition } from '../../contracts/conditions.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { EvictionObject } from '../eviction/eviction-objects.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';
import { oneLine } from '../render/table.ts';

/** Where a host is to come to. */
export interface Target {
  state: LifecycleState;
  /**
   * Whether the object asks for it: `not yet` where drover has to write that first, `no` where a user has
   * taken it back.
   */
  asked(hypervisor: HypervisorObject | null): 'yes' | 'not yet' | 'no';
}

export type Arrival = { kind: 'going' | 'reached' | 'elsewhere'; message: string };

/**
 * Whether a host has come to where a command sent it, is blocked somewhere else, or is on its way. What its lifecycle
 * says of an earlier spec counts for nothing.
 *
 * @param eviction that empties it now, whose message are fresher than what the Hypervisor repeats of them
 */
export function judgeArrival(
  hypervisor: HypervisorObject | null,
  eviction: EvictionObject | null,
  target: Target,
): Arrival {
  const asked = target.asked(hypervisor);
  if (hypervisor === null)
    return asked === 'not yet'
      ? { kind: 'going', message: 'There is no Hypervisor yet' }
      : { kind: 'elsewhere', message: 'Its Hypervisor is gone' };
  if (hypervisor.deleting) return { kind: 'elsewhere', message: 'Its Hypervisor is being deleted' };
  if (asked === 'no')
    return { kind: 'elsewhere', message: `A user has changed what Hypervisor ${hypervisor.name} asks for meanwhile` };
  const lifecycle = lifecycleOf(hypervisor);
  if (asked === 'not yet' || lifecycle === undefined || !isCurrent(hypervisor))
    return { kind: 'going', message: 'No run has said anything of it yet' };
  const message = `${lifecycle.reason}: ${oneLine(lifecycle.message)}`;
  if (lifecycle.status === 'Unknown')
    return {
      kind: 'going',
      message: eviction === null || lifecycle.reason !== 'Evicting' ? message : describeEmptying(eviction),
    };
  return { kind: hasArrived(hypervisor, target) ? 'reached' : 'elsewhere', message };
}

function hasArrived(hypervisor: HypervisorObject, { state }: Target): boolean {
  const { reason, status } = lifecycleOf(hypervisor) ?? {};
  if (reason === state) return status === 'True';
  // A host whose lifecycle is not driven is never called active; enabled is what it can be.
  const isEnabled = findCondition(hypervisor.conditions, hypervisorConditions.disabled)?.status === 'False';
  return state === 'Active' && !hypervisor.lifecycleEnabled && isEnabled;
}

const describeEmptying = ({ name, conditions }: EvictionObject): string => {
  const evicting = findCondition(conditions, evictionConditions.evicting);
  return `Evicting: Eviction ${name}: ${oneLine(evicting?.message ?? 'not begun yet')}`;
};

/** What is observed while a host is waited for. */
export interface ArrivalSource {
  hypervisor(): Promise<HypervisorObject | null>;
  /** The Eviction of the host that has not ended; null: none. */
  eviction(): Promise<EvictionObject | null>;
}

interface AwaitOptions {
  intervalMs: number;
  /** Milliseconds since the epoch. */
  untilMs: number;
  clock: Clock;
  abort: AbortSignal;
  /** Whatever is new. */
  show: (message: string) => void;
}

/**
 * Waits until a host has arrived, is blocked elsewhere, or the time is over (`going`), through
 * absences of kube-apiserver.
 */
export async function awaitArrival(
  source: ArrivalSource,
  target: Target,
  { intervalMs, untilMs, clock, abort, show }: AwaitOptions,
): Promise<Arrival> {
  let shown: string | null = null;
  for (;;) {
    const arrival = await observe(source, target).catch((error: unknown): Arrival => {
      abort.throwIfAborted();
      const { exitCode, message } = explainError(error);
      if (exitCode !== exitCodes.unreachable) throw error;
      return { kind: 'going', message: `${message} Still trying.` };
    });
    if (arrival.kind !== 'going' || clock.now() >= untilMs) return arrival;
    if (arrival.message !== shown) show(arrival.message);
    shown = arrival.message;
    await clock.sleep(intervalMs, abort);
  }
}

async function observe(source: ArrivalSource, target: Target): Promise<Arrival> {
  const hypervisor = await source.hypervisor();
  const isEmptied = hypervisor !== null && lifecycleOf(hypervisor)?.reason === 'Evicting';
  return judgeArrival(hypervisor, isEmptied ? await source.eviction().catch(() => null) : null, target);
}
