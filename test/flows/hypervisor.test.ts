import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorProgress } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorId, nodeMetadata } from '../../contracts/ids.ts';
import { findService } from '../../lab/openstack/hosts.ts';
import { checkInvariants } from '../invariants.ts';
import type { HypervisorFixture } from './hypervisor-fixture.ts';
import { lifecycleSettings, openHypervisorFixture } from './hypervisor-fixture.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * The lifecycle of a hypervisor, from its Node to service and into maintenance and back, by a user who
 * only changes objects.
 */

const host = 'node-4';
const zone = 'az-life';
let world: World;
let fixture: HypervisorFixture;

beforeAll(async () => {
  world = await openWorld({ settings: lifecycleSettings(), ownLab: true });
  fixture = await openHypervisorFixture(world, { zone, aggregates: ['fast'], hosts: [host] });
}, limitMs);
afterAll(() => world.close(), limitMs);
afterEach(() => checkInvariants(world), 60_000);

test(
  'a Node with the labels becomes a Hypervisor, which is onboarded and put into service',
  async () => {
    await fixture.applyNode(host, { aggregates: ['fast'], customTraits: ['CUSTOM_DROVER_TEST'] });
    const { status, spec } = await fixture.untilState(host, 'Active');
    expect(spec).toMatchObject({
      lifecycleEnabled: true,
      skipTests: true,
      aggregates: ['fast', zone],
      customTraits: ['CUSTOM_DROVER_TEST'],
    });
    expect(await fixture.aggregatesOf(host)).toEqual([zone, 'fast'].toSorted());
    expect(status).toMatchObject({ traits: expect.arrayContaining(['CUSTOM_DROVER_TEST']) });
    for (const type of ['Ready', 'TraitsUpdated', 'AggregatesUpdated'])
      expect(findCondition(status?.conditions, type)).toMatchObject({ status: 'True' });
    expect(findCondition(status?.conditions, 'Onboarding')).toMatchObject({ status: 'False', reason: 'Succeeded' });
    expect(findCondition(status?.conditions, 'HypervisorDisabled')).toMatchObject({ status: 'False' });
    await fixture.untilRunClosed(host);
  },
  limitMs,
);

test(
  'maintenance empties it, and ends when it is cleared',
  async () => {
    await fixture.reportAgent(host);
    await world.seed([{ name: 'guest', host }]);
    await fixture.patchSpec(host, { maintenance: 'manual', maintenanceReason: 'disks' });
    const { status } = await fixture.untilState(host, 'Maintenance');
    expect(status).toMatchObject({ evicted: true });
    expect(findCondition(status?.conditions, 'Evicting')).toMatchObject({ status: 'False', reason: 'Succeeded' });
    expect(await findService(world.session, host)).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringContaining('drover: maintenance manual'),
    });
    expect((await world.serversOn(host)).map(({ id }) => id)).toEqual([]);

    await fixture.patchSpec(host, { maintenance: '' });
    expect((await fixture.untilState(host, 'Active')).status).toMatchObject({ evicted: false });
    expect(await findService(world.session, host)).toMatchObject({ status: 'enabled' });
    expect(await world.kubectl(['get', 'evictions', '-o', 'name'])).not.toContain(host);
  },
  limitMs,
);

test(
  'a bridge that is killed and started again observes a host whose Node has changed meanwhile, and none that has not',
  async () => {
    await fixture.untilRunClosed(host);
    const runs = async (): Promise<number> =>
      (await world.client.workflow.count(`WorkflowId = '${hypervisorId(host)}'`)).count;
    const before = await runs();
    const restarted = async (change: () => Promise<unknown>): Promise<void> => {
      await world.drover.kill('bridge');
      await change();
      await world.drover.restart('bridge');
    };
    const traits = (value: string): Promise<string> =>
      world.kubectl(['annotate', 'node', host, `${nodeMetadata.customTraits}=${value}`, '--overwrite']);
    await restarted(() => world.kubectl(['annotate', 'node', host, 'example.com/note=of-no-concern', '--overwrite']));
    await restarted(() => traits('CUSTOM_DROVER_OTHER'));
    await until('the trait of the Node', 60_000, async () => {
      const { status } = await fixture.untilState(host, 'Active');
      return (status?.traits ?? []).includes('CUSTOM_DROVER_OTHER') ? {} : (status?.traits ?? []).join();
    });
    await fixture.untilRunClosed(host);
    expect((await runs()) - before).toBe(1);
  },
  limitMs,
);

test(
  'an aggregate that does not exist is named in the status, and waited for',
  async () => {
    await world.kubectl(['annotate', 'node', host, `${nodeMetadata.aggregates}=fast,nowhere`, '--overwrite']);
    const { status } = await fixture.untilCondition(host, hypervisorConditions.aggregatesUpdated, 'Failed', /nowhere/u);
    expect(findCondition(status?.conditions, hypervisorConditions.aggregatesUpdated)).toMatchObject({
      status: 'False',
    });
    expect(await fixture.aggregatesOf(host)).toContain('fast');
    await world.kubectl(['annotate', 'node', host, `${nodeMetadata.aggregates}=fast`, '--overwrite']);
    await fixture.untilState(host, 'Active');
    const progress = await world.client.workflow.getHandle(hypervisorId(host)).query<HypervisorProgress>('progress');
    expect(progress).toMatchObject({ object: `Hypervisor ${host}`, reason: 'Active' });
  },
  limitMs,
);
