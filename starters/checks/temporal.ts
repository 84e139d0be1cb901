import type { Client, Connection } from '@temporalio/client';
import {
  agentsQueue,
  hostChecksQueue,
  hostsQueue,
  kubernetesQueue,
  machinesQueue,
  novaQueue,
  virtualMachinesQueue,
  volumesQueue,
  vsphereQueue,
  workflowQueue,
} from '../../contracts/ids.ts';
import type { Kind } from '../../contracts/kinds/table.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { speaksToVcenters } from '../../runtime/config/vsphere-settings.ts';
import { type Poller, polledSince, readPollers, type TaskQueue } from '../../runtime/temporal/task-queues.ts';
import { unreachable } from '../../runtime/temporal/temporal.ts';
import type { OpenedTemporal } from '../command/context.ts';
import type { Finding } from './finding.ts';
import { formatDuration } from '../render/duration.ts';
import { fail, ok, warn } from './finding.ts';

/** `temporal.api.enums.v1.IndexedValueType`. */
const keyword = 2;

export async function checkTemporal(
  { client, address, namespace }: OpenedTemporal,
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const info = await client.withAbortSignal(signal, async () => {
      await client.workflowService.describeNamespace({ namespace });
      return await client.workflowService.getSystemInfo({});
    });
    return ok('Temporal', `server ${info.serverVersion ?? 'of unknown version'} at ${address}, namespace ${namespace}`);
  } catch (error) {
    throw unreachable({ address, namespace }, error);
  }
}

/** @param fix register those that are missing */
export async function checkSearchAttributes(
  client: Client,
  namespace: string,
  fix: boolean,
  signal: AbortSignal,
): Promise<Finding> {
  const check = 'search attributes';
  const { operatorService } = client.connection as Connection;
  const { customAttributes } = await client.withAbortSignal(signal, () =>
    operatorService.listSearchAttributes({ namespace }),
  );
  const { missing, wrong } = compareSearchAttributes(customAttributes);
  if (wrong.length > 0)
    return fail(
      check,
      `${wrong.join(', ')} should be of type Keyword`,
      'Remove and register them again: `temporal operator search-attribute`.',
    );
  if (missing.length === 0) return ok(check, 'all registered');
  const advice = '`drover doctor --fix` registers them; without them no run can start.';
  if (!fix) return fail(check, `not registered: ${missing.join(', ')}`, advice);
  await client.withAbortSignal(signal, () =>
    operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword] as const)),
    }),
  );
  return ok(check, `registered now: ${missing.join(', ')}`);
}

/** Which of drover's search attributes are not registered, and which are of another type. */
export function compareSearchAttributes(registered: Readonly<Record<string, number>>): {
  missing: string[];
  wrong: string[];
} {
  const names = Object.values(searchAttributes);
  return {
    missing: names.filter((name) => registered[name] === undefined),
    wrong: names.filter((name) => registered[name] !== undefined && registered[name] !== keyword),
  };
}

/**
 * The queues that the settings need a worker for. Pure.
 *
 * @param places.region of Nova; null where the settings name none
 * @param places.vcenters their names
 */
export function neededQueues(
  { cluster, modes }: Pick<Config, 'cluster' | 'modes'>,
  { region, vcenters }: { region: string | null; vcenters: readonly string[] },
): TaskQueue[] {
  const isOn = (...of: Kind[]): boolean => of.some((kind) => modes[kind] !== 'off');
  const names = [
    workflowQueue(cluster),
    kubernetesQueue(cluster),
    ...(region === null ? [] : [novaQueue(region, cluster), hostsQueue(cluster), hostChecksQueue(cluster)]),
    ...(isOn('Machine') ? [machinesQueue(cluster)] : []),
    ...(isOn('DataVolume', 'StorageProfile') ? [volumesQueue(cluster)] : []),
    ...(isOn('VsphereAgentPool', 'VsphereAgent') ? [agentsQueue(cluster)] : []),
    ...(isOn('VirtualMachine') ? [virtualMachinesQueue(cluster)] : []),
    ...(speaksToVcenters({ modes }) ? vcenters.map((name) => vsphereQueue(name, cluster)) : []),
  ];
  return [
    { name: workflowQueue(cluster), of: 'workflow' },
    ...names.map((name) => ({ name, of: 'activity' as const })),
  ];
}

export const checkQueues = (
  client: Client,
  queues: readonly TaskQueue[],
  nowMs: number,
  signal: AbortSignal,
): Promise<Finding[]> =>
  Promise.all(
    queues.map(async (queue) =>
      judgePollers(queue, await client.withAbortSignal(signal, () => readPollers(client, queue)), nowMs),
    ),
  );

/** A poll waits for 60 s, and the clocks of two machines differ a little. */
const silentMs = 90_000;

/** Pure. */
export function judgePollers({ name, of }: TaskQueue, pollers: readonly Poller[], nowMs: number): Finding {
  const check = `queue ${name} (${of})`;
  const [last] = pollers;
  const start = 'Start a worker with `drover worker`, or read the log of the one that should.';
  if (last === undefined) return fail(check, 'no worker polls it', start);
  const living = polledSince(pollers, nowMs - silentMs);
  if (living.length === 0)
    return warn(
      check,
      `last polled ${formatDuration(nowMs - (last.polledAtMs ?? nowMs))} ago, by ${last.identity}`,
      `The worker may be gone. ${start}`,
    );
  const more = living.length > 3 ? ` and ${String(living.length - 3)} more` : '';
  const named = living.slice(0, 3).map(({ identity }) => identity);
  return ok(check, `polled by ${named.join(', ')}${more}`);
}
