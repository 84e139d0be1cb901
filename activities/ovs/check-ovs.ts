import type { HostCheck } from '../../contracts/host-check.ts';
import { failedBy, skipped, timed } from '../../runtime/host-check.ts';
import type { ObserveCall } from '../../runtime/outside-calls.ts';
import { openOvs } from './client.ts';
import { askedBridges, askedServer, judgeBridges, judgeServer } from './judge.ts';
import { addressOf, remoteOf } from './remote.ts';
import { database, type OvsClient, type OvsSettings } from './types.ts';

/**
 * Checks Open vSwitch on a hypervisor: its database is reached, and the bridges are there and work. Reads only. A check that fails is a
 * finding, never a failure.
 *
 * @param host the hypervisor's name, for `{host}` in the address
 * @throws only the signal's reason when it is aborted
 */
export async function checkOvs(host: string, settings: OvsSettings, signal: AbortSignal, observe?: ObserveCall): Promise<HostCheck[]> {
  const { bridges, credential, timeouts } = settings;
  const address = addressOf(settings.remote, host);
  const unseen = askedBridges(bridges).map((asked) => skipped(asked, 'Open vSwitch was not reached'));
  const startedMs = performance.now();
  let client: OvsClient | null = null;
  try {
    client = await openOvs(remoteOf(address), { credential, ...(timeouts && { timeouts }), ...(observe && { observe }) }, signal);
    const databases = await client.databases(signal);
    const readFromMs = performance.now();
    const view = databases.includes(database) ? await client.view(signal) : null;
    const server = timed(startedMs, [judgeServer(address, databases, view)]);
    return [...server, ...(view === null ? unseen : timed(readFromMs, judgeBridges(bridges, view)))];
  } catch (error) {
    return [...timed(startedMs, [failedBy(askedServer(address), error, signal)]), ...unseen];
  } finally {
    client?.close();
  }
}
