import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor-conditions.ts';
import { guestWatchId } from '../../contracts/ids.ts';
import { reportAgentFacts } from '../../lab/hypervisors.ts';
import type { LibvirtHandle } from '../../lab/libvirt/handle.ts';
import { startGuestWatches } from '../../runtime/standing-runs.ts';
import { until } from '../flows/until.ts';
import type { MatrixLab } from './ground.ts';
import { regionOf } from './ground.ts';
import { applyNeighbour, applyNode, ensureAggregates, lifecycleOf, removeObjectsOf, reportReady, shared } from './hypervisor-objects.ts';
import { hypervisorScenarioSettings, untilState } from './hypervisor-scenarios.ts';
import { loseGuests } from './lose-guests.ts';
import type { Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** Guests that fail on a host that lives, in the every-step matrix: QEMUs of a real libvirt that are killed, and drover listening to it. */

/** Of the lab's libvirt daemons, the one that is the host's. */
const machine = 'node-1';
/** Hosts that are well: where half of all fail, drover does nothing to any. */
const neighbours = ['node-3', 'node-4'];
const patienceMs = 200_000;

const settings = {
  ...hypervisorScenarioSettings,
  // One cell's host is no reason to wait for the next one's.
  nodeFailure: { mode: 'automatic', automaticAggregates: [shared], failAfterMs: 1_000, lookMs: 500, restLookMs: 1_000, gates: { cycleMs: 1 }, guestEvents: { lookMs: 300 } },
};

const libvirtOf = ({ handles }: MatrixLab): LibvirtHandle => handles.libvirt ?? raise('the lab has no libvirt');

const raise = (message: string): never => {
  throw new Error(message);
};

/** A host whose guests are listened to: its Hypervisor says that its failures are handled. */
async function putIntoCare(stage: Stage): Promise<void> {
  const { ground } = stage.lane;
  const host = stage.hostOf('A');
  await ensureAggregates(regionOf(ground));
  for (const name of neighbours) {
    await applyNeighbour(ground, name);
    await reportReady(ground, name, '127.0.0.1');
  }
  await applyNode(ground, host);
  await reportReady(ground, host, libvirtOf(ground.lab).addresses[machine] ?? '');
  await until('its failures to be handled', patienceMs, async () => {
    const object = await stage.read('A');
    return findCondition(object?.status?.conditions, hypervisorConditions.haEnabled)?.status === 'True' || lifecycleOf(object).message;
  });
  await untilState(stage, 'Active');
  await reportAgentFacts(ground.lab.handles.kubernetes, host);
}

/** Whoever listens lists the hosts each minute only; one that begins anew does so at once. */
async function listenAnew({ lane: { client } }: Stage): Promise<void> {
  await client.workflow.getHandle(guestWatchId(0)).terminate('the fault matrix has another host').catch(() => undefined);
  await startGuestWatches(client, { shards: 1, cluster: '' });
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
    aims: (step) => ['A-failure/observeNodeFailure.1', 'A-failure/claimFencing.1', 'A-failure/patchHypervisor.1'].includes(step),
    settings,
    settingsIn: (lab) => ({ hypervisor: { ...settings.hypervisor, libvirt: { connectUri: libvirtOf(lab).tcpUri, minimumVersion: '8.0.0' } } }),
    async prepare(stage) {
      await putIntoCare(stage);
      await stage.seed('A', [{}]);
    },
    async start(stage) {
      await listenAnew(stage);
      await loseGuests(libvirtOf(stage.lane.ground.lab), machine, 2);
    },
    // The word of it is repeated each minute, so that one that was lost with its run comes again.
    async meanwhile(stage) {
      try {
        await until('it to be handed over', patienceMs, async () => {
          const object = await stage.read('A');
          return object?.spec?.['maintenance'] === 'ha' || (findCondition(object?.status?.conditions, hypervisorConditions.nodeFailure)?.message ?? 'no word of its failure');
        });
      } finally {
        for (const name of neighbours) await removeObjectsOf(stage.lane.ground, name);
      }
    },
    ends: { A: 'Maintenance' },
  },
];
