import type { MigrateInstanceInput, MigrationStart } from '../../contracts/eviction/migrate-instance.ts';
import { kubernetesQueue, migrationId, novaQueue, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { finalFailure } from '../../activities/lib/wait.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { settings } from '../fixtures/workflows/eviction.ts';
import { cold, ended, finished, resized, server } from '../fixtures/workflows/migration.ts';
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
