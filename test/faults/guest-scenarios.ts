import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { guestWatchId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { reportAgentStatus } from '../../lab/hypervisors.ts';
import { startGuestWatches } from '../../runtime/temporal/system-workflows.ts';
import { until } from '../flows/until.ts';
import { libvirtOf, regionOf } from './environment.ts';
import {
  applyNeighbour,
  applyNode,
  ensureAggregates,
  lifecycleOf,
  removeObjectsOf,
  reportReady,
  shared,
} from './hypervisor-objects.ts';
import { hypervisorScenarioSettings, unlessStopped, untilState } from './hypervisor-scenarios.ts';
import { judgeMaintenance, judgeMoved, judgeMovedLive } from './judge-hypervisor.ts';
import type { Scenario } from './scenario.ts';
import type { ScenarioContext } from './context.ts';

/**
 * Guests that fail on a host that lives, in the every-step matrix: QEMUs of a real libvirt that are killed, and drover
 * listening to it.
 */

/** Hosts that are well: where half of all fail, drover does nothing to any. */
export const neighbours = ['node-3', 'node-4'];
const patienceMs = 200_000;

const settings = {
  ...hypervisorScenarioSettings,
  // One cell's host is no reason to wait for the next one's.
  nodeFailure: {
    mode: 'automatic',
    automaticAggregates: [shared],
    failAfterMs: 1_000,
    observeMs: 500,
    restObserveMs: 1_000,
    gates: { cycleMs: 1 },
    guestEvents: { observeMs: 300 },
  },
};

/** A host whose failures are handled, as its Hypervisor says. */
export async function putIntoCare(context: ScenarioContext): Promise<void> {
  const { environment } = context.fixture;
  const host = context.hostOf('A');
  await ensureAggregates(regionOf(environment));
  for (const name of neighbours) {
    await applyNeighbour(environment, name);
    await reportReady(environment, name, '127.0.0.1');
  }
  await applyNode(environment, host);
  await reportReady(environment, host, libvirtOf(environment).address, { bootId: 'boot-1' });
  await until('its failures to be handled', patienceMs, async () => {
    const object = await context.read('A');
    return (
      findCondition(object?.status?.conditions, hypervisorConditions.haEnabled)?.status === 'True' ||
      lifecycleOf(object).message
    );
  });
  await untilState(context, 'Active');
  await reportAgentStatus(environment.api, host);
}

/** The listener lists the hosts each minute only; one that begins anew does so at once. */
async function listenAnew({ fixture: { client } }: ScenarioContext): Promise<void> {
  await client.workflow
    .getHandle(guestWatchId(0))
    .terminate('the fault matrix has another host')
    .catch(() => undefined);
  await startGuestWatches(client, { shards: 1, cluster: '' }, { clock: labClock() });
  await until('the host to be listened to', patienceMs, async () => {
    const { raw } = await client.workflow.getHandle(guestWatchId(0)).describe();
    const [beat] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
    const said = Buffer.from(beat?.data ?? '').toString('utf8');
    return said.includes('"connected":1') || `it says ${said}`;
  });
}

export const guestScenarios: readonly Scenario[] = [
  {
    name: 'guests',
    title: 'two guests of a host that lives lose their QEMUs, and it is handed over to be emptied',
    subject: 'Hypervisor',
    parts: ['libvirt'],
    hosts: 1,
    ownRegion: true,
    // The rest of such a run is that of every host that fails, and how the host is emptied is as in `maintenance`.
    targets: (step) =>
      ['A-failure/observeNodeFailure.1', 'A-failure/claimFencing.1', 'A-failure/patchHypervisor.1'].includes(step),
    settings,
    settingsIn: (environment) => ({ hypervisor: { ...settings.hypervisor, libvirt: libvirtOf(environment).settings } }),
    async prepare(context) {
      await putIntoCare(context);
      await context.seed('A', [{}]);
    },
    async start(context) {
      await listenAnew(context);
      await libvirtOf(context.fixture.environment).loseGuests(2);
    },
    // The word of it is repeated each minute, so that one that was lost with its run comes again.
    async meanwhile(context) {
      try {
        await until('it to be handed over', patienceMs, async () => {
          const object = await context.read('A');
          return (
            object?.spec?.['maintenance'] === 'ha' ||
            (findCondition(object?.status?.conditions, hypervisorConditions.nodeFailure)?.message ??
              'no word of its failure')
          );
        });
      } finally {
        for (const name of neighbours) await removeObjectsOf(context.fixture.environment, name);
      }
    },
    ends: { A: 'Maintenance' },
    judge: unlessStopped(async (world, host, { expected }) => [
      ...(await judgeMaintenance(world, host, 'ha')),
      ...(await judgeMoved(world, host, expected.keys())),
      ...(await judgeMovedLive(world, host, expected.keys())),
    ]),
  },
];
