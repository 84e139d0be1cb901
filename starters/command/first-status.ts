import type { Clock } from '../../runtime/clock.ts';
import type { Driven } from './lifecycle-condition.ts';
import { isCurrent, lifecycleOf } from './lifecycle-condition.ts';

/** A run writes its first status within seconds, so that the command can show it. */
const firstStatusMs = 8_000;

/** Waits until the lifecycle of an object changes, or the time is over. Returns the object as it is then. */
export async function awaitFirstStatus<ReadObject extends Driven>(
  read: () => Promise<ReadObject | null>,
  before: ReadObject,
  { clock, abort }: { clock: Clock; abort: AbortSignal },
): Promise<{ latest: ReadObject; isChanged: boolean }> {
  const untilMs = clock.now() + firstStatusMs;
  for (let latest = before; ; await clock.sleep(250, abort)) {
    latest = (await read()) ?? latest;
    const isChanged = hasChanged(before, latest);
    if (isChanged || clock.now() > untilMs) return { latest, isChanged };
  }
}

/** @param before as it was when it was changed */
function hasChanged(before: Driven, now: Driven): boolean {
  const [then, lifecycle] = [lifecycleOf(before), lifecycleOf(now)];
  return (
    isCurrent(now) && (!isCurrent(before) || then?.message !== lifecycle?.message || then?.reason !== lifecycle?.reason)
  );
}
