import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { findCondition } from '../../../contracts/conditions.ts';
import { type NodeObject, readNode } from '../../../contracts/hypervisor/read-node.ts';
import { guardName, guardNamespace } from '../../../contracts/hypervisor/drain-guard.ts';
import { hypervisorConditions } from '../../../contracts/hypervisor/conditions.ts';
import { hypervisorAnnotations, nodeFailureId, workflowQueue, workflowTypes } from '../../../contracts/ids.ts';
import { asSignal, messages, progressQuery } from '../../../contracts/messages.ts';
import type { NodeFailureProgress } from '../../../contracts/node-failure/run.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { bmcOf, cephOf, libvirtOf, regionOf } from '../../faults/environment.ts';
import { neighbours, putIntoCare } from '../../faults/guest-scenarios.ts';
import {
  applyNode,
  ensureAggregates,
  lifecycleOf,
  removeObjectsOf,
  reportReady,
  shared,
  trait,
  zone,
} from '../../faults/hypervisor-objects.ts';
import {
  crashWhenAsked,
  hypervisorScenarioSettings,
  isStopped,
  putIntoService,
  unlessStopped,
} from '../../faults/hypervisor-scenarios.ts';
import { judgeDecommissioned, judgeInService, judgeMoved } from '../../faults/judge-hypervisor.ts';
import type { Scenario } from '../../faults/scenario.ts';
import { labClock } from '../../../lab/clock.ts';
import { findService } from '../../../lab/openstack/hosts.ts';
import { listMigrations } from '../../../lab/openstack/migrations.ts';
import { listServers } from '../../../lab/openstack/seed.ts';
import { uuidOf } from '../../fakes/openstack/ids.ts';
import { nodeManifest } from '../../flows/hypervisor-fixture.ts';
import { until } from '../../flows/until.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';

/** Hypervisors in ways that only the simulator goes through with every fault. */

const patienceMs = 200_000;
const common = { subject: 'Hypervisor', hosts: 1, ownRegion: true, targets: () => true } as const;

const nodeFailure = {
  mode: 'automatic',
  automaticAggregates: [shared],
  // Longer than Nova takes to say that a nova-compute is down; before, the host only looks like one whose
  // kubelet has failed.
  failAfterMs: 25_000,
  observeMs: 5_000,
  restObserveMs: 3_000,
  gates: { cycleMs: 1 },
  power: { recheckMs: 300, pollMs: 100 },
};

/** So quick that a cell does not take long: as the kubelet and nova-compute are two paths, both are the quorum. */
const fenceSilent = { quorum: 2, afterMs: 30_000, mostPerHour: 20 };

const address = ({ fixture: { environment } }: ScenarioContext): string => libvirtOf(environment).address;

/** The machine loses its power: its guests and nova-compute are gone, and nothing on it answers. */
async function losePower(context: ScenarioContext): Promise<void> {
  const { environment } = context.fixture;
  const host = context.hostOf('A');
  bmcOf(environment).setPower('Off');
  await reportReady(environment, host, address(context), { ready: 'Unknown', bootId: 'boot-1' });
}

/** Its kernel has panicked: nothing on it answers, its guests are gone, and its BMC says On. */
async function hang(context: ScenarioContext): Promise<void> {
  const { environment } = context.fixture;
  const host = context.hostOf('A');
  await regionOf(environment).fleet.crash(host);
  await reportReady(environment, host, address(context), { ready: 'Unknown', bootId: 'boot-1' });
}

/**
 * It has lost its power, and its Node is taken away, as machine-controller-manager does with one that does not come
 * back. That takes minutes, so that Nova has long noticed.
 */
async function loseNode(context: ScenarioContext): Promise<void> {
  await losePower(context);
  const { environment } = context.fixture;
  await until(
    'Nova to notice',
    patienceMs,
    async () => (await findService(regionOf(environment).session, context.hostOf('A'))).state === 'down' || 'it is up',
  );
  const { api } = environment;
  const path = resourcePath('v1', 'nodes', { name: context.hostOf('A') });
  await api.request({ method: 'DELETE', path }, AbortSignal.timeout(20_000));
}

/** Of the run that deals with its failure; null: there is none. */
async function handlingStatus(context: ScenarioContext): Promise<string | null> {
  const handle = context.fixture.client.workflow.getHandle(nodeFailureId(context.hostOf('A')));
  const run = await handle.describe().catch(() => null);
  return run?.status.name ?? null;
}

/** Whether a user has cancelled the run of the failure. */
const isCancelled = async (context: ScenarioContext): Promise<boolean> =>
  (await handlingStatus(context)) === 'CANCELLED';

/** Whether it goes on. It restores the host also where the host's own run was cancelled. */
const isFailureHandled = async (context: ScenarioContext): Promise<boolean> =>
  (await handlingStatus(context)) === 'RUNNING';

/** A user who has cancelled the run of the failure starts another: drover does not. */
async function goOnByHand(context: ScenarioContext): Promise<void> {
  const { client } = context.fixture;
  const host = context.hostOf('A');
  const workflowId = nodeFailureId(host);
  if (!(await isCancelled(context))) return;
  const taskQueue = workflowQueue('');
  await client.workflow
    .start(workflowTypes.handleNodeFailure, { workflowId, taskQueue, args: [{ hypervisor: host }] })
    .catch(ignoreStarted);
}

/** Its hypervisor's run may have, of a host that is fenced. */
function ignoreStarted(error: unknown): void {
  if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
}

/** A user looks at the machine, and says so until it is taken. */
async function confirmOff(context: ScenarioContext): Promise<void> {
  const { environment, client } = context.fixture;
  const host = context.hostOf('A');
  const handling = client.workflow.getHandle(nodeFailureId(host));
  await until('its servers to have been evacuated', patienceMs, async () => {
    const left = await listServers(regionOf(environment).session, host);
    if (left.length === 0) return true;
    await goOnByHand(context);
    const progress = await handling.query(progressQuery<NodeFailureProgress>()).catch(() => null);
    if (progress !== null && progress.confirm !== null) {
      const { incident, bootId } = progress;
      await handling.signal(asSignal(messages.confirmOff), {
        incident: incident ?? '',
        bootId: bootId ?? '',
        person: 'jane',
      });
    }
    return `${left.length} are left; ${progress?.message ?? 'no run answers'}; ${progress?.refusal ?? ''}`;
  });
}

/**
 * A user ends the run that waits for an operator, as all that is open is ended at times. No other run of the host is
 * told of it.
 */
async function endJudging(context: ScenarioContext): Promise<void> {
  const handling = context.fixture.client.workflow.getHandle(nodeFailureId(context.hostOf('A')));
  await until('an operator to be waited for', patienceMs, async () => {
    if (await isCancelled(context)) return true;
    const progress = await handling.query(progressQuery<NodeFailureProgress>()).catch(() => null);
    return (progress?.confirm ?? null) !== null || (progress?.message ?? 'no run answers');
  });
  await handling.terminate('a user').catch(() => undefined);
}

/**
 * Waits until its servers have left it; then an operator mends it, and it is back as another boot. A user's cancel
 * keeps it out of service.
 */
async function mendWhenEmpty(context: ScenarioContext, isNodeGone = false): Promise<void> {
  const { environment } = context.fixture;
  const host = context.hostOf('A');
  await until('its servers to have been evacuated', patienceMs, async () => {
    const left = await listServers(regionOf(environment).session, host);
    if (left.length > 0) await goOnByHand(context);
    const object = await context.read('A');
    const said = findCondition(object?.status?.conditions, hypervisorConditions.nodeFailure);
    return left.length === 0 || `${left.length} are left; ${said?.reason}: ${said?.message}`;
  });
  bmcOf(environment).setPower('On');
  await regionOf(environment).fleet.start(host);
  if (isNodeGone) await applyNode(environment, host);
  await reportReady(environment, host, address(context), { bootId: 'boot-2' });
  await until('it to be in service again, or to be left so', patienceMs, async () => {
    const object = await context.read('A');
    const { reason, status, message } = lifecycleOf(object);
    // What is still held may say that it is in service from before it failed.
    const isHeld = object?.metadata.annotations?.[hypervisorAnnotations.hold] !== undefined;
    const isActive = reason === 'Active' && status === 'True' && !isHeld;
    if (await isFailureHandled(context)) return `the run of its failure goes on; ${reason} ${status}: ${message}`;
    return isActive || (await isStopped(context)) || `${reason} ${status}, ${isHeld ? '' : 'not '}held: ${message}`;
  });
  for (const name of neighbours) await removeObjectsOf(environment, name);
}

/** machine-controller-manager says that the Node goes, or that it stays after all. */
async function setTerminating(context: ScenarioContext, status: 'True' | 'False'): Promise<void> {
  const { api } = context.fixture.environment;
  const lastTransitionTime = new Date(labClock().now()).toISOString();
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'FaultMatrix', message: 'fault matrix', lastTransitionTime },
    { type: 'Terminating', status, reason: 'ScaleDown', message: 'fault matrix', lastTransitionTime },
  ];
  const path = resourcePath('v1', 'nodes', { name: context.hostOf('A'), subresource: 'status' });
  await api.request(
    { method: 'PATCH', patchType: 'merge', path, body: { status: { conditions } } },
    AbortSignal.timeout(20_000),
  );
}

/** Whether the Node drives its agents off. */
async function isTainted(context: ScenarioContext): Promise<boolean> {
  const path = resourcePath('v1', 'nodes', { name: context.hostOf('A') });
  const node = (await context.fixture.environment.api.request(
    { method: 'GET', path },
    AbortSignal.timeout(20_000),
  )) as NodeObject;
  return readNode(node).offboardingTaint;
}

/** Its agents were driven off, and then it stays. */
async function recallWhenTainted(context: ScenarioContext): Promise<void> {
  await until(
    'its agents to be driven off',
    patienceMs,
    async () => (await isTainted(context)) || (await isStopped(context)) || 'not yet',
  );
  await setTerminating(context, 'False');
  await until('it to be in service again, or to be left so', patienceMs, async () => {
    const { reason, status, message } = lifecycleOf(await context.read('A'));
    return (
      (reason === 'Active' && status === 'True') || (await isStopped(context)) || `${reason} ${status}: ${message}`
    );
  });
}

/** How many of its agents' pods have to stay, as Gardener's drain asks. */
async function judgeDrain({ fixture, hostOf }: ScenarioContext): Promise<string[]> {
  const path = resourcePath('policy/v1', 'poddisruptionbudgets', {
    namespace: guardNamespace,
    name: guardName(hostOf('A')),
  });
  const { spec } = (await fixture.environment.api.request({ method: 'GET', path }, AbortSignal.timeout(20_000))) as {
    spec: { minAvailable?: number };
  };
  return spec.minAvailable === 0 ? [] : [`the drain of its Node is held back: ${spec.minAvailable} pods have to stay`];
}

/** machine-controller-manager takes the Node away while its Eviction, which has no deadline, moves a server. */
async function terminateWhileEmptied(context: ScenarioContext): Promise<void> {
  const { session, loseProviderOf } = regionOf(context.fixture.environment);
  const [id = ''] = context.expected.keys();
  await until('its server to be moved, or the end', patienceMs, async () => {
    const [record] = await listMigrations(session, id);
    const { reason, message } = lifecycleOf(await context.read('A'));
    return record?.status === 'running' || (await isStopped(context)) || `${record?.status}; ${reason}: ${message}`;
  });
  loseProviderOf?.(context.hostOf('A'));
  await setTerminating(context, 'True');
  // A run that a user has stopped before goes on with what the Node says, once it is told.
  await labClock().sleep(5_000);
  await crashWhenAsked(context);
}

/** An operator mends Ceph when the host has waited for that longer than its tests may fail. */
async function mendCeph(context: ScenarioContext): Promise<void> {
  await until('the host to wait for Ceph', patienceMs, async () => {
    const { reason, message } = lifecycleOf(await context.read('A'));
    return message.includes('not the host’s own') || (await isStopped(context)) || `${reason}: ${message}`;
  });
  await labClock().sleep(60_000);
  cephOf(context.fixture.environment).heal();
}

/** A host that fails while it is in drover's care, with two servers that have to leave it. */
const failing = {
  ...common,
  async prepare(context: ScenarioContext): Promise<void> {
    await putIntoCare(context);
    await context.seed('A', [{}, {}]);
  },
  ends: { A: 'Active' },
  judge: unlessStopped(async (world, host, { expected }) => [
    ...(await judgeInService(world, host)),
    ...(await judgeMoved(world, host, expected.keys())),
  ]),
} as const;

export const hostScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'tested',
    title: 'a Node becomes a hypervisor in service after libvirt, Open vSwitch and a server of Nova’s were tried on it',
    settings: {
      ...hypervisorScenarioSettings,
      hypervisor: {
        ...hypervisorScenarioSettings.hypervisor,
        libvirt: { connectUri: 'qemu+tcp://{host}/system', minimumVersion: '8.0.0' },
        ovs: { remote: 'tcp:{host}:6640' },
        smoke: { flavorId: 'lab.tiny', imageId: uuidOf('image.lab.drover.dev'), console: 'hostname' },
      },
    },
    prepare: ({ fixture }) => ensureAggregates(regionOf(fixture.environment)),
    async start(context) {
      const { api } = context.fixture.environment;
      const host = context.hostOf('A');
      const body = nodeManifest(host, { zone, lifecycle: 'true', aggregates: [shared], customTraits: [trait] });
      await api.request({ method: 'POST', path: resourcePath('v1', 'nodes'), body }, AbortSignal.timeout(20_000));
      await reportReady(context.fixture.environment, host, address(context));
    },
    ends: { A: 'Active' },
    judge: unlessStopped(async (world, host) => await judgeInService(world, host)),
  },
  {
    ...common,
    name: 'unhealthy',
    title: 'a Node becomes a hypervisor in service, while Ceph warns for a minute of what is not the host’s',
    targets: (step) => ['A-hypervisor/runHypervisorChecks.1', 'A-hypervisor/runHypervisorChecks.3'].includes(step),
    settings: hypervisorScenarioSettings,
    settingsIn: ({ ceph }) => ({ hypervisor: { ...hypervisorScenarioSettings.hypervisor, ceph: ceph?.settings } }),
    async prepare({ fixture }) {
      await ensureAggregates(regionOf(fixture.environment));
      cephOf(fixture.environment).warn();
    },
    start: (context) => applyNode(context.fixture.environment, context.hostOf('A'), true),
    meanwhile: mendCeph,
    ends: { A: 'Active' },
    judge: unlessStopped(async (world, host) => await judgeInService(world, host)),
  },
  {
    ...common,
    name: 'recalled',
    title: 'a Node terminates, and stays after all when its agents have been driven off',
    targets: (step) => step === 'A-hypervisor/untaintNode.1',
    settings: {
      ...hypervisorScenarioSettings,
      hypervisor: { ...hypervisorScenarioSettings.hypervisor, guardsDrain: true },
    },
    prepare: putIntoService,
    start: (context) => setTerminating(context, 'True'),
    meanwhile: recallWhenTainted,
    ends: { A: 'Active' },
    judge: unlessStopped(async (world, host, context) => [
      ...(await judgeInService(world, host)),
      ...((await isTainted(context)) ? [`the Node of ${host} still drives its agents off`] : []),
    ]),
  },
  {
    ...common,
    name: 'terminated',
    title: 'a Node terminates while its host is emptied: by its deadline, and Nova leaves the resource provider behind',
    settings: {
      ...hypervisorScenarioSettings,
      hypervisor: { ...hypervisorScenarioSettings.hypervisor, guardsDrain: true },
    },
    async prepare(context) {
      await putIntoService(context);
      await context.seed('A', [{ seconds: 10 }]);
    },
    start: (context) => context.change('A', { maintenance: 'manual', maintenanceReason: 'fault matrix' }),
    meanwhile: terminateWhileEmptied,
    ends: { A: 'Decommissioned' },
    judge: unlessStopped(async (world, host, context) => [
      ...(await judgeDecommissioned(world, host)),
      ...(await judgeMoved(world, host, context.expected.keys())),
      ...(await judgeDrain(context)),
    ]),
  },
  {
    ...failing,
    name: 'fenced',
    title: 'a host that has lost its power is fenced by its BMC, evacuated, mended and put into service again',
    settings: { ...hypervisorScenarioSettings, nodeFailure },
    settingsIn: ({ bmc }) => ({ nodeFailure: { ...nodeFailure, bmc: bmc?.settings } }),
    start: losePower,
    meanwhile: (context) => mendWhenEmpty(context),
  },
  {
    ...failing,
    name: 'hung',
    // What follows when it is off is as in `fenced`.
    targets: (step) => /^A-failure\/(claimFencing|patchHypervisor|ensurePoweredOff)\./u.test(step),
    title:
      'a host that hangs and has power is fenced on the word of a quorum, evacuated, mended and put into service again',
    settings: { ...hypervisorScenarioSettings, nodeFailure },
    settingsIn: ({ bmc }) => ({ nodeFailure: { ...nodeFailure, fenceSilent, bmc: bmc?.settings } }),
    start: hang,
    meanwhile: (context) => mendWhenEmpty(context),
  },
  {
    ...failing,
    name: 'nodeless',
    title: 'a dead host whose Node is gone is confirmed by an operator and evacuated, and comes back with a new Node',
    // What follows when it is off is as in `fenced`.
    targets: (step) =>
      /^A-failure\/(observeNodeFailure\.1|recordHypervisorEvent\.[12]|ensureForcedDown\.1)$/u.test(step),
    settings: { ...hypervisorScenarioSettings, nodeFailure: { ...nodeFailure, mode: 'recommend' } },
    start: loseNode,
    async meanwhile(context) {
      await confirmOff(context);
      await mendWhenEmpty(context, true);
    },
  },
  {
    ...failing,
    name: 'unjudged',
    title: 'a dead host whose run is terminated while an operator is waited for is judged by another, and evacuated',
    targets: (step) => /^(A-failure\/recordHypervisorEvent\.1|drift\/findDrift\.1)$/u.test(step),
    settings: {
      ...hypervisorScenarioSettings,
      hypervisor: { ...hypervisorScenarioSettings.hypervisor, driftMs: 30_000 },
      nodeFailure: { ...nodeFailure, mode: 'recommend' },
    },
    start: losePower,
    async meanwhile(context) {
      await endJudging(context);
      await confirmOff(context);
      await mendWhenEmpty(context);
    },
  },
];
