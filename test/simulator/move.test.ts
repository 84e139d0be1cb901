import type { MigrateInstanceInput, MigrationStart } from '../../contracts/eviction/migrate-instance.ts';
import { kubernetesQueue, migrationId, novaQueue, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { finalFailure } from '../../activities/lib/wait.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { settings } from '../fixtures/workflows/eviction.ts';
import { cold, ended, finished, live, migrating, resized, server } from '../fixtures/workflows/migration.ts';
import { loadWorkflows } from './bundle.ts';
import { createSimulation } from './simulation.ts';

const minuteMs = 60_000;

test('a cold move of a run whose wait for the end of a stop fails is confirmed all the same', async () => {
  const stopped = { ...server, status: 'SHUTOFF', vmState: 'stopped' };
  const observation = { instance: { ...stopped, ...resized }, migration: finished };
  const input: MigrateInstanceInput = {
    instance: stopped,
    sourceHost: 'node-1',
    eviction: { name: 'node-1', uid: 'u' },
    consent: [],
    accepted: false,
    settings,
  };
  const called: string[] = [];
  let isStopped = true;
  let waits = 0;
  const simulation = createSimulation({
    bundle: await loadWorkflows(),
    seed: 1,
    serve: () => [
      {
        taskQueue: kubernetesQueue(settings.cluster),
        activities: {
          async awaitStopLifted() {
            waits += 1;
            if (waits === 1) throw finalFailure(droverFailure('KubernetesUnavailable', 'no answer'));
            isStopped = false;
          },
        },
      },
      {
        taskQueue: novaQueue(settings.region, settings.cluster),
        activities: {
          startColdMigration: async (): Promise<MigrationStart> => ({ outcome: 'started', migration: cold }),
          awaitMigration: async () => ended({ status: 'finished', observation }),
          observeInstance: async () => observation,
          async confirmMigration({ migrationId: id }: { migrationId: number }) {
            if (isStopped) throw droverFailure('Stopped', 'Everything was stopped by jane');
            called.push(`confirm ${id}`);
            return ended({
              status: 'confirmed',
              observation: { instance: { ...stopped, host: 'node-2' }, migration: null },
            });
          },
        },
      },
    ],
  });
  const run = await simulation.client.workflow.start(workflowTypes.migrateInstance, {
    workflowId: migrationId(server.id, settings.cluster),
    taskQueue: workflowQueue(settings.cluster),
    args: [input],
  });
  expect(await simulation.run(run.result(), 10 * minuteMs)).toMatchObject({ outcome: 'moved', targetHost: 'node-2' });
  expect(called).toEqual([`confirm ${cold.id}`]);
  expect(waits).toBe(2);
  simulation.close();
});

test('a move that is cancelled while drover is stopped ends with its migration', async () => {
  const input: MigrateInstanceInput = {
    instance: server,
    sourceHost: 'node-1',
    eviction: { name: 'node-1', uid: 'u' },
    consent: [],
    accepted: false,
    settings,
  };
  const started = Promise.withResolvers<void>();
  let endsAtMs = Infinity;
  const simulation = createSimulation({
    bundle: await loadWorkflows(),
    seed: 1,
    serve: ({ clock }) => [
      {
        taskQueue: kubernetesQueue(settings.cluster),
        activities: { awaitStopLifted: () => new Promise(() => undefined) },
      },
      {
        taskQueue: novaQueue(settings.region, settings.cluster),
        activities: {
          startLiveMigration: async (): Promise<MigrationStart> => ({ outcome: 'started', migration: live }),
          awaitMigration: () => {
            started.resolve();
            return new Promise(() => undefined);
          },
          observeInstance: async () =>
            clock.now() < endsAtMs
              ? { instance: { ...server, ...migrating }, migration: live }
              : { instance: { ...server, host: 'node-2' }, migration: null },
          async abortMigration() {
            throw droverFailure('Stopped', 'Everything was stopped by jane');
          },
        },
      },
    ],
  });
  const { clock } = simulation;
  const run = await simulation.client.workflow.start(workflowTypes.migrateInstance, {
    workflowId: migrationId(server.id, settings.cluster),
    taskQueue: workflowQueue(settings.cluster),
    args: [input],
  });
  const cancel = async (): Promise<unknown> => {
    await started.promise;
    endsAtMs = clock.now() + 3 * minuteMs;
    await run.cancel();
    return await run.result();
  };
  expect(await simulation.run(cancel(), 10 * minuteMs)).toMatchObject({ outcome: 'moved', targetHost: 'node-2' });
  simulation.close();
});

test.each(['stuck', 'cancelled', 'stuck and then cancelled'])(
  'a move that is %s while drover is stopped is aborted when the stop is lifted',
  async (how) => {
    const liftedMs = 22 * minuteMs;
    const input: MigrateInstanceInput = {
      instance: server,
      sourceHost: 'node-1',
      eviction: { name: 'node-1', uid: 'u' },
      consent: [],
      accepted: false,
      settings,
    };
    const started = Promise.withResolvers<number>();
    const inProgress = { instance: { ...server, ...migrating }, migration: live };
    const moved = { instance: { ...server, host: 'node-2' }, migration: null };
    let abortedMs: number | null = null;
    let tried = 0;
    const simulation = createSimulation({
      bundle: await loadWorkflows(),
      seed: 1,
      serve: ({ clock }) => [
        {
          taskQueue: kubernetesQueue(settings.cluster),
          activities: {
            async awaitStopLifted() {
              await clock.sleep(Math.max(0, (await started.promise) + liftedMs - clock.now()));
            },
          },
        },
        {
          taskQueue: novaQueue(settings.region, settings.cluster),
          activities: {
            startLiveMigration: async (): Promise<MigrationStart> => ({ outcome: 'started', migration: live }),
            async awaitMigration() {
              started.resolve(clock.now());
              if (how === 'cancelled') await new Promise(() => undefined);
              return ended({ status: 'running', stuck: 'NoProgress', observation: inProgress });
            },
            observeInstance: async () => inProgress,
            async abortMigration() {
              tried += 1;
              if (clock.now() < (await started.promise) + liftedMs)
                throw droverFailure('Stopped', 'Everything was stopped by jane');
              abortedMs = clock.now();
              return ended({ status: 'completed', observation: moved });
            },
          },
        },
      ],
    });
    const { clock } = simulation;
    const run = await simulation.client.workflow.start(workflowTypes.migrateInstance, {
      workflowId: migrationId(server.id, settings.cluster),
      taskQueue: workflowQueue(settings.cluster),
      args: [input],
    });
    const body = async (): Promise<unknown> => {
      await started.promise;
      if (how === 'stuck and then cancelled') await clock.sleep(3 * minuteMs);
      if (how !== 'stuck') await run.cancel();
      return await run.result();
    };
    expect(await simulation.run(body(), 60 * minuteMs)).toMatchObject({ outcome: 'moved', targetHost: 'node-2' });
    expect((abortedMs ?? Infinity) - (await started.promise) - liftedMs).toBeLessThan(10_000);
    // It watches Nova meanwhile, by pauses that grow.
    expect(tried).toBeGreaterThan(5);
    expect(tried).toBeLessThan(15);
    simulation.close();
  },
);
