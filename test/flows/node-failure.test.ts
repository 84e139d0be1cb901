import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor-conditions.ts';
import { hypervisorAnnotations, nodeFailureId, nodeMarks } from '../../contracts/ids.ts';
import type { NodeFailureProgress } from '../../contracts/node-failure-run.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { createAggregate, findService } from '../../lab/openstack/hosts.ts';
import { connectMachines, type Machines } from '../../lab/redfish/machines.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, openWorld, quickSettings } from './world.ts';

/** A host that fails, on the real Nova and a real Redfish service: what its Node says is the test's, as no kubelet runs in the lab. */

const host = 'node-4';
const zone = 'az-failure';

let root: string;
let bmcs: Lab<'redfish'>;
let machines: Machines;
let world: World;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'drover-node-failure-'));
  bmcs = await startLab({ dir: join(root, 'lab'), parts: ['redfish'] });
  const { redfish } = bmcs.handles;
  machines = connectMachines(redfish);
  const bmc = { hosts: { [host]: { url: redfish.url, uuid: redfish.machines[host] } }, username: redfish.username, passwordFile: redfish.passwordFile, caFile: redfish.caFile, auth: 'basic' };
  const nodeFailure = { mode: 'recommend', failAfterMs: 3_000, lookMs: 500, restLookMs: 1_000, power: { recheckMs: 300, pollMs: 100 }, bmc };
  const hypervisor = { recheckMs: 1_000, lingerMs: 300, registrationMs: 60_000, testRetryDelayMs: 200 };
  world = await openWorld({ settings: { ...quickSettings, modes: { Eviction: 'act', Hypervisor: 'act' }, hypervisor, nodeFailure }, ownLab: true });
  for (const [name, availabilityZone] of [[zone, zone], ['tenant_filter_tests', null]] as const) await createAggregate(world.session, { name, ...(availabilityZone === null ? {} : { availabilityZone }) });
  // The lab makes one for each host; this one comes from its Node.
  await world.kubectl(['delete', 'hypervisor', host, '--ignore-not-found']);
}, limitMs);

afterAll(async () => {
  await world?.close();
  await bmcs?.stop();
  rmSync(root, { recursive: true, force: true });
}, limitMs);

async function setNode(ready: 'True' | 'Unknown', bootID: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready, reason: 'FlowTest', lastHeartbeatTime: new Date().toISOString(), lastTransitionTime: new Date().toISOString() }];
  const nodeInfo = { bootID, machineID: host, systemUUID: host, kernelVersion: '6', osImage: 'x', containerRuntimeVersion: 'x', kubeletVersion: 'v1', kubeProxyVersion: 'v1', operatingSystem: 'linux', architecture: 'amd64' };
  await world.kubectl(['patch', 'node', host, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status: { conditions, nodeInfo } })]);
}

const readHypervisor = async (): Promise<Hypervisor | null> => {
  const text = await world.kubectl(['get', 'hypervisor', host, '--ignore-not-found', '-o', 'json']);
  return text.trim() === '' ? null : hypervisorSchema.parse(JSON.parse(text));
};

const untilCondition = (type: string, reason: string): Promise<Hypervisor> =>
  until(`${type} ${reason}`, 180_000, async () => {
    const hypervisor = await readHypervisor();
    const found = findCondition(hypervisor?.status?.conditions, type);
    return hypervisor !== null && found?.reason === reason ? hypervisor : `${found?.reason ?? 'no condition'}: ${found?.message ?? ''}`;
  });

const progress = (): Promise<NodeFailureProgress> => world.client.workflow.getHandle(nodeFailureId(host)).query<NodeFailureProgress>('progress');
const confirm = ({ incident, bootId }: NodeFailureProgress) => world.command('confirm', host, '--incident', incident ?? '', '--boot-id', bootId ?? '');
const evacuations = async (): Promise<number> => (await world.mutations(world.sinceMs)).filter(({ action }) => action === 'evacuate').length;

test(
  'a host in service',
  async () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: host, labels: { [nodeMarks.virtDriver]: 'kvm', [nodeMarks.lifecycle]: 'skip-tests', [nodeMarks.zone]: zone, 'kubernetes.io/hostname': host } },
    };
    await world.kubectl(['apply', '-f', '-'], JSON.stringify(node));
    await setNode('True', 'boot-1');
    await untilCondition(hypervisorConditions.lifecycle, 'Active');
    await untilCondition(hypervisorConditions.haEnabled, 'Succeeded');
  },
  limitMs,
);

test(
  'a partition: all is silent and the BMC says On, so nothing is fenced and nothing evacuated, whoever asks',
  async () => {
    await world.seed([{ name: 'guest-1', host }, { name: 'guest-2', host }]);
    await machines.change(host, { power: 'On', behaviour: 'obeys', resets: [] });
    await world.fleet.crash(host);
    await setNode('Unknown', 'boot-1');
    const { status } = await untilCondition(hypervisorConditions.nodeFailure, 'NoWitness');
    expect(findCondition(status?.conditions, hypervisorConditions.nodeFailure)).toMatchObject({ status: 'True', message: expect.stringContaining(`drover confirm ${host} --incident ${host}/`) });
    const refused = await confirm(await progress());
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('PowerOn') });
    // Without the names it confirms nothing, and says what to type.
    expect(await world.command('confirm', host)).toMatchObject({ code: 2, stderr: expect.stringContaining(`drover confirm ${host} --incident ${host}/`) });
    expect(await world.command('describe', host)).toMatchObject({ code: 0, stdout: expect.stringContaining(`Failure of ${host}`) });
    expect(await evacuations()).toBe(0);
    expect((await findService(world.session, host)).forced_down).toBe(false);
    expect((await machines.all())[host]?.resets).toEqual([]);
  },
  limitMs,
);

test(
  'once it is off, a person confirms it, and its servers are started elsewhere while it is held',
  async () => {
    await machines.change(host, { power: 'Off' });
    await untilCondition(hypervisorConditions.nodeFailure, 'Dead');
    expect(await evacuations()).toBe(0);
    expect(await confirm(await progress())).toMatchObject({ code: 0 });
    await until('all to have come up elsewhere', 180_000, async () => {
      const { servers } = await progress();
      return servers !== null && servers.evacuated === 2 ? true : JSON.stringify(servers);
    });
    expect((await world.serversOn(host)).map(({ id }) => id)).toEqual([]);
    expect(await findService(world.session, host)).toMatchObject({ forced_down: true, status: 'disabled', disabled_reason: expect.stringContaining('drover: maintenance ha: node failure') });
    expect((await readHypervisor())?.metadata.annotations).toMatchObject({ [hypervisorAnnotations.hold]: expect.stringMatching(/^NodeFailure: /u), [hypervisorAnnotations.fencedBootId]: 'boot-1' });
  },
  limitMs,
);

test(
  'when it is back as another boot, it is let go and put into service',
  async () => {
    await machines.change(host, { power: 'On' });
    await world.fleet.start(host);
    await setNode('True', 'boot-2');
    await untilCondition(hypervisorConditions.nodeFailure, 'Restored');
    await untilCondition(hypervisorConditions.lifecycle, 'Active');
    expect(await findService(world.session, host)).toMatchObject({ forced_down: false, status: 'enabled' });
    expect((await readHypervisor())?.metadata.annotations?.[hypervisorAnnotations.hold]).toBeUndefined();
    // Not before: what the crashed machine held was still there.
    await checkInvariants(world);
  },
  limitMs,
);
