import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { systemClock } from '../runtime/clock.ts';
import { openClient, readTemporalSettings } from '../runtime/temporal/temporal.ts';
import { emptyMessage, type ScriptedTemporal, startScriptedTemporal } from '../test/scripted-temporal.ts';
import { openObservation, type WorkerHealth } from './observation.ts';

/** The time-out of the probe is its own, and a busy machine may need longer. */
const patient = { ...systemClock, now: () => Date.now() + 60_000 };

let temporal: ScriptedTemporal;
let client: Client;
let pages: WorkerHealth;

beforeEach(async () => {
  temporal = await startScriptedTemporal(() => emptyMessage);
  const env = { TEMPORAL_CONFIG_FILE: join(import.meta.dirname, 'missing.toml'), TEMPORAL_ADDRESS: temporal.address };
  client = openClient(readTemporalSettings(env, null));
  const settings = { worker: { healthAddress: '127.0.0.1:0' } } as Parameters<typeof openObservation>[0];
  const observation = await openObservation(settings, pino({ level: 'silent' }), patient);
  pages = await observation.serve(client);
});
afterEach(async () => {
  await Promise.all([pages.close(), client.connection.close()]);
  await temporal.close();
});

const worker = (taskQueue: string, state: string) =>
  ({ getState: () => state, options: { taskQueue } }) as unknown as Worker;

async function read(path: '/healthz' | '/readyz'): Promise<[status: number, reasons: string[]]> {
  const response = await fetch(`${pages.url}${path}`);
  return [response.status, ((await response.json()) as { reasons: string[] }).reasons];
}

test('a worker that is made lives, and is not ready', async () => {
  const reasons = ['the workers are being made'];
  expect([await read('/healthz'), await read('/readyz')]).toEqual([
    [200, reasons],
    [503, reasons],
  ]);
});

test('one that waits says what for, lives, and is not ready', async () => {
  pages.waitFor('kube-apiserver is away');
  expect([await read('/healthz'), await read('/readyz')]).toEqual([
    [200, ['kube-apiserver is away']],
    [503, ['kube-apiserver is away']],
  ]);
});

test('one of which a queue is served no more is neither alive nor ready', async () => {
  pages.watch([worker('drover', 'RUNNING'), worker('kubernetes', 'FAILED')]);
  const reasons = ['the worker of queue kubernetes is FAILED'];
  expect([await read('/healthz'), await read('/readyz')]).toEqual([
    [503, reasons],
    [503, reasons],
  ]);
});

test('one that runs lives, and is ready while Temporal answers', async () => {
  pages.watch([worker('drover', 'RUNNING')]);
  expect([await read('/healthz'), await read('/readyz')]).toEqual([
    [200, []],
    [200, []],
  ]);
  await temporal.close();
  expect(await read('/healthz')).toEqual([200, []]);
  expect(await read('/readyz')).toEqual([
    503,
    [expect.stringMatching(`^Temporal at ${temporal.address} .* cannot be reached`)],
  ]);
});
