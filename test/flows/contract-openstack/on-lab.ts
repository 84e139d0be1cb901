import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openSession as openKeystone } from '../../../activities/keystone/client.ts';
import type { KeystoneSession } from '../../../activities/keystone/types.ts';
import { createNovaClient } from '../../../activities/nova/client.ts';
import { type LabOptions, startLab, stopLab } from '../../../lab/lab.ts';
import { connectFleet, type Fleet } from '../../../lab/openstack/fleet.ts';
import type { CloudName, OpenStackHandle } from '../../../lab/openstack/handle.ts';
import { readApiCalls, readMigrationEvents } from '../../../lab/openstack/journal.ts';
import { resetOpenStack } from '../../../lab/openstack/reset.ts';
import { listServers } from '../../../lab/openstack/seed.ts';
import { openSession, type Session } from '../../../lab/openstack/session.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { loadOpenStackSettings } from '../../../runtime/config/openstack-settings.ts';
import type { ContractTest } from '../../contracts/openstack.ts';
import { until } from '../until.ts';

/** The first run on a machine installs OpenStack from PyPI. */
const startTimeoutMs = 15 * 60_000;
/** More than its waits take together. */
const testTimeoutMs = 600_000;
const open: KeystoneSession[] = [];

interface OwnLab {
  handle: OpenStackHandle;
  session: Session;
  fleet: Fleet;
}

async function startOwnLab(dir: string, options: NonNullable<LabOptions<'openstack'>['openstack']>): Promise<OwnLab> {
  const { handles } = await startLab({ dir, parts: ['openstack'], openstack: options });
  return {
    handle: handles.openstack,
    session: await openSession(handles.openstack),
    fleet: connectFleet(handles.openstack),
  };
}

function connect(
  { handle }: OwnLab,
  ...[change = {}, clock = systemClock]: Parameters<Parameters<Parameters<ContractTest>[1]>[0]['connect']>
): KeystoneSession {
  const session = openKeystone({ ...settingsOf(handle), ...change }, { clock });
  open.push(session);
  return session;
}

const settingsOf = (handle: OpenStackHandle, cloud: CloudName = 'lab') =>
  loadOpenStackSettings({ OS_CLIENT_CONFIG_FILE: handle.cloudsFile, OS_CLOUD: cloud });

/** Each test of a contract finds the lab as it was when it was new. */
const onLab =
  (own: () => OwnLab): ContractTest =>
  (name, body) => {
    test(
      name,
      async () => {
        const lab = own();
        const { handle, session, fleet } = lab;
        await resetOpenStack(handle);
        await dropLeftAllocations(session);
        await dropLeftTraits(session);
        const startedMs = Date.now();
        try {
          await body({
            admin: session,
            fleet,
            settings: (cloud) => settingsOf(handle, cloud),
            connect: (...given) => connect(lab, ...given),
            apiCalls: (service, sinceMs) => readApiCalls(handle, service, Math.max(sinceMs, startedMs)),
            migrationEvents: (sinceMs) => readMigrationEvents(handle, Math.max(sinceMs, startedMs)),
          });
        } finally {
          // To ask for them takes a token and eight requests; where Nova has begun none, there is none.
          if (readMigrationEvents(handle, startedMs).length > 0) await endCopies(lab);
          await Promise.all(open.splice(0).map((one) => one.close()));
        }
      },
      testTimeoutMs,
    );
  };

/** A copy that hangs holds its host's one slot, even when its server is gone. */
async function endCopies(lab: OwnLab): Promise<void> {
  const nova = createNovaClient(connect(lab));
  await until('every copy to end', 60_000, async () => {
    const copying = await nova.migrationsCopying(AbortSignal.timeout(30_000));
    await Promise.all(copying.map(({ instanceId }) => lab.fleet.script(instanceId, ['ok'])));
    return copying.length === 0 || copying.map(({ id, status }) => `${id} ${status}`).join(', ');
  });
}

/** A nova-compute that was restarted meanwhile does not know the traits that the one before it has set. */
async function dropLeftTraits(session: Session): Promise<void> {
  const { resource_providers: providers } = await session
    .placement<{ resource_providers: { uuid: string }[] }>('GET', '/resource_providers?required=CUSTOM_LAB')
    .catch(() => ({ resource_providers: [] }));
  for (const { uuid } of providers) {
    const path = `/resource_providers/${uuid}/traits`;
    const { traits, ...rest } = await session.placement<{ traits: string[]; resource_provider_generation: number }>(
      'GET',
      path,
    );
    await session.placement('PUT', path, {
      body: { ...rest, traits: traits.filter((trait) => trait !== 'CUSTOM_LAB') },
    });
  }
}

/** Nova drops the allocation of a migration whose server is deleted on the way. */
async function dropLeftAllocations(session: Session): Promise<void> {
  const { resource_providers: providers } = await session.placement<{ resource_providers: { uuid: string }[] }>(
    'GET',
    '/resource_providers',
  );
  const servers = new Set((await listServers(session)).map(({ id }) => id));
  for (const { uuid } of providers) {
    const { allocations } = await session.placement<{ allocations: object }>(
      'GET',
      `/resource_providers/${uuid}/allocations`,
    );
    for (const consumer of Object.keys(allocations))
      if (!servers.has(consumer)) await session.placement('DELETE', `/allocations/${consumer}`);
  }
}

/** Contracts on a lab of their own: what a test breaks for good must not be in the way of others. */
export function describeOnLab(
  title: string,
  options: NonNullable<LabOptions<'openstack'>['openstack']>,
  declare: (test: ContractTest) => void,
): void {
  describe(title, () => {
    let dir: string | null = null;
    let own: OwnLab;

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'drover-contract-'));
      own = await startOwnLab(dir, options);
    }, startTimeoutMs);

    afterAll(async () => {
      if (dir === null) return;
      await stopLab({ dir, parts: ['openstack'] });
      rmSync(dir, { recursive: true, force: true });
    }, startTimeoutMs);

    declare(onLab(() => own));
  });
}
