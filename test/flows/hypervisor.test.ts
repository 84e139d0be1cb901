import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor-conditions.ts';
import type { HypervisorProgress } from '../../contracts/hypervisor.ts';
import { hypervisorId, nodeMarks } from '../../contracts/ids.ts';
import { kubectl } from '../../lab/kubectl.ts';
import { createAggregate, findService } from '../../lab/openstack/hosts.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, openWorld, quickSettings } from './world.ts';

/** The lifecycle of a hypervisor, from its Node to service and into maintenance and back, by a person who only changes objects. */

const host = 'node-4';
const zone = 'az-life';
const settings = {
  ...quickSettings,
  modes: { Eviction: 'act', Hypervisor: 'act' },
  hypervisor: { recheckMs: 1_000, lingerMs: 300, registrationMs: 60_000, testRetryDelayMs: 200 },
};

let world: World;

const kube = (args: string[], input?: string): Promise<string> => kubectl(world.lab.handles.kubernetes, args, input);

beforeAll(async () => {
  world = await openWorld({ settings, ownLab: true });
  for (const [name, availabilityZone] of [[zone, zone], ['tenant_filter_tests', null], ['fast', null]] as const) await createAggregate(world.session, { name, ...(availabilityZone === null ? {} : { availabilityZone }) });
  // The lab makes one for each host; this one comes from its Node.
  await kube(['delete', 'hypervisor', host, '--ignore-not-found']);
}, limitMs);
afterAll(() => world.close(), limitMs);
afterEach(() => checkInvariants(world), 60_000);

async function readHypervisor(): Promise<Hypervisor | null> {
  const text = await kube(['get', 'hypervisor', host, '--ignore-not-found', '-o', 'json']);
  return text.trim() === '' ? null : hypervisorSchema.parse(JSON.parse(text));
}

/** Waits until the Hypervisor says that state, and that it is where it should be. */
const untilState = (state: string, status: 'True' | 'False' = 'True', deadlineMs = 120_000): Promise<Hypervisor> =>
  until(`state ${state}`, deadlineMs, async () => {
    const hypervisor = await readHypervisor();
    const lifecycle = findCondition(hypervisor?.status?.conditions, hypervisorConditions.lifecycle);
    if (hypervisor !== null && lifecycle?.reason === state && lifecycle.status === status) return hypervisor;
    return lifecycle === undefined ? 'no Hypervisor yet' : `${lifecycle.reason} ${lifecycle.status}: ${lifecycle.message}`;
  });

const aggregatesOf = async (): Promise<string[]> => {
  const { aggregates } = await world.session.compute<{ aggregates: { name: string; hosts: string[] }[] }>('GET', '/os-aggregates');
  return aggregates.filter(({ hosts }) => hosts.includes(host)).map(({ name }) => name).toSorted();
};

test(
  'a Node with the labels becomes a Hypervisor, which is onboarded and put into service',
  async () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: host,
        labels: { [nodeMarks.virtDriver]: 'kvm', [nodeMarks.lifecycle]: 'skip-tests', [nodeMarks.zone]: zone, 'kubernetes.io/hostname': host },
        annotations: { [nodeMarks.aggregates]: 'fast', [nodeMarks.customTraits]: 'CUSTOM_DROVER_TEST' },
      },
    };
    await kube(['apply', '-f', '-'], JSON.stringify(node));
    const { status, spec } = await untilState('Active');
    expect(spec).toMatchObject({ lifecycleEnabled: true, skipTests: true, aggregates: ['fast', zone], customTraits: ['CUSTOM_DROVER_TEST'] });
    expect(await aggregatesOf()).toEqual([zone, 'fast'].toSorted());
    expect(status).toMatchObject({ traits: expect.arrayContaining(['CUSTOM_DROVER_TEST']) });
    for (const type of ['Ready', 'TraitsUpdated', 'AggregatesUpdated']) expect(findCondition(status?.conditions, type)).toMatchObject({ status: 'True' });
    expect(findCondition(status?.conditions, 'Onboarding')).toMatchObject({ status: 'False', reason: 'Succeeded' });
    expect(findCondition(status?.conditions, 'HypervisorDisabled')).toMatchObject({ status: 'False' });
    await until('the run to be closed', 60_000, async () => {
      const { status: run } = await world.client.workflow.getHandle(hypervisorId(host)).describe();
      return run.name === 'COMPLETED' || run.name;
    });
  },
  limitMs,
);

test(
  'maintenance empties it, and ends when it is cleared',
  async () => {
    // As the node agent reports it; without, nobody knows what can be moved where.
    await kube(['patch', 'hypervisor', host, '--subresource=status', '--type=merge', '--patch', JSON.stringify({ status: { libVirtVersion: '10.0.0', hypervisorVersion: '9.2.0', updateStatus: { inProgress: false, installed: '1592.0.0', retry: 3 } } })]);
    await world.seed([{ name: 'guest', host }]);
    await kube(['patch', 'hypervisor', host, '--type=merge', '--patch', JSON.stringify({ spec: { maintenance: 'manual', maintenanceReason: 'disks' } })]);
    const { status } = await untilState('Maintenance');
    expect(status).toMatchObject({ evicted: true });
    expect(findCondition(status?.conditions, 'Evicting')).toMatchObject({ status: 'False', reason: 'Succeeded' });
    expect(await findService(world.session, host)).toMatchObject({ status: 'disabled', disabled_reason: expect.stringContaining('drover: maintenance manual') });
    expect((await world.serversOn(host)).map(({ id }) => id)).toEqual([]);

    await kube(['patch', 'hypervisor', host, '--type=merge', '--patch', JSON.stringify({ spec: { maintenance: '' } })]);
    expect((await untilState('Active')).status).toMatchObject({ evicted: false });
    expect(await findService(world.session, host)).toMatchObject({ status: 'enabled' });
    expect(await kube(['get', 'evictions', '-o', 'name'])).not.toContain(host);
  },
  limitMs,
);

test(
  'an aggregate that does not exist is named, and waited for where people look',
  async () => {
    await kube(['annotate', 'node', host, `${nodeMarks.aggregates}=fast,nowhere`, '--overwrite']);
    const { status } = await until('the aggregate to be missed', 60_000, async () => {
      const hypervisor = await readHypervisor();
      const condition = findCondition(hypervisor?.status?.conditions, 'AggregatesUpdated');
      return hypervisor !== null && condition?.status === 'False' && condition.message?.includes('nowhere') ? hypervisor : JSON.stringify(condition);
    });
    expect(findCondition(status?.conditions, 'AggregatesUpdated')).toMatchObject({ reason: 'Failed' });
    expect(await aggregatesOf()).toContain('fast');
    await kube(['annotate', 'node', host, `${nodeMarks.aggregates}=fast`, '--overwrite']);
    await untilState('Active');
    const progress = await world.client.workflow.getHandle(hypervisorId(host)).query<HypervisorProgress>('progress');
    expect(progress).toMatchObject({ hypervisor: host, state: 'Active' });
  },
  limitMs,
);
