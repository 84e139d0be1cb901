import { withClock } from '../../../lab/clock.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { createVirtualClock, type VirtualClock } from '../../simulator/clock.ts';
import { createNetwork, type Network } from '../../simulator/network.ts';
import { drive } from '../../fakes/drive.ts';
import { randomOf } from '../../faults/random.ts';

/** What a contract suite runs on: a fake or the real counterpart. */
export interface Subject {
  clock: Clock;
  /** Runs the body of a test; on a fake, virtual time passes while it waits. */
  run: <Result>(body: () => Promise<Result>) => Promise<Result>;
}

/** For the body of a test with the subject of the present run. */
export const bodyOf =
  <Of extends Subject>(subject: () => Of, body: (subject: Of) => Promise<unknown>) =>
  async (): Promise<void> => {
    await subject().run(() => body(subject()));
  };

/** A virtual clock and a network without faults, for a fake. */
export function openVirtual(): Subject & { clock: VirtualClock; network: Network; random: () => number } {
  const random = randomOf(1);
  const clock = createVirtualClock(Date.UTC(2026, 0, 1), random);
  const network = createNetwork({ clock, random });
  return { clock, network, random, run: (body) => withClock(clock, () => drive(clock, body())) };
}

/** A signal that is never aborted. */
export const never = new AbortController().signal;
