import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Asked, type Finding, failed, failedBy, passed, skipped, timed } from '../../runtime/host-check.ts';
import { addressOf, remoteOf } from './ovsdb.ts';
import {
  type ExpectedBridges,
  type OpenOvs,
  type OvsBridge,
  type OvsClient,
  type OvsInterface,
  type OvsSettings,
  type OvsView,
  database,
} from './types.ts';

export interface OvsCheckTools {
  openOvs: OpenOvs;
  clock: Clock;
}

/**
 * Checks Open vSwitch on a hypervisor: its database is reached, and the bridges are there and work. Reads only. A check
 * that fails is a finding, never a failure.
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
  const skippedChecks = askedBridges(bridges).map((asked) => skipped(asked, 'Open vSwitch was not reached'));
  const startedMs = clock.monotonicMs();
  let client: OvsClient | null = null;
  try {
    client = await openOvs(remoteOf(address), { credential, ...(timeouts && { timeouts }) }, signal);
    const databases = await client.databases(signal);
    const readFromMs = clock.monotonicMs();
    const view = databases.includes(database) ? await client.view(signal) : null;
    const server = timed(clock, startedMs, [judgeServer(address, databases, view)]);
    return [...server, ...(view === null ? skippedChecks : timed(clock, readFromMs, judgeBridges(bridges, view)))];
  } catch (error) {
    return [...timed(clock, startedMs, [failedBy(askedServer(address), error, signal)]), ...skippedChecks];
  } finally {
    client?.close();
  }
}

const mostNamed = 5;

const askedServer = (remote: string): Asked => ({
  name: 'OvsReachable',
  expectation: `Open vSwitch answers at ${remote}`,
});

/** Whether the server that answered is Open vSwitch's. Pure. */
export function judgeServer(remote: string, databases: readonly string[], view: OvsView | null): Finding {
  const asked = askedServer(remote);
  if (view === null)
    return failed(asked, 'OvsDatabaseMissing', `no database ${database}; there ${thereAre(databases)}`);
  const version =
    view.version === null ? 'a version that ovs-vswitchd has not reported yet' : `version ${view.version}`;
  return passed(asked, `${version}, ${view.bridges.length === 1 ? '1 bridge' : `${view.bridges.length} bridges`}`);
}

const askedBridges = ({ required, optional }: ExpectedBridges): Asked[] => [
  ...required.map((name) => ({ name: `OvsBridge.${name}`, expectation: `bridge ${name} exists and works` })),
  ...optional.map((name) => ({ name: `OvsBridge.${name}`, expectation: `bridge ${name}, where it exists, works` })),
];

/** Whether the bridges are as they should be, in the order of {@link askedBridges}. Pure. */
export function judgeBridges(expected: ExpectedBridges, { bridges }: OvsView): Finding[] {
  const byName = new Map(bridges.map((bridge) => [bridge.name, bridge]));
  return askedBridges(expected).map((asked, index) => {
    const bridge = byName.get([...expected.required, ...expected.optional][index] ?? '');
    if (bridge !== undefined) return judgeBridge(asked, bridge);
    return index < expected.required.length
      ? failed(asked, 'OvsBridgeMissing', `no such bridge; there ${thereAre([...byName.keys()])}`)
      : passed(asked, 'there is none');
  });
}

function judgeBridge(asked: Asked, { name, ports }: OvsBridge): Finding {
  const interfaces = ports.flatMap((port) => port.interfaces);
  // The interface of the bridge's own name is its device on the host: without it, the bridge has no datapath.
  const own = interfaces.find((one) => one.name === name);
  if (own === undefined)
    return failed(asked, 'OvsBridgeFaulty', `it has no interface of its own; ${counted(ports.length)}`);
  const fault = faultOf(own);
  if (fault !== null) return failed(asked, 'OvsBridgeFaulty', `its own interface: ${fault}`);
  // Those of a guest that ended badly stay behind with an error, on hosts that work.
  const faulty = interfaces.flatMap((one) => (faultOf(one) === null ? [] : `${one.name}: ${faultOf(one) ?? ''}`));
  return passed(
    asked,
    [
      counted(ports.length),
      ...(faulty.length === 0 ? [] : [`${faulty.length} of its interfaces in error: ${named(faulty)}`]),
    ].join('; '),
  );
}

/** What ovs-vswitchd says is wrong with an interface; null: nothing. */
function faultOf({ error, ofport }: OvsInterface): string | null {
  if (error !== null && error !== '') return error;
  return ofport === -1 ? 'ovs-vswitchd could not make it' : null;
}

const counted = (ports: number): string => (ports === 1 ? 'it has 1 port' : `it has ${ports} ports`);
const named = (all: readonly string[]): string =>
  [...all.slice(0, mostNamed), ...(all.length > mostNamed ? [`and ${all.length - mostNamed} more`] : [])].join(', ');
const thereAre = (names: readonly string[]): string =>
  names.length === 0 ? 'is none at all' : `${names.length === 1 ? 'is' : 'are'} ${named(names.toSorted())}`;
