import { randomUUID } from 'node:crypto';
import type { EvictionProgress, EvictionResult } from '../../contracts/eviction/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/** README: one eviction, started three ways with the same result, and steered by Temporal’s own tools. */

const reason = 'new firmware';
let world: World;

beforeAll(async () => {
  const { eviction } = quickSettings;
  // What hangs here is held by the test, and must not be taken for stuck.
  const stuck = { msPerGiB: 600_000, floorMs: 600_000, noProgressMs: 600_000, startMs: 600_000 };
  world = await openWorld({ settings: { ...quickSettings, eviction: { ...eviction, stuck } } });
}, limitMs);
afterAll(() => world.close(), limitMs);

/** Four servers: one is shut off, so that it goes cold. */
const fill = async (host: string): Promise<Server[]> => {
  await world.freshHost(host);
  return await world.seed(
    [1, 2, 3, 4].map((number) => ({ name: `${host}-vm-${number}`, host, state: number === 4 ? 'SHUTOFF' : 'ACTIVE' })),
  );
};

/** Everything that the outside can see of an eviction, without the name of its host. */
async function outcomeOf(host: string, servers: readonly Server[]): Promise<object> {
  const neutral = (text: string): string => text.replaceAll(host, 'HOST');
  // The finalizer goes last.
  const { status, runId } = await world.untilClosed(host);
  const eviction = await world.getEviction(host);
  const result = (await world.client.workflow.getHandle(evictionId(host), runId).result()) as EvictionResult;
  const migrations = await Promise.all(servers.map(({ id }) => world.getMigration(id)));
  const there = await Promise.all(
    servers.map(async ({ id }) => (await world.session.compute<{ server: Server }>('GET', `/servers/${id}`)).server),
  );
  const service = await world.service(host);
  const { hypervisors } = await world.session.compute<{ hypervisors: { id: string; service: { host: string } }[] }>(
    'GET',
    '/os-hypervisors/detail',
  );
  const hypervisorId = hypervisors.find((one) => one.service.host === host)?.id;
  return {
    spec: { ...eviction?.spec, hypervisor: neutral(eviction?.spec.hypervisor ?? '') },
    finalizers: eviction?.metadata.finalizers ?? [],
    conditions: (eviction?.status?.conditions ?? []).map(
      ({ type, status: its, reason: why, message, observedGeneration }) => ({
        type,
        its,
        why,
        message: neutral(message),
        observedGeneration,
      }),
    ),
    outstanding: [eviction?.status?.outstandingInstances, eviction?.status?.outstandingRamMb],
    hypervisorServiceId: eviction?.status?.hypervisorServiceId === hypervisorId,
    run: status,
    result: {
      ...result,
      object: neutral(result.object),
      eviction: neutral(result.eviction),
      hypervisor: neutral(result.hypervisor),
      message: neutral(result.message),
    },
    migrations: migrations.map((migration) => ({
      origin: neutral(migration?.status?.origin ?? ''),
      type: migration?.status?.type,
      operation: migration?.status?.operation,
      of: migration?.metadata.labels?.['drover.dev/eviction-uid'] === eviction?.metadata.uid,
    })),
    events: (await world.eventsOf(host)).map(neutral),
    left: await world.serversOn(host),
    moved: there.map((server) => ({ status: server.status, elsewhere: server['OS-EXT-SRV-ATTR:host'] !== host })),
    service: { status: service.status, reason: neutral(service.disabled_reason ?? '') },
  };
}

const expected = {
  spec: { hypervisor: 'HOST', reason },
  finalizers: [],
  conditions: [
    {
      type: 'Evicting',
      its: 'False',
      why: 'Succeeded',
      message: '4 of 4 servers have left HOST',
      observedGeneration: 1,
    },
    {
      type: 'PreflightChecksSucceeded',
      its: 'True',
      why: 'Succeeded',
      message: 'Preflight checks passed.',
      observedGeneration: 1,
    },
    {
      type: 'HypervisorDisabled',
      its: 'True',
      why: 'Succeeded',
      message: `Disabled in Nova: drover: eviction HOST: ${reason}`,
      observedGeneration: 1,
    },
    { type: 'MigratingInstance', its: 'False', why: 'Succeeded', message: expect.any(String), observedGeneration: 1 },
    {
      type: 'HypervisorReEnabled',
      its: 'False',
      why: 'LeftDisabled',
      message: 'Left disabled in Nova (cause admin)',
      observedGeneration: 1,
    },
  ],
  outstanding: [[], 0],
  hypervisorServiceId: true,
  run: 'COMPLETED',
  result: {
    object: 'Eviction HOST',
    eviction: 'HOST',
    hypervisor: 'HOST',
    outcome: 'reconciled',
    reason: 'Succeeded',
    message: '4 of 4 servers have left HOST',
    counts: { total: 4, done: 4, moving: 0, pending: 0, blocked: 0, skipped: 0 },
    notMoved: [],
    reEnabled: false,
  },
  migrations: [1, 2, 3, 4].map(() => ({ origin: 'HOST', type: 'completed', operation: 'migration_out', of: true })),
  events: ['Succeeded: 4 of 4 servers have left HOST'],
  left: [],
  moved: ['ACTIVE', 'ACTIVE', 'ACTIVE', 'SHUTOFF'].map((status) => ({ status, elsewhere: true })),
  service: { status: 'disabled', reason: `drover: eviction HOST: ${reason}` },
};

const input = (host: string): string => JSON.stringify({ hypervisor: host, reason, parallelism: 4 });

test.concurrent(
  'an Eviction made with kubectl',
  async () => {
    const servers = await fill('node-1');
    await world.createEviction('node-1', { reason, annotations: { 'drover.dev/parallelism': '4' } });
    await world.untilReason('node-1', 'Succeeded');
    expect(await outcomeOf('node-1', servers)).toEqual(expected);
    await checkInvariants(world, ['node-1']);
  },
  limitMs,
);

test.concurrent(
  'drover evict',
  async () => {
    const servers = await fill('node-2');
    const result = await world.command('evict', 'node-2', '--reason', reason, '--parallelism', '4', '--wait');
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('4 of 4 servers have left node-2') });
    expect(await outcomeOf('node-2', servers)).toEqual(expected);
    await checkInvariants(world, ['node-2']);
    expect((await world.getEviction('node-2'))?.metadata.annotations).toMatchObject({
      'drover.dev/started-by': 'flow-test',
    });
  },
  limitMs,
);

test.concurrent(
  'plain JSON through tctl under any id: the right run does the work',
  async () => {
    const servers = await fill('node-3');
    const workflowId = `my-eviction-${randomUUID()}`;
    const started = await world.tool(
      'tctl',
      'workflow',
      'start',
      '--taskqueue',
      'drover',
      '--workflow_type',
      'evictHypervisor',
      '--workflow_id',
      workflowId,
      '--input',
      input('node-3'),
    );
    expect(started).toMatchObject({ code: 0 });
    const handedOver = (await world.client.workflow.getHandle(workflowId).result()) as EvictionResult;
    expect(handedOver).toMatchObject({ outcome: 'handedOver', workflowId: 'eviction/node-3', eviction: 'node-3' });
    await world.untilReason('node-3', 'Succeeded');
    expect(await outcomeOf('node-3', servers)).toEqual(expected);
    await checkInvariants(world, ['node-3']);
  },
  limitMs,
);

test.concurrent(
  'plain JSON through temporal, and a second Eviction that waits for the first',
  async () => {
    const servers = await fill('node-4');
    // The first Eviction is under way until the second one was seen to wait, however long kubectl takes.
    const held = servers[0]!.id;
    await world.fleet.script(held, ['hang']);
    const started = await world.tool(
      'temporal',
      'workflow',
      'start',
      '--task-queue',
      'drover',
      '--type',
      'evictHypervisor',
      '--workflow-id',
      evictionId('node-4'),
      '--input',
      input('node-4'),
    );
    expect(started).toMatchObject({ code: 0 });
    await world.untilReason('node-4', 'Running');
    await world.createEviction('node-4', { name: 'node-4-again', reason: 'the same, by another user' });
    const waiting = await world.untilReason('node-4-again', 'AlreadyRunning');
    expect(waiting.status?.conditions).toEqual([
      expect.objectContaining({
        type: 'Evicting',
        status: 'Unknown',
        message: expect.stringContaining('Eviction node-4 empties node-4'),
      }),
    ]);
    await world.fleet.script(held, [{ migrate: 'ok', seconds: 0.2 }]);
    const served = await world.untilReason('node-4-again', 'Succeeded');
    expect(served.status?.conditions?.[0]?.message).toBe('0 of 0 servers have left node-4');
    await world.untilClosed('node-4');
    await until(
      'the second one to be let go',
      10_000,
      async () => ((await world.getEviction('node-4-again'))?.metadata.finalizers ?? []).length === 0 || 'it is held',
    );
    const first = (await outcomeOf('node-4', servers)) as typeof expected;
    // The run served both: its result speaks of the one it ended with.
    expect({ ...first, result: null }).toEqual({ ...expected, result: null });
    await checkInvariants(world, ['node-4']);
  },
  limitMs,
);

test(
  'updates by temporal, signals and the query by tctl',
  async () => {
    const host = await world.freshHost('node-1');
    const servers = await world.seedMany(host, 2);
    for (const { id } of servers) await world.fleet.script(id, ['hang']);
    await world.createEviction(host, { annotations: { 'drover.dev/parallelism': '1' } });
    await world.untilMoving(host);
    const id = evictionId(host);
    const update = (name: string, input: string): Promise<CommandEnd> =>
      world.tool('temporal', 'workflow', 'update', 'execute', '-w', id, '--name', name, '--input', input, '-o', 'json');
    const signal = (name: string, input: string): Promise<CommandEnd> =>
      world.tool('tctl', 'workflow', 'signal', '-w', id, '--name', name, '--input', input);

    const more = await update('setParallelism', '{"parallelism": 3, "by": "jane"}');
    expect(more).toMatchObject({ code: 0, stdout: expect.stringContaining('Up to 3 servers move at once.') });
    const refused = await update('setParallelism', '{"parallelism": 65}');
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain('parallelism is a whole number from 1 to 64');
    const text = await update('pause', '"now"');
    expect(text.stdout + text.stderr).toContain('pause takes a JSON object');
    await world.untilMoving(host, 2);

    expect(await signal('pause', '{"by": "jane"}')).toMatchObject({ code: 0 });
    await world.untilReason(host, 'Running', { says: /Paused by jane/u });
    // A signal has no answer: an invalid one changes nothing.
    expect(await signal('setParallelism', '"many"')).toMatchObject({ code: 0 });
    expect(await signal('skipInstance', '{"instance": "unknown"}')).toMatchObject({ code: 0 });
    const query = await world.tool('tctl', 'workflow', 'query', '-w', id, '--query_type', 'progress');
    expect(query).toMatchObject({ code: 0 });
    const [shown] = JSON.parse(query.stdout.slice(query.stdout.indexOf('['))) as [EvictionProgress];
    expect(shown).toMatchObject({
      eviction: host,
      hypervisor: host,
      phase: 'Moving',
      paused: 'by jane',
      window: { parallelism: 3, using: 2 },
      counts: { total: 2, moving: 2 },
    });

    expect(await signal('resume', '{"by": "jane"}')).toMatchObject({ code: 0 });
    for (const server of servers) await world.fleet.script(server.id, [{ migrate: 'ok', seconds: 0.2 }]);
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    await checkInvariants(world, [host]);
  },
  limitMs,
);
