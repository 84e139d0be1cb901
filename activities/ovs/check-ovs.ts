import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import type { Clock } from '../../runtime/clock.ts';
import { failedBy, skipped, timed } from '../../runtime/host-check.ts';
import { askedBridges, askedServer, judgeBridges, judgeServer } from './judge.ts';
import { addressOf, remoteOf } from './remote.ts';
import { database, type OpenOvs, type OvsClient, type OvsSettings } from './types.ts';

export interface OvsCheckTools {
  openOvs: OpenOvs;
  clock: Clock;
}

/**
 * Checks Open vSwitch on a hypervisor: its database is reached, and the bridges are there and work. Reads only. A check that fails is a
 * finding, never a failure.
 *
 * @param host the hypervisor's name, for `{host}` in the address
 * @throws only the signal's reason when it is aborted
 */
export async function checkOvs(
  { openOvs, clock }: OvsCheckTools,
  host: string,
  settings: OvsSettings,
  signal: AbortSignal,
): Promise<HostCheck[]> {
  const { bridges, credential, timeouts } = settings;
  const address = addressOf(settings.remote, host);
  const unseen = askedBridges(bridges).map((asked) => skipped(asked, 'Open vSwitch was not reached'));
  const startedMs = clock.monotonicMs();
  let client: OvsClient | null = null;
  try {
    client = await openOvs(remoteOf(address), { credential, ...(timeouts && { timeouts }) }, signal);
    const databases = await client.databases(signal);
    const readFromMs = clock.monotonicMs();
    const view = databases.includes(database) ? await client.view(signal) : null;
    const server = timed(clock, startedMs, [judgeServer(address, databases, view)]);
    return [...server, ...(view === null ? unseen : timed(clock, readFromMs, judgeBridges(bridges, view)))];
  } catch (error) {
    return [...timed(clock, startedMs, [failedBy(askedServer(address), error, signal)]), ...unseen];
  } finally {
    client?.close();
  }
}
