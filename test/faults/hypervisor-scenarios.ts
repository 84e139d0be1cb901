import { labClock } from '../../lab/clock.ts';
import { annotations, driftScheduleId, nodeMetadata, workflowTypes } from '../../contracts/ids.ts';
import { reportAgentStatus } from '../../lab/hypervisors.ts';
import { changeService } from '../../lab/openstack/hosts.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { quickSettings } from '../flows/world-base.ts';
import { until } from '../flows/until.ts';
import { regionOf } from './environment.ts';
import {
  applyNode,
  ensureAggregates,
  leaveAggregates,
  leaveAllocation,
  lifecycleOf,
  removeTrait,
  shared,
} from './hypervisor-objects.ts';
import {
  judgeDecommissioned,
  judgeDisabled,
  judgeInService,
  judgeMaintenance,
  judgeMembership,
  judgeMoved,
  judgeOrder,
} from './judge-hypervisor.ts';
import type { Judged } from './judge-hypervisor.ts';
import type { Scenario } from './scenario.ts';
import type { HostAlias } from './context-base.ts';
import type { ScenarioContext } from './context.ts';

/**
 * The lifecycle of a hypervisor in the every-step matrix. A bridge tells of what changes, as one object's change is the
 * next one's cause.
 */

const patienceMs = 120_000;

export const hypervisorScenarioSettings = {
  ...quickSettings,
  modes: { Eviction: 'act', Hypervisor: 'act' },
  // Looks are steps: one for each thing that happens, so that runs of one scenario have the same.
  hypervisor: { recheckMs: 10_000, lingerMs: 1_000, registrationMs: 60_000, testRetryDelayMs: 200 },
  bridge: { resyncMs: 3_000 },
};

/**
 * Calls of the Eviction that empties the host are the other scenarios' business, and reports come as often as
 * there is news.
 */
const ofHypervisor = (step: string): boolean => step.startsWith('A-hypervisor/');

/**
 * Looks and reports are the same in all of them: here at what only this one does, and at the look and the
 * report around it.
 */
const only =
  (...steps: readonly string[]) =>
  (step: string): boolean =>
    steps.some((one) => step === `A-hypervisor/${one}`);

const common = {
  subject: 'Hypervisor',
  hosts: 1,
  ownRegion: true,
  targets: ofHypervisor,
  settings: hypervisorScenarioSettings,
} as const;

/** Waits until the Hypervisor says that it is in that state, and its run is closed. */
export const untilState = (context: ScenarioContext, state: string, alias: HostAlias = 'A'): Promise<unknown> =>
  until(`${alias} to be ${state}`, patienceMs, async () => {
    const object = await context.read(alias);
    const { reason, status, message } = lifecycleOf(object);
    if (object === null || reason !== state || status !== 'True') return `${reason} ${status}: ${message}`;
    const { status: run } = await context.run(alias).describe();
    return run.name === 'COMPLETED' || `its run is ${run.name}`;
  });

export async function putIntoService(context: ScenarioContext): Promise<void> {
  await ensureAggregates(regionOf(context.fixture.environment));
  await applyNode(context.fixture.environment, context.hostOf('A'));
  await untilState(context, 'Active');
  await reportAgentStatus(context.fixture.environment.api, context.hostOf('A'));
}

async function maintain(context: ScenarioContext): Promise<void> {
  await context.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' });
  await untilState(context, 'Maintenance');
}

/** As the Schedule does every few minutes, and an operator who does not want to wait. */
const lookForDrift = ({ fixture }: ScenarioContext): Promise<void> =>
  fixture.client.schedule.getHandle(driftScheduleId('RegionOne')).trigger();

/** A user has cancelled the run: what it would have done is not done. */
export const isStopped = async (context: ScenarioContext): Promise<boolean> => {
  const object = await context.read('A');
  return object !== null && context.subject.isStopped(object);
};

/** Waits until nothing is left to complain of, or until no run mends it any more. */
async function untilMended(context: ScenarioContext, complaints: () => Promise<readonly string[]>): Promise<void> {
  await until('it to be mended, or the run to be stopped', patienceMs, async () => {
    const left = await complaints();
    return left.length === 0 || (await isStopped(context)) || left.join('; ');
  });
}

/** A user who ends a look for drift starts the next one; the Schedule would too, in a while. */
function lookAgain(context: ScenarioContext, complaints: () => Promise<string[]>): () => Promise<string[]> {
  const { fixture, sinceMs } = context;
  const query = `WorkflowType = "${workflowTypes.findDrift}" AND ExecutionStatus IN ("Canceled", "Terminated") AND StartTime >= "${new Date(sinceMs).toISOString()}"`;
  let known = 0;
  return async () => {
    const { count } = await fixture.client.workflow.count(query);
    if (count > known) await lookForDrift(context);
    known = count;
    return await complaints();
  };
}

/** What a judge reads of the context. */
const judgedOf = ({ fixture: { environment } }: ScenarioContext): Judged => ({
  session: regionOf(environment).session,
  api: environment.api,
});

/** Where the run was stopped, only the order holds in which a host is taken out. */
export const unlessStopped =
  (judge: (world: Judged, host: string, context: ScenarioContext) => Promise<string[]>) =>
  async (context: ScenarioContext): Promise<string[]> =>
    await ((await isStopped(context)) ? judgeOrder : judge)(judgedOf(context), context.hostOf('A'), context);

const inService = { ends: { A: 'Active' }, judge: unlessStopped(judgeInService) } as const;

const inMaintenance = {
  ends: { A: 'Maintenance' },
  judge: unlessStopped(async (world, host, { expected }) => [
    ...(await judgeMaintenance(world, host, 'manual')),
    ...(await judgeMoved(world, host, expected.keys())),
  ]),
} as const;

const decommissioned = { ends: { A: 'Decommissioned' }, judge: unlessStopped(judgeDecommissioned) } as const;

const judgeMember = (context: ScenarioContext): Promise<string[]> =>
  judgeMembership(judgedOf(context), context.hostOf('A'));

async function judgeReleased(context: ScenarioContext): Promise<string[]> {
  const object = await context.read('A');
  return object?.spec?.['lifecycleEnabled'] === false ? [] : ['its lifecycle is still driven'];
}

/** As its kubelet would be; the service of one that answers is not removed. */
export async function crashWhenAsked(context: ScenarioContext): Promise<void> {
  await until('nova-compute to be waited for, or the end', patienceMs, async () => {
    const object = await context.read('A');
    return (
      (object !== null && context.subject.isStopped(object)) ||
      lifecycleOf(object).message.includes('nova-compute on the host still answers') ||
      'not yet'
    );
  });
  await regionOf(context.fixture.environment).fleet.crash(context.hostOf('A'));
}

const annotate = async (
  { fixture, subject, hostOf }: ScenarioContext,
  given: Readonly<Record<string, string>>,
): Promise<void> =>
  void (await fixture.environment.api.request(
    {
      method: 'PATCH',
      patchType: 'merge',
      path: subject.path(hostOf('A')),
      body: { metadata: { annotations: given } },
    },
    AbortSignal.timeout(20_000),
  ));

export const hypervisorScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'onboarding',
    title: 'a Node becomes a hypervisor in service',
    prepare: ({ fixture }) => ensureAggregates(regionOf(fixture.environment)),
    start: (context) => applyNode(context.fixture.environment, context.hostOf('A')),
    ...inService,
  },
  {
    ...common,
    name: 'maintenance',
    title: 'a hypervisor with a server is taken into maintenance',
    async prepare(context) {
      await putIntoService(context);
      await context.seed('A', [{}]);
    },
    start: (context) => context.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' }),
    ...inMaintenance,
  },
  {
    ...common,
    name: 'activation',
    title: 'a hypervisor comes back from maintenance',
    async prepare(context) {
      await putIntoService(context);
      await maintain(context);
    },
    start: (context) => context.change('A', { maintenance: '' }),
    ...inService,
  },
  {
    ...common,
    name: 'decommissioning',
    title: 'a hypervisor is taken out of Nova for good',
    prepare: putIntoService,
    start: (context) => context.change('A', { maintenance: 'termination', maintenanceReason: 'fault matrix' }),
    meanwhile: crashWhenAsked,
    ...decommissioned,
  },
  {
    ...common,
    name: 'drift',
    title: 'another client takes a hypervisor in service out of an aggregate, and a trait off it',
    targets: (step) =>
      step === 'drift/findDrift.1' || only('observeHypervisor.1', 'updateTraits.1', 'changeAggregates.1')(step),
    prepare: putIntoService,
    async start(context) {
      const region = regionOf(context.fixture.environment);
      await leaveAggregates(region, context.hostOf('A'), shared);
      await removeTrait(region, context.hostOf('A'));
      await lookForDrift(context);
    },
    meanwhile: (context) =>
      untilMended(
        context,
        lookAgain(context, () => judgeMember(context)),
      ),
    ...inService,
  },
  {
    ...common,
    name: 'undermined',
    title: 'another client enables a hypervisor that is in maintenance, and takes it out of an aggregate',
    targets: only('observeHypervisor.1', 'ensureServiceDisabled.1', 'changeAggregates.1'),
    async prepare(context) {
      await putIntoService(context);
      await maintain(context);
    },
    async start(context) {
      const host = context.hostOf('A');
      const region = regionOf(context.fixture.environment);
      await leaveAggregates(region, host, shared);
      context.ownChanges.push({ host, atMs: labClock().now(), enabled: true, reason: null });
      await changeService(region.session, host, { status: 'enabled' });
      await lookForDrift(context);
    },
    meanwhile: (context) =>
      untilMended(context, async () => [
        ...(await judgeMember(context)),
        ...(await judgeDisabled(judgedOf(context), context.hostOf('A'), 'manual')),
      ]),
    ...inMaintenance,
  },
  {
    ...common,
    name: 'released',
    title: 'a hypervisor in service whose Node says no more that drover is to drive it',
    targets: only('observeHypervisor.1', 'patchHypervisor.1', 'publishHypervisor.2'),
    prepare: putIntoService,
    async start({ fixture, hostOf }) {
      const path = resourcePath('v1', 'nodes', { name: hostOf('A') });
      await fixture.environment.api.request(
        {
          method: 'PATCH',
          patchType: 'merge',
          path,
          body: { metadata: { labels: { [nodeMetadata.lifecycle]: null } } },
        },
        AbortSignal.timeout(20_000),
      );
    },
    meanwhile: (context) => untilMended(context, () => judgeReleased(context)),
    ends: { A: 'Active' },
    // It stays where it is, and no run looks after it.
    judge: unlessStopped(async (world, host, context) => [
      ...(await judgeReleased(context)),
      ...(await judgeInService(world, host)),
    ]),
  },
  {
    ...common,
    name: 'retried',
    title: 'a run that a user cancels while its hypervisor is emptied, and a retry',
    targets: only('publishHypervisor.2', 'observeHypervisor.4', 'publishHypervisor.3'),
    // The run has been cancelled by then.
    unreached: ['A1/startLiveMigration.1/cancel'],
    async prepare(context) {
      await putIntoService(context);
      await context.seed('A', [{ seconds: 1 }]);
    },
    start: (context) => context.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' }),
    async meanwhile(context) {
      await until('it to be emptied, or the end', patienceMs, async () => {
        const { reason, message } = lifecycleOf(await context.read('A'));
        return (
          reason === 'Maintenance' ||
          (await isStopped(context)) ||
          (reason === 'Evicting' && message.includes('Eviction ')) ||
          `${reason}: ${message}`
        );
      });
      const { runId } = await context.run('A').describe();
      const run = context.fixture.client.workflow.getHandle(context.subject.workflowId(context.hostOf('A')), runId);
      // It may have come to its end.
      await run.cancel().catch(() => undefined);
      await until(
        'that run to be over',
        patienceMs,
        async () => (await run.describe()).status.name !== 'RUNNING' || 'not yet',
      );
      await annotate(context, { [annotations.retry]: new Date(labClock().now()).toISOString() });
    },
    ...inMaintenance,
  },
  {
    ...common,
    name: 'leftovers',
    title: 'a hypervisor is taken out of Nova that has an allocation of no server, which a user gives up',
    targets: only('releaseAllocations.1', 'deleteEviction.1'),
    // The host is looked at all that time, which shows the same each time.
    settings: {
      ...hypervisorScenarioSettings,
      eviction: { ...hypervisorScenarioSettings.eviction, emptyDeadlineMs: 7_000 },
    },
    async prepare(context) {
      await putIntoService(context);
      await leaveAllocation(regionOf(context.fixture.environment), context.hostOf('A'));
      await annotate(context, {
        [annotations.consent]: 'delete-allocations',
        [annotations.consentBy]: `fault-matrix ${new Date(labClock().now()).toISOString()}`,
      });
    },
    start: (context) => context.change('A', { maintenance: 'termination', maintenanceReason: 'fault matrix' }),
    meanwhile: crashWhenAsked,
    ...decommissioned,
  },
];
