import { findCondition } from '../../contracts/conditions.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { EvictionObject } from '../eviction/eviction-facts.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { HypervisorObject } from './hypervisor-facts.ts';
import { isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';
import { oneLine } from '../render/table.ts';

/** Where a host is to come to. */
export interface Target {
  state: LifecycleState;
  /** Whether the object asks for it: `not yet` where drover has to write that first, `no` where somebody has taken it back. */
  asked(hypervisor: HypervisorObject | null): 'yes' | 'not yet' | 'no';
}

export type Arrival = { is: 'going' | 'reached' | 'elsewhere'; words: string };

/**
 * Whether a host has come to where a command sent it, rests somewhere else, or is on its way. What its lifecycle says of an earlier spec
 * counts for nothing.
 *
 * @param eviction that empties it now, whose words are fresher than what the Hypervisor repeats of them
 */
export function judgeArrival(
  hypervisor: HypervisorObject | null,
  eviction: EvictionObject | null,
  target: Target,
): Arrival {
  const asked = target.asked(hypervisor);
  if (hypervisor === null)
    return asked === 'not yet'
      ? { is: 'going', words: 'There is no Hypervisor yet' }
      : { is: 'elsewhere', words: 'Its Hypervisor is gone' };
  if (hypervisor.deleting) return { is: 'elsewhere', words: 'Its Hypervisor is being deleted' };
  if (asked === 'no')
    return { is: 'elsewhere', words: `Somebody has changed what Hypervisor ${hypervisor.name} asks for meanwhile` };
  const lifecycle = lifecycleOf(hypervisor);
  if (asked === 'not yet' || lifecycle === undefined || !isCurrent(hypervisor))
    return { is: 'going', words: 'No run has said anything of it yet' };
  const words = `${lifecycle.reason}: ${oneLine(lifecycle.message)}`;
  if (lifecycle.status === 'Unknown')
    return {
      is: 'going',
      words: eviction === null || lifecycle.reason !== 'Evicting' ? words : describeEmptying(eviction),
    };
  return { is: hasArrived(hypervisor, target) ? 'reached' : 'elsewhere', words };
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

/** What is looked at while a host is waited for. */
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
  /** Told whatever is new. */
  tell: (words: string) => void;
}

/** Waits until a host has arrived, rests elsewhere, or the time is over (`going`), through absences of kube-apiserver. */
export async function awaitArrival(
  source: ArrivalSource,
  target: Target,
  { intervalMs, untilMs, clock, abort, tell }: AwaitOptions,
): Promise<Arrival> {
  let told: string | null = null;
  for (;;) {
    const arrival = await look(source, target).catch((error: unknown): Arrival => {
      abort.throwIfAborted();
      const { exitCode, message } = explainError(error);
      if (exitCode !== exitCodes.unreachable) throw error;
      return { is: 'going', words: `${message} Still trying.` };
    });
    if (arrival.is !== 'going' || clock.now() >= untilMs) return arrival;
    if (arrival.words !== told) tell(arrival.words);
    told = arrival.words;
    await clock.sleep(intervalMs, abort);
  }
}

async function look(source: ArrivalSource, target: Target): Promise<Arrival> {
  const hypervisor = await source.hypervisor();
  const isEmptied = hypervisor !== null && lifecycleOf(hypervisor)?.reason === 'Evicting';
  return judgeArrival(hypervisor, isEmptied ? await source.eviction().catch(() => null) : null, target);
}
