import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { EvictionResult } from '../../contracts/eviction/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { checkInvariants } from '../invariants.ts';
import { cause, hostOf, messageOf, parallelism, reasonsOf } from './eviction-observations.ts';
import { openHostPool } from './host-pool.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/** Causes (docs/charts/eviction.md#causes): which hosts are enabled again, when, and how each handles obstacles. */

let world: World;
const pool = openHostPool(() => world, ['node-1', 'node-2', 'node-3', 'node-4']);

beforeAll(async () => {
  world = await openWorld({
    settings: { ...quickSettings, eviction: { ...quickSettings.eviction, nodeReturnMs: 20_000 } },
  });
}, limitMs);
afterAll(() => world.close());

const reEnable = (value: boolean): Record<string, string> => ({ 'drover.dev/re-enable': String(value) });
const reEnabled = (eviction: Eviction | null) => findCondition(eviction?.status?.conditions, 'HypervisorReEnabled');

/** How the last run of the host ended. */
async function resultOf(host: string): Promise<EvictionResult> {
  const { runId } = await world.untilClosed(host);
  return (await world.client.workflow.getHandle(evictionId(host), runId).result()) as EvictionResult;
}

test.concurrent(
  'admin, and decommission: the host stays disabled',
  () =>
    pool.with({}, async (host) => {
      for (const name of ['admin', 'decommission']) {
        await world.freshHost(host);
        await world.seedMany(host, 1);
        await world.createEviction(host, { name: `${host}-${name}`, annotations: cause(name) });
        await world.untilReason(`${host}-${name}`, 'Succeeded');
        expect(await resultOf(host)).toMatchObject({ outcome: 'reconciled', reEnabled: false });
        expect(await world.service(host)).toMatchObject({
          status: 'disabled',
          disabled_reason: `drover: eviction ${host}-${name}: flow test`,
        });
      }
    }),
  limitMs,
);

test.concurrent(
  're-enable: true enables what still carries drover’s reason',
  () =>
    pool.with({}, async (host) => {
      await world.seedMany(host, 2);
      await world.createEviction(host, { annotations: { ...reEnable(true), ...parallelism(2) } });
      await world.untilReason(host, 'Succeeded', { type: 'HypervisorReEnabled' });
      expect(await resultOf(host)).toMatchObject({ outcome: 'reconciled', reEnabled: true });
      expect(await world.service(host)).toMatchObject({ status: 'enabled', disabled_reason: null });
      expect(findCondition((await world.getEviction(host))?.status?.conditions, 'HypervisorDisabled')).toMatchObject({
        status: 'False',
      });
    }),
  limitMs,
);

test.concurrent(
  're-enable: true leaves a host that another user had disabled before',
  () =>
    pool.with({}, async (host) => {
      await world.seedMany(host, 1);
      await world.disableService(host, 'bad memory, see ticket 7');
      await world.createEviction(host, { annotations: reEnable(true) });
      await world.untilReason(host, 'Succeeded');
      expect(await resultOf(host)).toMatchObject({ outcome: 'reconciled', reEnabled: false });
      expect(await world.service(host)).toMatchObject({
        status: 'disabled',
        disabled_reason: 'bad memory, see ticket 7',
      });
      expect(reEnabled(await world.getEviction(host))).toMatchObject({ status: 'False', reason: 'LeftDisabled' });
    }),
  limitMs,
);

test.concurrent(
  're-enable: true leaves a host that another user has taken over meanwhile',
  () =>
    pool.with({ seconds: 2 }, async (host) => {
      await world.seedMany(host, 2);
      await world.createEviction(host, { annotations: reEnable(true) });
      await world.untilMoving(host);
      await world.disableService(host, 'now it is mine');
      await world.untilReason(host, 'Succeeded');
      expect(await resultOf(host)).toMatchObject({ outcome: 'reconciled', reEnabled: false });
      expect(await world.service(host)).toMatchObject({ status: 'disabled', disabled_reason: 'now it is mine' });
    }),
  limitMs,
);

interface NodeState {
  bootID: string;
  ready: boolean;
}

async function setNode(name: string, { bootID, ready }: NodeState): Promise<void> {
  await world.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
  const at = new Date(labClock().now()).toISOString();
  const status = ready ? 'True' : 'False';
  const conditions = [{ type: 'Ready', status, reason: 'FlowTest', lastHeartbeatTime: at, lastTransitionTime: at }];
  const nodeInfo = {
    bootID,
    machineID: name,
    systemUUID: name,
    kernelVersion: '6',
    osImage: 'x',
    containerRuntimeVersion: 'x',
    kubeletVersion: 'v1',
    kubeProxyVersion: 'v1',
    operatingSystem: 'linux',
    architecture: 'amd64',
  };
  await world.kubectl([
    'patch',
    'node',
    name,
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status: { conditions, nodeInfo } }),
  ]);
}

const withNode = (test: (host: string) => Promise<void>): Promise<void> =>
  pool.with({}, async (host) => {
    await setNode(host, { bootID: 'before', ready: true });
    try {
      await test(host);
    } finally {
      await world.kubectl(['delete', 'node', host, '--ignore-not-found']);
    }
  });

test.concurrent(
  'rolling-update: enabled again when the Node is back with a new boot id and Ready, not before',
  () =>
    withNode(async (host) => {
      await world.seedMany(host, 2);
      await world.createEviction(host, { annotations: { ...cause('rolling-update'), ...parallelism(2) } });
      const waiting = await world.untilReason(host, 'WaitingForNode', { type: 'HypervisorReEnabled' });
      expect(reEnabled(waiting)).toMatchObject({ status: 'Unknown', message: expect.stringContaining(host) });
      // The status has the answer to whether the host is empty already.
      expect(findCondition(waiting.status?.conditions, 'Evicting')).toMatchObject({
        status: 'False',
        reason: 'Succeeded',
      });
      expect(await world.serversOn(host)).toEqual([]);
      expect((await world.service(host)).status).toBe('disabled');
      await setNode(host, { bootID: 'after', ready: false });
      expect((await world.service(host)).status).toBe('disabled');
      await setNode(host, { bootID: 'after', ready: true });
      await world.untilReason(host, 'Succeeded', { type: 'HypervisorReEnabled' });
      expect(await resultOf(host)).toMatchObject({ outcome: 'reconciled', reEnabled: true });
      expect(await world.service(host)).toMatchObject({ status: 'enabled', disabled_reason: null });
    }),
  limitMs,
);

test.concurrent(
  'rolling-update: a Node that does not come back in time leaves the host disabled, and that is said',
  () =>
    withNode(async (host) => {
      await world.createEviction(host, { annotations: cause('rolling-update') });
      await world.untilReason(host, 'WaitingForNode', { type: 'HypervisorReEnabled' });
      const left = await world.untilReason(host, 'LeftDisabled', { type: 'HypervisorReEnabled' });
      expect(findCondition(left.status?.conditions, 'Evicting')).toMatchObject({
        status: 'False',
        reason: 'Succeeded',
      });
      expect(await resultOf(host)).toMatchObject({ outcome: 'reconciled', reEnabled: false });
      expect((await world.service(host)).status).toBe('disabled');
      expect(await world.eventsOf(host)).toContainEqual(expect.stringMatching(/^NodeNotReturned: /u));
    }),
  limitMs,
);

test.concurrent(
  'rolling-update with re-enable: false waits for nothing',
  () =>
    withNode(async (host) => {
      await world.createEviction(host, { annotations: { ...cause('rolling-update'), ...reEnable(false) } });
      await world.untilReason(host, 'Succeeded');
      expect(await resultOf(host)).toMatchObject({ outcome: 'reconciled', reEnabled: false });
      expect(reasonsOf(world.evictions.of(host), 'HypervisorReEnabled')).not.toContain('WaitingForNode');
      expect((await world.service(host)).status).toBe('disabled');
    }),
  limitMs,
);

test.concurrent(
  'obstacles are carried along for rolling-update: the rest moves, and the host is neither empty nor enabled',
  () =>
    withNode(async (host) => {
      const [locked, other] = await world.seed([
        { name: `${host}-locked`, host, locked: true },
        { name: `${host}-other`, host },
      ]);
      await world.createEviction(host, { annotations: cause('rolling-update') });
      const eviction = await world.untilReason(host, 'Failed');
      expect(findCondition(eviction.status?.conditions, 'PreflightChecksSucceeded')).toMatchObject({
        status: 'False',
        reason: 'Failed',
        message: expect.stringContaining(`InstanceLocked/${locked!.id}`),
      });
      expect(messageOf(eviction)).toContain(`1 of 2 servers have left ${host}; 1 not migratable. ${locked!.name}`);
      expect([await hostOf(world, locked!), await hostOf(world, other!)]).toEqual([
        host,
        expect.not.stringMatching(`^${host}$`),
      ]);
      expect(reasonsOf(world.evictions.of(host), 'HypervisorReEnabled')).not.toContain('WaitingForNode');
      expect((await world.service(host)).status).toBe('disabled');
    }),
  limitMs,
);

test.concurrent(
  'obstacles refuse a decommission: nothing is changed',
  () =>
    pool.with({}, async (host) => {
      const servers = await world.seed([
        { name: `${host}-locked`, host, locked: true },
        { name: `${host}-other`, host },
      ]);
      const fromMs = labClock().now();
      await world.createEviction(host, { annotations: cause('decommission') });
      const eviction = await world.untilReason(host, 'PreflightFailed');
      expect(messageOf(eviction)).toMatch(/^Refused: .*locked.*Nothing was changed/u);
      for (const server of servers) expect(await hostOf(world, server)).toBe(host);
      expect(await world.service(host)).toMatchObject({ status: 'enabled', disabled_reason: null });
      expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);
    }),
  limitMs,
);

test(
  'rolling-update: `drover stop` is waited out, visibly, before the host is enabled again',
  () =>
    withNode(async (host) => {
      await world.createEviction(host, { annotations: cause('rolling-update') });
      await world.untilReason(host, 'WaitingForNode', { type: 'HypervisorReEnabled' });
      expect(await world.command('stop', '--reason', 'storage is on fire')).toMatchObject({ code: 0 });
      try {
        await setNode(host, { bootID: 'after', ready: true });
        await until('the run to wait for the stop to be lifted', limitMs, async () => {
          const { waitingFor } = await world.progress(host);
          return (waitingFor ?? '').includes('storage is on fire') || `it waits for ${waitingFor ?? 'nothing'}`;
        });
        expect((await world.service(host)).status).toBe('disabled');
        const stopped = await world.untilReason(host, 'Stopped', { type: 'HypervisorReEnabled' });
        expect(reEnabled(stopped)).toMatchObject({
          status: 'Unknown',
          message: expect.stringContaining('storage is on fire'),
        });
      } finally {
        await world.command('stop', '--lift');
      }
      await world.untilReason(host, 'Succeeded', { type: 'HypervisorReEnabled' });
      expect(await resultOf(host)).toMatchObject({ reEnabled: true });
      expect((await world.service(host)).status).toBe('enabled');
    }),
  limitMs,
);

test('after all of it the invariants hold', () => checkInvariants(world), limitMs);
