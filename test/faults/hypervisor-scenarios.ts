import { annotations, driftScheduleId, nodeMarks, workflowTypes } from '../../contracts/ids.ts';
import { reportAgentFacts } from '../../lab/hypervisors.ts';
import { changeService, findService } from '../../lab/openstack/hosts.ts';
import { resourcePath } from '../../runtime/kubernetes.ts';
import { quickSettings } from '../flows/world.ts';
import { until } from '../flows/until.ts';
import { applyNode, ensureAggregates, judgeMembership, judgeService, leaveAggregates, leaveAllocation, lifecycleOf, removeTrait, shared } from './hypervisor-objects.ts';
import { regionOf } from './ground.ts';
import type { Scenario } from './scenario.ts';
import type { HostAlias } from './scene.ts';
import type { Stage } from './stage.ts';

/** The lifecycle of a hypervisor in the every-step matrix. A bridge tells of what changes, as one object's change is the next one's cause. */

const patienceMs = 120_000;

export const hypervisorScenarioSettings = {
  ...quickSettings,
  modes: { Eviction: 'act', Hypervisor: 'act' },
  // Looks are steps: one for each thing that happens, so that runs of one scenario have the same.
  hypervisor: { recheckMs: 10_000, lingerMs: 1_000, registrationMs: 60_000, testRetryDelayMs: 200 },
  bridge: { resyncMs: 3_000 },
};

/** Calls of the Eviction that empties the host are the other scenarios' business, and reports come as often as there is news. */
const ofHypervisor = (step: string): boolean => step.startsWith('A-hypervisor/');

/** Looks and reports are the same in all of them: here at what only this one does, and at the look and the report around it. */
const only =
  (...steps: readonly string[]) =>
  (step: string): boolean =>
    steps.some((one) => step === `A-hypervisor/${one}`);

const common = { subject: 'Hypervisor', hosts: 1, ownRegion: true, aims: ofHypervisor, settings: hypervisorScenarioSettings } as const;

/** Waits until the Hypervisor says that it is in that state, and its run is closed. */
export const untilState = (stage: Stage, state: string, alias: HostAlias = 'A'): Promise<unknown> =>
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

async function maintain(stage: Stage): Promise<void> {
  await stage.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' });
  await untilState(stage, 'Maintenance');
}

/** As the Schedule does every few minutes, and an operator who does not want to wait. */
const lookForDrift = ({ lane }: Stage): Promise<void> => lane.client.schedule.getHandle(driftScheduleId('RegionOne')).trigger();

/** Somebody has cancelled the run: what it would have done is not done. */
const isStopped = async (stage: Stage): Promise<boolean> => {
  const object = await stage.read('A');
  return object !== null && stage.subject.isStopped(object);
};

/** Waits until nothing is left to complain of, or until nobody mends it any more. */
async function untilMended(stage: Stage, complaints: () => Promise<readonly string[]>): Promise<void> {
  await until('it to be mended, or the run to be stopped', patienceMs, async () => {
    const left = await complaints();
    return left.length === 0 || (await isStopped(stage)) || left.join('; ');
  });
}

/** Whoever ends a look for drift has the next one; the Schedule would too, in a while. */
function lookAgain(stage: Stage, complaints: () => Promise<string[]>): () => Promise<string[]> {
  const { lane, sinceMs } = stage;
  const query = `WorkflowType = "${workflowTypes.findDrift}" AND ExecutionStatus IN ("Canceled", "Terminated") AND StartTime >= "${new Date(sinceMs).toISOString()}"`;
  let known = 0;
  return async () => {
    const { count } = await lane.client.workflow.count(query);
    if (count > known) await lookForDrift(stage);
    known = count;
    return await complaints();
  };
}

/** Of what is only right where nobody has stopped the run. */
const unlessStopped = async (stage: Stage, complaints: () => Promise<string[]>): Promise<string[]> => ((await isStopped(stage)) ? [] : await complaints());

const judgeMember = (stage: Stage): Promise<string[]> => judgeMembership(regionOf(stage.lane.ground), stage.hostOf('A'));

async function judgeDisabled(stage: Stage): Promise<string[]> {
  const { status, disabled_reason: reason } = await findService(regionOf(stage.lane.ground).session, stage.hostOf('A'));
  return status === 'disabled' && reason?.startsWith('drover: maintenance manual') === true ? [] : [`its service is ${status}: ${reason}`];
}

async function judgeReleased(stage: Stage): Promise<string[]> {
  const object = await stage.read('A');
  return object?.spec?.['lifecycleEnabled'] === false ? [] : ['its lifecycle is still driven'];
}

/** As its kubelet would be; the service of one that answers is not removed. */
async function crashWhenAsked(stage: Stage): Promise<void> {
  await until('nova-compute to be waited for, or the end', patienceMs, async () => {
    const object = await stage.read('A');
    return (object !== null && stage.subject.isStopped(object)) || lifecycleOf(object).message.includes('nova-compute on the host still answers') || 'not yet';
  });
  await regionOf(stage.lane.ground).fleet.crash(stage.hostOf('A'));
}

const annotate = async ({ lane, subject, hostOf }: Stage, given: Readonly<Record<string, string>>): Promise<void> =>
  void (await lane.ground.api.request({ method: 'PATCH', patchType: 'merge', path: subject.path(hostOf('A')), body: { metadata: { annotations: given } } }, AbortSignal.timeout(20_000)));

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
      await maintain(stage);
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
    meanwhile: crashWhenAsked,
    ends: { A: 'Decommissioned' },
  },
  {
    ...common,
    name: 'drift',
    title: 'somebody takes a hypervisor in service out of an aggregate, and a trait off it',
    aims: (step) => step === 'drift/findDrift.1' || only('observeHypervisor.1', 'createTraits.1', 'updateTraits.1', 'addToAggregates.1')(step),
    prepare: putIntoService,
    async start(stage) {
      const region = regionOf(stage.lane.ground);
      await leaveAggregates(region, stage.hostOf('A'), shared);
      await removeTrait(region, stage.hostOf('A'));
      await lookForDrift(stage);
    },
    meanwhile: (stage) => untilMended(stage, lookAgain(stage, () => judgeMember(stage))),
    ends: { A: 'Active' },
    judge: (stage) => unlessStopped(stage, async () => [...(await judgeMember(stage)), ...(await judgeService(regionOf(stage.lane.ground), stage.hostOf('A')))]),
  },
  {
    ...common,
    name: 'undermined',
    title: 'somebody enables a hypervisor that is in maintenance, and takes it out of an aggregate',
    aims: only('observeHypervisor.1', 'ensureServiceDisabled.1', 'addToAggregates.1'),
    async prepare(stage) {
      await putIntoService(stage);
      await maintain(stage);
    },
    async start(stage) {
      const host = stage.hostOf('A');
      const region = regionOf(stage.lane.ground);
      await leaveAggregates(region, host, shared);
      stage.ownChanges.push({ host, atMs: Date.now(), enabled: true, reason: null });
      await changeService(region.session, host, { status: 'enabled' });
      await lookForDrift(stage);
    },
    meanwhile: (stage) => untilMended(stage, async () => [...(await judgeMember(stage)), ...(await judgeDisabled(stage))]),
    ends: { A: 'Maintenance' },
    judge: (stage) => unlessStopped(stage, async () => [...(await judgeMember(stage)), ...(await judgeDisabled(stage))]),
  },
  {
    ...common,
    name: 'released',
    title: 'a hypervisor in service whose Node says no more that drover is to drive it',
    aims: only('observeHypervisor.1', 'patchHypervisor.1', 'publishHypervisor.2'),
    prepare: putIntoService,
    async start({ lane, hostOf }) {
      const path = resourcePath('v1', 'nodes', { name: hostOf('A') });
      await lane.ground.api.request({ method: 'PATCH', patchType: 'merge', path, body: { metadata: { labels: { [nodeMarks.lifecycle]: null } } } }, AbortSignal.timeout(20_000));
    },
    meanwhile: (stage) => untilMended(stage, () => judgeReleased(stage)),
    ends: { A: 'Active' },
    // It stays where it is: only nobody looks after it.
    judge: (stage) => unlessStopped(stage, async () => [...(await judgeReleased(stage)), ...(await judgeService(regionOf(stage.lane.ground), stage.hostOf('A')))]),
  },
  {
    ...common,
    name: 'retried',
    title: 'a run that somebody cancels while its hypervisor is emptied, and a retry',
    aims: only('publishHypervisor.4', 'observeHypervisor.4', 'patchHypervisor.1'),
    async prepare(stage) {
      await putIntoService(stage);
      await stage.seed('A', [{ seconds: 1 }]);
    },
    start: (stage) => stage.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' }),
    async meanwhile(stage) {
      await until('it to be emptied, or the end', patienceMs, async () => {
        const { reason, message } = lifecycleOf(await stage.read('A'));
        return reason === 'Maintenance' || (await isStopped(stage)) || (reason === 'Evicting' && message.includes('Eviction ')) || `${reason}: ${message}`;
      });
      const { runId } = await stage.run('A').describe();
      const run = stage.lane.client.workflow.getHandle(stage.subject.workflowId(stage.hostOf('A')), runId);
      // It may have come to its end.
      await run.cancel().catch(() => undefined);
      await until('that run to be over', patienceMs, async () => (await run.describe()).status.name !== 'RUNNING' || 'not yet');
      await annotate(stage, { [annotations.retry]: new Date().toISOString() });
    },
    ends: { A: 'Maintenance' },
    judge: (stage) => unlessStopped(stage, () => judgeDisabled(stage)),
  },
  {
    ...common,
    name: 'leftovers',
    title: 'a hypervisor is taken out of Nova that has an allocation of no server, which somebody gives up',
    aims: only('releaseAllocations.1', 'deleteEviction.1'),
    async prepare(stage) {
      await putIntoService(stage);
      await leaveAllocation(regionOf(stage.lane.ground), stage.hostOf('A'));
      await annotate(stage, { [annotations.consent]: 'delete-allocations', [annotations.consentBy]: `fault-matrix ${new Date().toISOString()}` });
    },
    start: (stage) => stage.change('A', { maintenance: 'termination', maintenanceReason: 'fault matrix' }),
    meanwhile: crashWhenAsked,
    ends: { A: 'Decommissioned' },
  },
];
