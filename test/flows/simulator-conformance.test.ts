import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import pMap from 'p-map';
import { maxHeartbeatThrottleIntervalMs, stickyScheduleToStartTimeoutMs } from '../../contracts/policies.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { systemClock } from '../../runtime/clock.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { describeTemporalClient } from '../contracts/temporal-client.ts';
import { quietTemporal } from '../quiet-temporal.ts';
import { createSampleActivities } from '../simulator/samples/activities.ts';
import { bundleSamples } from '../simulator/samples/bundle.ts';
import { readHistories } from '../simulator/samples/compare.ts';
import { type Scenario, scenarios } from '../simulator/samples/scenarios.ts';
import { createSimulation } from '../simulator/simulation.ts';
import { loadBundle, type WorkflowBundle } from '../simulator/temporal/sdk.ts';
import { limitMs } from './world-base.ts';

/** The same small workflows and the same calls of a client: the dev server and the simulator write the same events. */

type Histories = Record<string, unknown[][]>;

const taskQueue = 'samples';

/** Scenarios on the dev server: they wait for timers, and a machine that is busy writes other histories. */
const atOnce = 4;

let root: string;
let lab: Lab<'temporal'>;
let client: Client;
let connection: NativeConnection;
let worker: Worker;
let working: Promise<void>;
let bundle: WorkflowBundle;
/** What the dev server has written of each scenario. */
let served: ReadonlyMap<string, PromiseSettledResult<Histories>>;

beforeAll(async () => {
  quietTemporal();
  const code = await bundleSamples();
  bundle = await loadBundle(code);
  root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-conformance-')));
  lab = await startLab({ dir: join(root, 'lab'), parts: ['temporal'] });
  const { address, namespace } = lab.handles.temporal;
  client = openClient(readTemporalSettings({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }));
  connection = await NativeConnection.connect({ address });
  worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { code },
    activities: createSampleActivities([]),
    // As drover's workers have them, and the simulated one.
    maxHeartbeatThrottleInterval: maxHeartbeatThrottleIntervalMs,
    stickyQueueScheduleToStartTimeout: stickyScheduleToStartTimeoutMs,
  });
  working = worker.run();
  const serve = async (scenario: Scenario): Promise<[string, PromiseSettledResult<Histories>]> => {
    const [result] = await Promise.allSettled([onServer(scenario)]);
    return [scenario.name, result];
  };
  served = new Map(await pMap(scenarios, serve, { concurrency: atOnce }));
}, limitMs);

afterAll(async () => {
  worker?.shutdown();
  await working;
  await connection?.close();
  await client?.connection.close();
  await lab?.stop();
  rmSync(root, { recursive: true });
}, 60_000);

/**
 * Of each workflow of the scenario: its runs, each with its events. Ids of runs are named in the order of the events.
 */
async function historiesOf({ name, workflowIds }: Scenario, of: Client): Promise<Histories> {
  const runs = new Map<string, string>();
  const histories: Histories = {};
  for (const part of workflowIds) histories[`${name}${part}`] = await readHistories(of, `${name}${part}`, runs);
  return histories;
}

async function onServer(scenario: Scenario): Promise<Histories> {
  await scenario.run(
    { client, taskQueue, sleep: (ms) => systemClock.sleep(ms) },
    (part = '') => `${scenario.name}${part}`,
  );
  return await historiesOf(scenario, client);
}

async function simulated(scenario: Scenario): Promise<Histories> {
  const activities = createSampleActivities([]);
  const simulation = createSimulation({ bundle, seed: 1, serve: () => [{ taskQueue, activities }] });
  const { clock } = simulation;
  const server = { client: simulation.client, taskQueue, sleep: (ms: number) => clock.sleep(ms) };
  await simulation.run(
    scenario.run(server, (part = '') => `${scenario.name}${part}`),
    3_600_000,
  );
  const histories = await historiesOf(scenario, simulation.client);
  simulation.close();
  return histories;
}

/** Scenarios whose histories were compared. */
const compared = new Set<string>();

test.each(scenarios)('$name', async (scenario) => {
  if (compared.has(scenario.name)) {
    // A second attempt, at histories of its own: those that the busy machine has written stay as they are.
    const again = { ...scenario, name: `${scenario.name}-again` };
    expect(await simulated(again)).toEqual(await onServer(again));
    return;
  }
  compared.add(scenario.name);
  const real = served.get(scenario.name);
  if (real?.status === 'rejected') throw real.reason;
  expect(await simulated(scenario)).toEqual(real?.value);
});

describe('the client of the dev server answers as that of the simulator', () => {
  describeTemporalClient(() => ({ client, taskQueue, sleep: (ms) => systemClock.sleep(ms), during: (work) => work() }));
});
