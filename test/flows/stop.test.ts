import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '../../runtime/clock.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { createStopGate, findStop, liftStops, readStops, setStop } from '../../runtime/stop.ts';
import type { Stop } from '../../runtime/stop.ts';
import { openKubernetesWorld } from './kubernetes-world.ts';
import type { KubernetesWorld } from './kubernetes-world.ts';

/** `drover stop` on a real kube-apiserver, with the permissions of deploy/rbac. */
let world: KubernetesWorld;
const namespace = 'drover-system';
const place = { kind: 'Eviction', cluster: '', region: 'stop-test' } as const;
const region: Stop = {
  of: 'region',
  name: 'stop-test',
  by: 'jane',
  reason: 'storage is down',
  at: '2026-01-01T00:00:00Z',
};
const { signal } = new AbortController();

beforeAll(async () => {
  world = await openKubernetesWorld();
}, 120_000);
// What a failed attempt has stopped is not stopped for the next one.
beforeEach(() => world.kubectl(['delete', 'configmap', 'drover-stop', '-n', namespace, '--ignore-not-found']));
afterAll(async () => {
  await world.kubectl(['delete', 'configmap', 'drover-stop', '-n', namespace, '--ignore-not-found']);
  await world.close();
}, 60_000);

const stopped = async (): Promise<Stop[]> => readStops(world.worker, namespace, signal);

test('a user stops a region, and lifts the stop again', async () => {
  expect(await stopped()).toEqual([]);
  await setStop(world.admin, namespace, region, signal);
  expect(await stopped()).toEqual([region]);
  await setStop(world.admin, namespace, { ...region, reason: 'still' }, signal);
  expect(findStop(await stopped(), place)?.reason).toBe('still');
  expect(await liftStops(world.admin, namespace, { of: 'region', name: 'stop-test' }, signal)).toMatchObject([
    { reason: 'still' },
  ]);
  expect(await stopped()).toEqual([]);
});

test('two users stop at once, and one lifts all', async () => {
  const kind: Stop = { ...region, of: 'kind', name: 'Eviction' };
  await Promise.all([setStop(world.admin, namespace, region, signal), setStop(world.admin, namespace, kind, signal)]);
  expect((await stopped()).map(({ of }) => of).sort()).toEqual(['kind', 'region']);
  expect(await liftStops(world.admin, namespace, 'every', signal)).toHaveLength(2);
  expect(await stopped()).toEqual([]);
});

test('the worker may read the stop, and not set or lift it', async () => {
  await expect(setStop(world.worker, namespace, region, signal)).rejects.toMatchObject({ type: 'KubernetesForbidden' });
});

test('the gate closes within its second', async () => {
  let nowMs = 0;
  const gate = createStopGate(world.worker, namespace, place, { monotonicMs: () => nowMs });
  await gate(signal);
  await setStop(world.admin, namespace, region, signal);
  await gate(signal);
  nowMs = 1_000;
  await expect(gate(signal)).rejects.toMatchObject({
    type: 'Stopped',
    message: expect.stringContaining('region stop-test was stopped by jane at 2026-01-01T00:00:00Z: storage is down'),
  });
  await liftStops(world.admin, namespace, 'every', signal);
});

test('where the stop cannot be read, nothing goes ahead', async () => {
  const kubeconfig = join(tmpdir(), `drover-away-${process.pid}.kubeconfig`);
  // Port 1 of loopback: nothing listens.
  const text = await world.kubectl(['config', 'view', '--raw', '-o', 'json']);
  writeFileSync(kubeconfig, text.replace(/https:\/\/127\.0\.0\.1:\d+/u, 'https://127.0.0.1:1'), { mode: 0o600 });
  const away = connectKubernetes({ kubeconfig });
  try {
    await expect(createStopGate(away, namespace, place, systemClock)(signal)).rejects.toMatchObject({
      type: 'KubernetesUnavailable',
      nonRetryable: false,
    });
  } finally {
    await away.close();
    rmSync(kubeconfig);
  }
});
