import { openSession } from '../../activities/keystone/client.ts';
import { createNovaClient } from '../../activities/nova/client.ts';
import type { NovaClient } from '../../activities/nova/types.ts';
import type { MigrationStart, MigrationSubject } from '../../contracts/eviction/migrate-instance.ts';
import { type Clock, systemClock, withTimeout } from '../../runtime/clock.ts';
import { loadOpenStackSettings } from '../../runtime/config/openstack-settings.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { Mutation } from './gate.ts';

const limitMs = 12_000;
const pauseMs = 100;

export function openBlindStart(): Mutation {
  const settings = loadOpenStackSettings(process.env, { cloud: process.env['OS_CLOUD'] ?? 'lab' });
  const nova = createNovaClient(openSession(settings, { clock: systemClock }));
  return (activity, args) =>
    activity === 'startLiveMigration' ? () => blindStart(nova, systemClock, args[0] as MigrationSubject) : undefined;
}

/** Asks Nova to move the server without looking whether an earlier attempt has done so, as soon as Nova takes it. */
export const blindStart = (nova: NovaClient, clock: Clock, { instanceId }: MigrationSubject): Promise<MigrationStart> =>
  withTimeout(clock, limitMs, async (signal) => {
    const known = (await nova.migrationsOf(instanceId, signal)).map(({ id }) => id);
    for (let asked = false; !asked;) {
      try {
        await nova.liveMigrate(instanceId, { host: null }, signal);
        asked = true;
      } catch (error) {
        if (failureCode(error) !== 'InstanceBusy') throw error;
        await clock.sleep(pauseMs, signal);
      }
    }
    for (;;) {
      const migration = (await nova.migrationsOf(instanceId, signal)).find(({ id }) => !known.includes(id));
      if (migration !== undefined) return { outcome: 'started', migration };
      await clock.sleep(pauseMs, signal);
    }
  });
