import { resources } from '../../runtime/kubernetes/resources.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { withClock } from '../../lab/clock.ts';
import { applyObject, mergeObject } from '../../lab/kubernetes-objects.ts';
import { nodeFailureId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { uuidOf } from '../fakes/openstack/ids.ts';
import type { FakeOpenStack } from '../fakes/openstack/fake-openstack.ts';
import { lifecycleOf, zone } from '../faults/hypervisor-objects.ts';
import { ensureFixtureAggregates, lifecycleSettings, nodeManifest } from '../flows/hypervisor-fixture.ts';
import { until } from '../flows/until.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy, type Deployment } from './deployment.ts';

/** What an onboarding meets that takes long, or that no lab has. */

const node = 'node-9';
const minuteMs = 60_000;
const patienceMs = 180_000;

interface World extends Pick<Deployment, 'simulation' | 'hosts'> {
  openstack: FakeOpenStack;
  /** Waits until the Hypervisor says that. */
  untilSaid: (words: RegExp) => Promise<unknown>;
  /** As a user sets `spec.maintenance`. */
  maintain: (maintenance: string) => Promise<void>;
}

/** A Node that comes as a hypervisor. */
async function onboard(
  hypervisor: object,
  lifecycle: string,
  during: (world: World) => Promise<void>,
  more: object = {},
): Promise<void> {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: { ...lifecycleSettings({ hypervisor }), ...more },
    bridge: true,
  });
  const { simulation, kubernetes, openstack } = deployment;
  const objects = openObjects(kubernetes.client);
  const untilSaid = (words: RegExp): Promise<unknown> =>
    until(`${node} to say ${words}`, 120 * minuteMs, async () => {
      const found = await objects.get(resources.Hypervisor, { name: node }, new AbortController().signal);
      const { status, reason, message } = lifecycleOf(found);
      const said = `${reason} ${status}: ${message}`;
      return words.test(said) || said;
    });
  const body = async (): Promise<void> => {
    if (openstack === null) throw new Error('there is no OpenStack');
    await ensureFixtureAggregates(openstack.admin, { zone });
    await applyObject(kubernetes.admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
    await applyObject(kubernetes.admin, nodeManifest(node, { zone, lifecycle }));
    await during({
      simulation,
      hosts: deployment.hosts,
      openstack,
      untilSaid,
      maintain: (maintenance) =>
        mergeObject(kubernetes.admin, {
          apiVersion: 'kvm.cloud.sap/v1',
          kind: 'Hypervisor',
          metadata: { name: node },
          spec: { maintenance },
        }),
    });
  };
  await simulation.run(withClock(simulation.clock, body), 300 * minuteMs);
  deployment.close();
}

test(
  'a host that Nova knows by a longer name than its Node is tested with a server there, and comes into service',
  async () => {
    const smoke = { flavorId: 'lab.tiny', imageId: uuidOf('image.lab.drover.dev'), console: 'hostname' };
    await onboard({ smoke }, 'true', async ({ openstack, untilSaid }) => {
      await openstack.fleet.change(`${node}.example.com`, {});
      await untilSaid(/^Active True/u);
      expect([...openstack.model.servers.values()]).toMatchObject([
        { name: 'drover-smoke-node-9-example-com', host: `${node}.example.com`, isDeleted: true },
      ]);
    });
  },
  patienceMs,
);

test(
  'the time that Nova is away, or a user works on the host, is not the host’s to register in',
  async () => {
    await onboard(
      { registrationMs: 10 * minuteMs, recheckMs: 30_000 },
      'skip-tests',
      async ({ simulation, openstack, untilSaid, maintain }) => {
        const { clock, network } = simulation;
        await untilSaid(/^Onboarding Unknown: Waiting for nova-compute/u);
        network.setAway('nova', true);
        await clock.sleep(40 * minuteMs);
        network.setAway('nova', false);
        await untilSaid(/^Onboarding Unknown: Waiting for nova-compute/u);
        await maintain('manual');
        await clock.sleep(40 * minuteMs);
        await maintain('');
        await untilSaid(/^Onboarding Unknown: Waiting for nova-compute/u);
        await openstack.fleet.change(node, {});
        await untilSaid(/^Active True/u);
      },
    );
  },
  patienceMs,
);

test(
  'a host that does not register in its time is Aborted',
  async () => {
    await onboard(
      { registrationMs: 10 * minuteMs, recheckMs: 30_000 },
      'skip-tests',
      async ({ simulation, untilSaid }) => {
        const beganMs = simulation.clock.now();
        await untilSaid(/^Aborted False: .*Waited 10 min in vain for nova-compute/u);
        expect(simulation.clock.now() - beganMs).toBeLessThan(12 * minuteMs);
      },
    );
  },
  patienceMs,
);

test(
  'a host whose failure is judged waits neither for the checks of another, nor for the guest watch',
  async () => {
    const smoke = {
      flavorId: 'lab.tiny',
      imageId: uuidOf('image.lab.drover.dev'),
      console: 'hostname',
      deadlineMs: 30 * minuteMs,
    };
    const libvirt = { connectUri: 'qemu+tcp://{host}/system', minimumVersion: '8.0.0' };
    await onboard(
      { smoke, libvirt },
      'true',
      async ({ simulation: { client, clock }, openstack, hosts }) => {
        hosts.add({ name: node });
        await openstack.fleet.change(node, { buildDelaySeconds: 20 * 60 });
        await until('a server to be built', 10 * minuteMs, () => openstack.model.servers.size === 1 || 'none yet');
        const beganMs = clock.now();
        await client.workflow.execute(workflowTypes.handleNodeFailure, {
          workflowId: nodeFailureId('node-1'),
          taskQueue: workflowQueue(''),
          args: [{ hypervisor: 'node-1' }],
        });
        expect(clock.now() - beganMs).toBeLessThan(minuteMs);
        expect([...openstack.model.servers.values()]).toMatchObject([{ isDeleted: false }]);
      },
      {
        nodeFailure: { mode: 'recommend', guestEvents: { shards: 2 } },
        worker: { concurrency: { hosts: 1 } },
      },
    );
  },
  patienceMs,
);
