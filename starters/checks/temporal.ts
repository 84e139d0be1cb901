import type { Client, Connection } from '@temporalio/client';
import {
  agentsQueue,
  kubernetesQueue,
  machinesQueue,
  novaQueue,
  volumesQueue,
  workflowQueue,
} from '../../contracts/ids.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { readPollers } from '../../runtime/temporal/task-queues.ts';
import type { TaskQueue } from '../../runtime/temporal/task-queues.ts';
import { unreachable } from '../../runtime/temporal/temporal.ts';
import type { OpenedTemporal } from '../command/context.ts';
import type { Finding } from './finding.ts';
import { fail, ok } from './finding.ts';

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
 * @param settings.cluster whose queues
 * @param settings.region of Nova; null where the settings name none
 * @param settings.machines whether the kind is switched on
 * @param settings.agentPools whether one of the kinds is switched on, and so are volumes
 */
export async function checkQueues(
  client: Client,
  namespace: string,
  {
    cluster,
    region,
    machines,
    agentPools,
    volumes,
  }: { cluster: string; region: string | null; machines: boolean; agentPools: boolean; volumes: boolean },
  signal: AbortSignal,
): Promise<Finding[]> {
  const queues: [name: string, type: TaskQueue['of']][] = [
    [workflowQueue(cluster), 'workflow'],
    [workflowQueue(cluster), 'activity'],
    [kubernetesQueue(cluster), 'activity'],
    ...(region === null ? [] : [[novaQueue(region, cluster), 'activity'] as [string, TaskQueue['of']]]),
    ...(machines ? [[machinesQueue(cluster), 'activity'] as [string, TaskQueue['of']]] : []),
    ...(volumes ? [[volumesQueue(cluster), 'activity'] as [string, TaskQueue['of']]] : []),
    ...(agentPools ? [[agentsQueue(cluster), 'activity'] as [string, TaskQueue['of']]] : []),
  ];
  return await Promise.all(queues.map(([name, type]) => checkQueue(client, name, type, signal)));
}

async function checkQueue(client: Client, name: string, of: TaskQueue['of'], signal: AbortSignal): Promise<Finding> {
  const identities = await client.withAbortSignal(signal, () => readPollers(client, { name, of }));
  const check = `queue ${name} (${of})`;
  if (identities.length === 0)
    return fail(
      check,
      'no worker polls it',
      'Start a worker with `drover worker`, or read the log of the one that should.',
    );
  return ok(
    check,
    `polled by ${identities.slice(0, 3).join(', ')}${identities.length > 3 ? ` and ${String(identities.length - 3)} more` : ''}`,
  );
}
