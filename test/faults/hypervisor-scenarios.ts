import { reportAgentFacts } from '../../lab/hypervisors.ts';
import { quickSettings } from '../flows/world.ts';
import { until } from '../flows/until.ts';
import { applyNode, ensureAggregates, lifecycleOf } from './hypervisor-objects.ts';
import { regionOf } from './ground.ts';
import type { Scenario } from './scenario.ts';
import type { HostAlias } from './scene.ts';
import type { Stage } from './stage.ts';

/** The lifecycle of a hypervisor in the every-step matrix. A bridge tells of what changes, as one object's change is the next one's cause. */

const patienceMs = 120_000;

const settings = {
  ...quickSettings,
  modes: { Eviction: 'act', Hypervisor: 'act' },
  // Looks are steps: one for each thing that happens, so that runs of one scenario have the same.
  hypervisor: { recheckMs: 10_000, lingerMs: 1_000, registrationMs: 60_000, testRetryDelayMs: 200 },
  bridge: { resyncMs: 3_000 },
};

/** Calls of the Eviction that empties the host are the other scenarios' business, and reports come as often as there is news. */
const ofHypervisor = (step: string): boolean => step.startsWith('A-hypervisor/');

const common = { subject: 'Hypervisor', hosts: 1, ownRegion: true, aims: ofHypervisor, settings } as const;

/** Waits until the Hypervisor says that it is in that state, and its run is closed. */
const untilState = (stage: Stage, state: string, alias: HostAlias = 'A'): Promise<unknown> =>
  until(`${alias} to be ${state}`, patienceMs, async () => {
    const object = await stage.read(alias);
    const { reason, status, message } = lifecycleOf(object);
    if (object === null || reason !== state || status !== 'True') return `${reason} ${status}: ${message}`;
    const { status: run } = await stage.run(alias).describe();
    return run.name === 'COMPLETED' || `its run is ${run.name}`;
  });

async function putIntoService(stage: Stage): Promise<void> {
  await ensureAggregates(regionOf(stage.lane.ground));
  await applyNode(stage.lane.ground, stage.hostOf('A'));
  await untilState(stage, 'Active');
  await reportAgentFacts(stage.lane.ground.lab.handles.kubernetes, stage.hostOf('A'));
}

export const hypervisorScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'onboarding',
    title: 'a Node becomes a hypervisor in service',
    prepare: ({ lane }) => ensureAggregates(regionOf(lane.ground)),
    start: (stage) => applyNode(stage.lane.ground, stage.hostOf('A')),
    ends: { A: 'Active' },
  },
  {
    ...common,
    name: 'maintenance',
    title: 'a hypervisor with a server is taken into maintenance',
    async prepare(stage) {
      await putIntoService(stage);
      await stage.seed('A', [{}]);
    },
    start: (stage) => stage.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' }),
    ends: { A: 'Maintenance' },
  },
  {
    ...common,
    name: 'activation',
    title: 'a hypervisor comes back from maintenance',
    async prepare(stage) {
      await putIntoService(stage);
      await stage.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' });
      await untilState(stage, 'Maintenance');
    },
    start: (stage) => stage.change('A', { maintenance: '' }),
    ends: { A: 'Active' },
  },
  {
    ...common,
    name: 'decommissioning',
    title: 'a hypervisor is taken out of Nova for good',
    prepare: putIntoService,
    start: (stage) => stage.change('A', { maintenance: 'termination', maintenanceReason: 'fault matrix' }),
    // As its kubelet would be; the service of one that answers is not removed.
    async meanwhile(stage) {
      await until('nova-compute to be waited for, or the end', patienceMs, async () => {
        const object = await stage.read('A');
        return (object !== null && stage.subject.isStopped(object)) || lifecycleOf(object).message.includes('nova-compute on the host still answers') || 'not yet';
      });
      await regionOf(stage.lane.ground).fleet.crash(stage.hostOf('A'));
    },
    ends: { A: 'Decommissioned' },
  },
];
