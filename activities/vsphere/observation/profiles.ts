import { isProfileId } from '../../../contracts/virtual-machine/profile-id.ts';
import { withTimeout, type Clock } from '../../../runtime/clock.ts';
import type { VcenterGateway } from '../types.ts';
import { shareReads } from './inventory.ts';

/**
 * How long what vCenter says of its profiles is cached, and that it says nothing. A profile that it did not have is
 * looked for each time.
 */
const rememberedMs = 60_000;

/** An observation has 15 s for all that it reads. */
const readMs = 5_000;

/** The storage profiles of one vCenter. */
export interface Profiles {
  /**
   * True: vCenter certainly has no such profile. False where it does not say: it serves no SPBM, does not answer, or
   * the id is a word of the settings. Then the create is refused at worst, by vCenter itself.
   */
  lacks(id: string, signal: AbortSignal): Promise<boolean>;
}

export function openProfiles(gateway: Pick<VcenterGateway, 'storageProfiles'>, clock: Clock): Profiles {
  const read = shareReads(
    (_: 'all', signal: AbortSignal) =>
      withTimeout(clock, readMs, (overdue) => gateway.storageProfiles(AbortSignal.any([signal, overdue]))),
    (all) => all,
  );
  let known: { ids: ReadonlySet<string> | null; untilMs: number } = { ids: null, untilMs: -Infinity };
  return {
    async lacks(id, signal) {
      if (!isProfileId(id)) return false;
      const wanted = id.toLowerCase();
      if (clock.monotonicMs() < known.untilMs && (known.ids === null || known.ids.has(wanted))) return false;
      const ids = await read('all', signal).catch((error: unknown) => {
        if (signal.aborted) throw error;
        return null;
      });
      known = {
        ids: ids === null ? null : new Set(ids.map((one) => one.toLowerCase())),
        untilMs: clock.monotonicMs() + rememberedMs,
      };
      return known.ids !== null && !known.ids.has(wanted);
    },
  };
}
