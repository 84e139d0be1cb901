import { randomUUID } from 'node:crypto';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { annotations, hypervisorAnnotations, hypervisorId, nodeMetadata, workflowTypes } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { createAggregate, findResourceProvider, findService, listServices } from '../../lab/openstack/hosts.ts';
import { checkInvariants } from '../invariants.ts';
import type { HypervisorFixture } from './hypervisor-fixture.ts';
import { lifecycleSettings, listAggregates, openHypervisorFixture } from './hypervisor-fixture.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * The arrows of the lifecycle's diagram that no other flow goes along, each by its real cause: objects, Nova, a user.
 * docs/testing.md lists all of them with their tests. The bridge signals the runs.
 */

const zone = 'az-arrows';
const trait = 'CUSTOM_ARROWS';
/** Each in one role, so that a test that fails leaves the others theirs. */
const [updated, drifting, terminating, maintained] = ['node-1', 'node-2', 'node-3', 'node-4'] as const;
const hosts = [updated, drifting, terminating, maintained];

let world: World;
let fixture: HypervisorFixture;

beforeAll(async () => {
  world = await openWorld({ settings: lifecycleSettings({ hypervisor: { driftMs: 2_000 } }), ownLab: true });
  fixture = await openHypervisorFixture(world, { zone, aggregates: ['fast'], hosts });
}, limitMs);
afterAll(() => world.close(), limitMs);
afterEach(() => checkInvariants(world), limitMs);

const conditionOf = (hypervisor: Hypervisor | null, type: string) =>
  findCondition(hypervisor?.status?.conditions, type);
const evictionOf = (host: string) => world.getEviction(host);
const untilEmpty = (host: string): Promise<Hypervisor> =>
  fixture.untilCondition(host, hypervisorConditions.evicting, 'Succeeded');
/** Of the last runs of that type, completed ones. */
const runsOf = async (query: string): Promise<number> =>
  (await world.client.workflow.count(`${query} AND ExecutionStatus = "Completed"`)).count;
const driftRuns = (): Promise<number> => runsOf(`WorkflowType = "${workflowTypes.findDrift}"`);
const ofProvider = async <Part>(host: string, part: string): Promise<Part> =>
  world.session.placement<Part>(
    'GET',
    `/resource_providers/${await findResourceProvider(world.session, `${host}.lab.drover.dev`)}/${part}`,
  );
const traitsOf = async (host: string): Promise<string[]> =>
  (await ofProvider<{ traits: string[] }>(host, 'traits')).traits;

test(
  'Initial → Onboarding → Testing → Ready → Active: four Nodes at once, one of them without custom traits (H3)',
  async () => {
    await Promise.all(
      hosts.map((host) =>
        fixture.applyNode(host, { aggregates: ['fast'], ...(host === drifting && { customTraits: [trait] }) }),
      ),
    );
    await Promise.all(hosts.map((host) => fixture.reportNode(host)));
    for (const host of hosts) {
      const hypervisor = await fixture.untilState(host, 'Active');
      expect(conditionOf(hypervisor, hypervisorConditions.traitsUpdated)).toMatchObject({
        status: 'True',
        reason: 'Succeeded',
      });
      expect(conditionOf(hypervisor, hypervisorConditions.onboarding)).toMatchObject({
        status: 'False',
        reason: 'Succeeded',
      });
      expect(await fixture.aggregatesOf(host)).toEqual([zone, 'fast'].toSorted());
      await fixture.reportAgent(host);
    }
  },
  limitMs,
);

test(
  'Active → Evicting → Maintenance → Active, by Gardener: a rolling update begins with cordon and label, and ends with a new boot id',
  async () => {
    const [guest] = await world.seed([{ name: 'on-updated', host: updated }]);
    // A cordon alone is a user's.
    await fixture.changeNode(updated, { spec: { unschedulable: true } });
    await fixture.changeNode(updated, { metadata: { labels: { [nodeMetadata.selectedForUpdate]: 'true' } } });
    const empty = await fixture.untilCondition(
      updated,
      hypervisorConditions.lifecycle,
      'Maintenance',
      /come back from its update/u,
    );
    expect(empty.spec).toMatchObject({ maintenance: 'auto' });
    expect(empty.metadata.annotations).toMatchObject({ [hypervisorAnnotations.rollingUpdate]: 'boot-1' });
    expect(empty.status).toMatchObject({ evicted: true });
    expect((await evictionOf(updated))?.metadata.annotations).toMatchObject({ [annotations.cause]: 'rolling-update' });
    expect(await world.service(updated)).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringContaining('drover: maintenance auto'),
    });
    expect((await world.serversOn(updated)).map(({ id }) => id)).not.toContain(guest?.id);

    // It reboots, comes back Ready, and is opened again.
    await fixture.reportNode(updated, { ready: 'Unknown' });
    await fixture.reportNode(updated, { bootId: 'boot-2' });
    await fixture.changeNode(updated, {
      metadata: { labels: { [nodeMetadata.selectedForUpdate]: null, [nodeMetadata.updateResult]: 'successful' } },
      spec: { unschedulable: null },
    });
    const back = await fixture.untilState(updated, 'Active');
    expect(back.spec).toMatchObject({ maintenance: '' });
    expect(back.metadata.annotations?.[hypervisorAnnotations.rollingUpdate]).toBeUndefined();
    expect(back.status).toMatchObject({ evicted: false });
    expect(await world.service(updated)).toMatchObject({ status: 'enabled' });
  },
  limitMs,
);

test(
  'Maintenance → Active, by Gardener: an update that needs no boot ends where its marks do',
  async () => {
    await fixture.changeNode(updated, {
      metadata: { labels: { [nodeMetadata.selectedForUpdate]: 'true', [nodeMetadata.updateResult]: null } },
      spec: { unschedulable: true },
    });
    await fixture.untilCondition(updated, hypervisorConditions.lifecycle, 'Maintenance', /come back from its update/u);
    await fixture.changeNode(updated, { metadata: { labels: { [nodeMetadata.updateResult]: 'successful' } } });
    await fixture.changeNode(updated, {
      metadata: { labels: { [nodeMetadata.selectedForUpdate]: null, [nodeMetadata.updateResult]: null } },
      spec: { unschedulable: null },
    });
    const back = await fixture.untilState(updated, 'Active');
    expect(back.spec).toMatchObject({ maintenance: '' });
    expect(await world.service(updated)).toMatchObject({ status: 'enabled' });
  },
  limitMs,
);

test(
  'Active → Aborted → Onboarding → Active: the status is reset, the cause is named, it is mended, the status is reset again',
  async () => {
    await fixture.changeNode(updated, { metadata: { annotations: { [nodeMetadata.aggregates]: 'fast,later' } } });
    await fixture.untilCondition(updated, hypervisorConditions.aggregatesUpdated, 'Failed', /later/u);
    await fixture.untilRunClosed(updated);
    await fixture.clearCondition(updated, hypervisorConditions.onboarding);
    const aborted = await fixture.untilState(updated, 'Aborted', 'False');
    expect(conditionOf(aborted, hypervisorConditions.onboarding)).toMatchObject({
      status: 'False',
      reason: 'Aborted',
      message: expect.stringContaining('aggregates not found: [later]'),
    });
    await createAggregate(world.session, { name: 'later' });
    await fixture.untilRunClosed(updated);
    await fixture.clearCondition(updated, hypervisorConditions.onboarding);
    await fixture.untilState(updated, 'Active');
    expect(await fixture.aggregatesOf(updated)).toEqual([zone, 'fast', 'later'].toSorted());
  },
  limitMs,
);

test(
  'what the Node says no more is taken back: labels, and the lifecycle (H15)',
  async () => {
    const buildingBlock = 'kubernetes.metal.cloud.sap/bb';
    const untilSpec = (what: string, fits: (hypervisor: Hypervisor) => boolean): Promise<Hypervisor> =>
      until(what, 60_000, async () => {
        const hypervisor = await fixture.read(updated);
        return hypervisor !== null && fits(hypervisor)
          ? hypervisor
          : JSON.stringify([hypervisor?.metadata.labels, hypervisor?.spec]);
      });
    await fixture.changeNode(updated, { metadata: { labels: { [buildingBlock]: 'bb-1' } } });
    await untilSpec('the label to be copied', ({ metadata }) => metadata.labels?.[buildingBlock] === 'bb-1');
    await fixture.changeNode(updated, {
      metadata: { labels: { [buildingBlock]: null, [nodeMetadata.lifecycle]: null } },
    });
    await untilSpec(
      'both to be taken back',
      ({ metadata, spec }) =>
        metadata.labels?.[buildingBlock] === undefined && spec?.lifecycleEnabled === false && !spec.skipTests,
    );
    await fixture.changeNode(updated, { metadata: { labels: { [nodeMetadata.lifecycle]: 'skip-tests' } } });
    await untilSpec(
      'the lifecycle to be driven again',
      ({ spec }) => spec?.lifecycleEnabled === true && spec.skipTests,
    );
    await fixture.untilState(updated, 'Active');
  },
  limitMs,
);

test(
  'reconciled in Maintenance, and in service: drift in Nova and Placement is noticed and repaired (H11)',
  async () => {
    await fixture.patchSpec(drifting, { maintenance: 'manual', maintenanceReason: 'disks' });
    await fixture.untilState(drifting, 'Maintenance');
    await fixture.untilRunClosed(drifting);

    await world.enableService(drifting);
    await until('it to be disabled again', 60_000, async () => {
      const { status, disabled_reason: reason } = await findService(world.session, drifting);
      return (status === 'disabled' && reason?.startsWith('drover: maintenance manual: disks') === true) || status;
    });
    const fast = (await listAggregates(world.session)).find(({ name }) => name === 'fast');
    await world.session.compute('POST', `/os-aggregates/${fast?.id}/action`, {
      body: { remove_host: { host: drifting } },
    });
    await until(
      'it to be in the aggregate again',
      60_000,
      async () => (await fixture.aggregatesOf(drifting)).includes('fast') || 'not yet',
    );
    const provider = await findResourceProvider(world.session, `${drifting}.lab.drover.dev`);
    // Its generation is another one where Nova, or drover, has changed the provider meanwhile.
    await until('the trait to be taken away', 60_000, async () => {
      const { traits, resource_provider_generation: generation } = await ofProvider<{
        traits: string[];
        resource_provider_generation: number;
      }>(drifting, 'traits');
      await world.session.placement('PUT', `/resource_providers/${provider}/traits`, {
        body: { resource_provider_generation: generation, traits: traits.filter((one) => one !== trait) },
      });
      return true;
    });
    await until(
      'the trait to be there again',
      60_000,
      async () => (await traitsOf(drifting)).includes(trait) || 'not yet',
    );
    await fixture.untilState(drifting, 'Maintenance');
    await fixture.untilRunClosed(drifting);

    // A reconciled object costs nothing: observations pass, and no run is started.
    const [runs, observations] = [await runsOf(`WorkflowId = "${hypervisorId(drifting)}"`), await driftRuns()];
    await until('three observations', 60_000, async () => (await driftRuns()) >= observations + 3 || 'not yet');
    expect(await runsOf(`WorkflowId = "${hypervisorId(drifting)}"`)).toBe(runs);

    await fixture.patchSpec(drifting, { maintenance: '' });
    await fixture.untilState(drifting, 'Active');
    // A stranger's disable is theirs; it is said, and so is that it is over.
    await world.disableService(drifting, 'CHG-1');
    expect(
      conditionOf(await fixture.untilState(drifting, 'Ready', 'False'), hypervisorConditions.lifecycle)?.message,
    ).toContain('CHG-1');
    await world.enableService(drifting);
    await fixture.untilState(drifting, 'Active');
  },
  limitMs,
);

test(
  'Active → Evicting → Active: a Node that terminates has machine-controller-manager’s deadline, the nearer one when it is not Ready, and is taken back',
  async () => {
    const second = 1_000;
    const minute = 60 * second;
    const sinceMs = Math.floor(labClock().now() / second) * second - 70 * minute;
    const timeOf = (ms: number): string => new Date(ms).toISOString();
    const untilDeadline = (ms: number): Promise<true> =>
      until<true>(`the deadline ${timeOf(ms)}`, 60_000, async () => {
        const deadline = (await evictionOf(terminating))?.metadata.annotations?.[annotations.deadline];
        return deadline === timeOf(ms) ? true : (deadline ?? 'none');
      });
    await world.fleet.change(terminating, { migrate: 'hang' });
    await world.seed([{ name: 'on-terminating', host: terminating }]);
    await fixture.reportNode(terminating, { terminatingSinceMs: sinceMs });
    await untilDeadline(sinceMs + 120 * minute);
    // Held, so that it lasts as long as this test observes it.
    await until('the eviction to be paused', 60_000, async () => {
      const { code, stderr } = await world.command('pause', terminating);
      return code === 0 || stderr;
    });
    const late = await fixture.untilCondition(
      terminating,
      hypervisorConditions.offboarded,
      'Offboarding',
      /more than half of the time is over/u,
    );
    expect(conditionOf(late, hypervisorConditions.offboarded)?.message).toContain(
      `The machine is taken away at ${timeOf(sinceMs + 120 * minute)}`,
    );
    expect(conditionOf(late, hypervisorConditions.terminating)).toMatchObject({ status: 'True' });
    expect(late.spec).toMatchObject({ maintenance: '' });
    expect((await evictionOf(terminating))?.metadata.annotations).toMatchObject({ [annotations.cause]: 'termination' });

    const brokenMs = Math.floor(labClock().now() / second) * second;
    await fixture.reportNode(terminating, { ready: 'False', readySinceMs: brokenMs, terminatingSinceMs: sinceMs });
    await untilDeadline(brokenMs + 5 * minute);

    await world.fleet.change(terminating, { migrate: 'ok' });
    await fixture.reportNode(terminating);
    const back = await fixture.untilState(terminating, 'Active', 'True', 240_000);
    expect(conditionOf(back, hypervisorConditions.terminating)).toMatchObject({
      status: 'False',
      reason: 'NotTerminating',
    });
    expect(conditionOf(back, hypervisorConditions.offboarded)).toBeUndefined();
    expect(await world.service(terminating)).toMatchObject({ status: 'enabled' });
    expect(await evictionOf(terminating)).toBeNull();
  },
  limitMs,
);

test(
  'Active → Evicting → Maintenance → Active in mode ha: the servers of a host that lives leave it live',
  async () => {
    await world.seed([{ name: 'on-failing', host: maintained }]);
    await fixture.patchSpec(maintained, { maintenance: 'ha' });
    await untilEmpty(maintained);
    expect((await fixture.untilState(maintained, 'Maintenance')).status).toMatchObject({ evicted: true });
    expect((await evictionOf(maintained))?.metadata.annotations).toMatchObject({ [annotations.cause]: 'termination' });
    expect(await world.service(maintained)).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringContaining('drover: maintenance ha'),
    });
    await fixture.patchSpec(maintained, { maintenance: '' });
    await fixture.untilState(maintained, 'Active');
  },
  limitMs,
);

test(
  'Evicting that fails shows as failed, never as evicted (H10), until a user retries it',
  async () => {
    await world.fleet.change(maintained, { migrate: 'precheck-source' });
    await world.seed([{ name: 'stuck', host: maintained }]);
    await fixture.patchSpec(maintained, { maintenance: 'manual', maintenanceReason: 'fails' });
    const failed = await fixture.untilCondition(maintained, hypervisorConditions.evicting, 'Failed');
    expect(conditionOf(failed, hypervisorConditions.evicting)).toMatchObject({ status: 'Unknown' });
    expect(failed.status?.evicted).not.toBe(true);
    expect(
      conditionOf(await fixture.untilState(maintained, 'Evicting', 'False'), hypervisorConditions.ready),
    ).toMatchObject({ status: 'False', reason: 'Evicting' });
    await world.fleet.change(maintained, { migrate: 'ok' });
    await world.kubectl([
      'annotate',
      'hypervisor',
      maintained,
      `${annotations.retry}=${new Date(labClock().now()).toISOString()}`,
      '--overwrite',
    ]);
    expect((await fixture.untilState(maintained, 'Maintenance')).status).toMatchObject({ evicted: true });
    await fixture.patchSpec(maintained, { maintenance: '' });
    await fixture.untilState(maintained, 'Active');
  },
  limitMs,
);

test(
  'Active → Evicting → Active, by a user’s own Eviction that enables the host again',
  async () => {
    await world.fleet.change(maintained, { migrate: 'ok', seconds: 4 });
    await world.seed([{ name: 'on-evicted', host: maintained }]);
    await world.createEviction(maintained, { annotations: { [annotations.reEnable]: 'true' } });
    await fixture.untilCondition(maintained, hypervisorConditions.lifecycle, 'Evicting');
    await world.untilReason(maintained, 'Succeeded');
    await fixture.untilState(maintained, 'Active');
    expect((await fixture.read(maintained))?.spec).toMatchObject({ maintenance: '' });
    expect(await world.service(maintained)).toMatchObject({ status: 'enabled' });
    await world.kubectl(['delete', 'eviction', maintained]);
  },
  limitMs,
);

test(
  'a stop of kind Hypervisor holds its run, also where it does what evictions do too',
  async () => {
    expect(await world.command('stop', '--kind', 'Hypervisor', '--reason', 'observe first')).toMatchObject({ code: 0 });
    await fixture.patchSpec(maintained, { maintenance: 'manual', maintenanceReason: 'stopped' });
    await fixture.untilCondition(
      maintained,
      hypervisorConditions.lifecycle,
      'Evicting',
      /kind Hypervisor was stopped by/u,
    );
    expect(await world.service(maintained)).toMatchObject({ status: 'enabled' });
    expect(await evictionOf(maintained)).toBeNull();
    expect(await world.command('stop', '--lift')).toMatchObject({ code: 0 });
    await fixture.untilState(maintained, 'Maintenance');
    await fixture.patchSpec(maintained, { maintenance: '' });
    await fixture.untilState(maintained, 'Active');
  },
  limitMs,
);

test(
  'a stop holds an onboarding where it is, and the host comes into service when it is lifted',
  async () => {
    await fixture.untilRunClosed(maintained);
    expect(await world.command('stop', '--kind', 'Hypervisor', '--reason', 'observe first')).toMatchObject({ code: 0 });
    await fixture.clearCondition(maintained, hypervisorConditions.onboarding);
    const held = await fixture.untilCondition(
      maintained,
      hypervisorConditions.lifecycle,
      'Onboarding',
      /kind Hypervisor was stopped by/u,
    );
    expect(conditionOf(held, hypervisorConditions.onboarding)).toMatchObject({ status: 'True' });
    expect(await world.command('stop', '--lift')).toMatchObject({ code: 0 });
    const back = await fixture.untilState(maintained, 'Active');
    expect(conditionOf(back, hypervisorConditions.onboarding)).toMatchObject({ status: 'False', reason: 'Succeeded' });
  },
  limitMs,
);

test(
  'Active → Evicting → Decommissioned, with what Nova left behind in Placement: named, and removed with a user’s consent',
  async () => {
    const leftover = randomUUID();
    const provider = await findResourceProvider(world.session, `${terminating}.lab.drover.dev`);
    const allocation = {
      allocations: { [provider]: { resources: { VCPU: 1 } } },
      consumer_generation: null,
      consumer_type: 'INSTANCE',
      project_id: 'p',
      user_id: 'u',
    };
    await world.session.placement('PUT', `/allocations/${leftover}`, { body: allocation });
    expect(await world.command('decommission', terminating, '--reason', 'lease ends')).toMatchObject({ code: 0 });
    await fixture.untilCondition(
      terminating,
      hypervisorConditions.lifecycle,
      'Evicting',
      new RegExp(`Nothing but allocations of 1 consumer\\(s\\): ${leftover} is left`, 'u'),
    );
    expect(await listServices(world.session)).toContainEqual(expect.objectContaining({ host: terminating }));

    expect(
      await world.command('decommission', terminating, '--reason', 'lease ends', '--consent', 'delete-allocations'),
    ).toMatchObject({ code: 0 });
    // As its kubelet would be: the service of one that answers is not removed.
    await fixture.untilCondition(
      terminating,
      hypervisorConditions.lifecycle,
      'Evicting',
      /nova-compute on the host still answers/u,
    );
    await world.fleet.crash(terminating);
    await fixture.untilState(terminating, 'Decommissioned');
    expect(await world.session.placement<{ allocations: object }>('GET', `/allocations/${leftover}`)).toMatchObject({
      allocations: {},
    });
    expect(await fixture.aggregatesOf(terminating)).toEqual([]);
    expect((await listServices(world.session)).map(({ host }) => host)).not.toContain(terminating);
  },
  limitMs,
);

test(
  'a Node that is gone takes its host out of Nova and leaves the Hypervisor; what registers again is noticed',
  async () => {
    await world.fleet.change(drifting, { migrate: 'ok' });
    await world.seed([{ name: 'on-gone', host: drifting }]);
    await world.kubectl(['delete', 'node', drifting]);
    await fixture.untilCondition(
      drifting,
      hypervisorConditions.lifecycle,
      'Evicting',
      /nova-compute on the host still answers/u,
    );
    expect((await world.serversOn(drifting)).map(({ id }) => id)).toEqual([]);
    await world.fleet.crash(drifting);
    const gone = await fixture.untilState(drifting, 'Decommissioned');
    expect(gone.spec).toMatchObject({ maintenance: '' });
    expect(conditionOf(gone, hypervisorConditions.offboarded)).toMatchObject({ status: 'True', reason: 'Offboarded' });
    expect((await listServices(world.session)).map(({ host }) => host)).not.toContain(drifting);
    await fixture.untilRunClosed(drifting);

    await world.fleet.reinstall(drifting);
    await fixture.untilCondition(drifting, hypervisorConditions.lifecycle, 'Evicting', /it has registered again/u);
    await until('its service to be disabled', 60_000, async () => {
      const { status } = await world.service(drifting);
      return status === 'disabled' || status;
    });
  },
  limitMs,
);
