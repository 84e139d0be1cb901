import type { Clock } from '../../runtime/clock.ts';
import type { Driven } from './lifecycle-condition.ts';
import { isCurrent, lifecycleOf } from './lifecycle-condition.ts';

/** A run says something within seconds: worth waiting for, so that the person learns of it here. */
const firstWordMs = 8_000;

/** Waits until the lifecycle of an object says something new, or the time is over. Returns the object as it is then. */
export async function awaitFirstWord<Told extends Driven>(
  read: () => Promise<Told | null>,
  before: Told,
  { clock, abort }: { clock: Clock; abort: AbortSignal },
): Promise<{ latest: Told; isNews: boolean }> {
  const untilMs = clock.now() + firstWordMs;
  for (let latest = before; ; await clock.sleep(250, abort)) {
    latest = (await read()) ?? latest;
    const isNews = says(before, latest);
    if (isNews || clock.now() > untilMs) return { latest, isNews };
  }
}

/** @param before as it was when it was changed */
function says(before: Driven, now: Driven): boolean {
  const [then, lifecycle] = [lifecycleOf(before), lifecycleOf(now)];
  return (
    isCurrent(now) && (!isCurrent(before) || then?.message !== lifecycle?.message || then?.reason !== lifecycle?.reason)
  );
}
