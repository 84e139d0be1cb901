import { type Clock, withTimeout } from '../../runtime/clock.ts';
import { isError } from '../../runtime/is-error.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import { type LibvirtOpener, type LibvirtTarget, withLibvirt } from './access.ts';
import type { Domain, DomainState } from './types.ts';

/** A domain that runs, or holds the memory of one that did. */
export type Guest = Domain;

export interface GuestTools extends LibvirtOpener {
  /** Null: libvirt is not reached. */
  libvirt: LibvirtTarget['libvirt'] | null;
  /** Where libvirt of a hypervisor listens, by the name of its Hypervisor. */
  addressOf: (hypervisor: string, signal: AbortSignal) => Promise<string>;
  clock: Clock;
  warn: (message: string) => void;
}

/** What is only defined, or has ended, uses nothing of the host but its disk. */
const idle: readonly DomainState[] = ['none', 'shut-off', 'crashed'];

const answerWithinMs = 8_000;
const timeouts = { connectMs: 4_000, callMs: 4_000 };

/**
 * The guests that libvirt runs on a hypervisor, Nova's and others. Null where libvirt is not reached from here or
 * does not answer in time: it is a witness against a host that is said to be empty, and no proof of anything where it
 * is silent.
 *
 * @throws only the signal's reason
 */
export async function listGuests(
  { libvirt, connectLibvirt, readText, addressOf, clock, warn }: GuestTools,
  hypervisor: string,
  signal: AbortSignal,
): Promise<Guest[] | null> {
  if (libvirt === null) return null;
  try {
    return await withTimeout(clock, answerWithinMs, async (overdue) => {
      const bound = AbortSignal.any([signal, overdue]);
      const address = await addressOf(hypervisor, bound);
      const opener = { connectLibvirt, readText };
      const domains = await withLibvirt(opener, { libvirt, address, timeouts }, bound, (connection) =>
        connection.domains(bound),
      );
      return domains.filter(({ state }) => !idle.includes(state)).map(({ uuid, name }) => ({ uuid, name }));
    });
  } catch (error) {
    signal.throwIfAborted();
    warn(
      `Libvirt of ${hypervisor} was not asked for guests: ${redactedStart(isError(error) ? error.message : String(error), 600)}`,
    );
    return null;
  }
}
