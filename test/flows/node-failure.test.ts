import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorAnnotations, nodeFailureId } from '../../contracts/ids.ts';
import type { NodeFailureProgress } from '../../contracts/node-failure/run.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { findService } from '../../lab/openstack/hosts.ts';
import { act } from '../../lab/openstack/seed.ts';
import { connectMachines, type Machines } from '../../lab/redfish/machines.ts';
import { checkInvariants } from '../invariants.ts';
import type { HypervisorFixture } from './hypervisor-fixture.ts';
import { lifecycleSettings, openHypervisorFixture } from './hypervisor-fixture.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * A host that fails, on the real Nova and a real Redfish service: what its Node says is the test's, as no kubelet runs
 * in the lab.
 */

const host = 'node-4';
const zone = 'az-failure';

let root: string;
let bmcs: Lab<'redfish'>;
let machines: Machines;
let world: World;
let fixture: HypervisorFixture;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'drover-node-failure-'));
  bmcs = await startLab({ dir: join(root, 'lab'), parts: ['redfish'] });
  const { redfish } = bmcs.handles;
  machines = connectMachines(redfish);
  const bmc = {
    hosts: { [host]: { url: redfish.url, uuid: redfish.machines[host] } },
    username: redfish.username,
    passwordFile: redfish.passwordFile,
    caFile: redfish.caFile,
    auth: 'basic',
  };
  const nodeFailure = {
    mode: 'recommend',
    failAfterMs: 3_000,
    observeMs: 500,
    restObserveMs: 1_000,
    power: { recheckMs: 300, pollMs: 100 },
    bmc,
  };
  world = await openWorld({
    settings: lifecycleSettings({ nodeFailure, hypervisor: { driftMs: 2_000 } }),
    ownLab: true,
  });
  fixture = await openHypervisorFixture(world, { zone, hosts: [host] });
}, limitMs);

afterAll(async () => {
  await world?.close();
  await bmcs?.stop();
  rmSync(root, { recursive: true, force: true });
}, limitMs);

const progress = (): Promise<NodeFailureProgress> =>
  world.client.workflow.getHandle(nodeFailureId(host)).query<NodeFailureProgress>('progress');
const confirm = ({ incident, bootId }: NodeFailureProgress) =>
  world.command('confirm', host, '--incident', incident ?? '', '--boot-id', bootId ?? '');
const evacuations = async (): Promise<number> =>
  (await world.mutations(world.sinceMs)).filter(({ action }) => action === 'evacuate').length;

test(
  'a host in service',
  async () => {
    await fixture.applyNode(host);
    await fixture.reportNode(host, { ready: 'True', bootId: 'boot-1' });
    await fixture.untilCondition(host, hypervisorConditions.lifecycle, 'Active');
    await fixture.untilCondition(host, hypervisorConditions.haEnabled, 'Succeeded');
  },
  limitMs,
);

test(
  'nova-compute alone is down: its servers run, so the operator is asked to start it, and nothing is done to the host',
  async () => {
    await world.fleet.crash(host);
    await until('it to be a suspect, after it was watched', 180_000, async () => {
      const found = findCondition((await fixture.read(host))?.status?.conditions, hypervisorConditions.nodeFailure);
      return (
        (found?.status === 'True' && found.reason === 'ComputeDown') ||
        `${found?.status} ${found?.reason}: ${found?.message}`
      );
    });
    expect([await evacuations(), (await machines.all())[host]?.resets]).toEqual([0, []]);
    await world.fleet.start(host);
    await fixture.untilCondition(host, hypervisorConditions.nodeFailure, 'Recovered');
    expect(await findService(world.session, host)).toMatchObject({ status: 'enabled', forced_down: false });
  },
  limitMs,
);

test(
  'a partition: all is silent and the BMC says On, so nothing is fenced and nothing evacuated, even on request',
  async () => {
    const [, second] = await world.seed([
      { name: 'guest-1', host },
      { name: 'guest-2', host },
    ]);
    await machines.change(host, { power: 'On', behaviour: 'obeys', resets: [] });
    await world.fleet.crash(host);
    // A user stops it while Nova has not noticed: no host ever works at that task.
    await act(world.session, second!.id, { 'os-stop': null });
    await fixture.reportNode(host, { ready: 'Unknown', bootId: 'boot-1' });
    const { status } = await fixture.untilCondition(host, hypervisorConditions.nodeFailure, 'NoWitness');
    expect(findCondition(status?.conditions, hypervisorConditions.nodeFailure)).toMatchObject({
      status: 'True',
      message: expect.stringContaining(`drover confirm ${host} --incident ${host}/`),
    });
    const refused = await confirm(await progress());
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('PowerOn') });
    // Without the names it confirms nothing, and says what to type.
    expect(await world.command('confirm', host)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`drover confirm ${host} --incident ${host}/`),
    });
    expect(await world.command('describe', host)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Failure of ${host}`),
    });
    expect(await evacuations()).toBe(0);
    expect((await findService(world.session, host)).forced_down).toBe(false);
    expect((await machines.all())[host]?.resets).toEqual([]);
  },
  limitMs,
);

test(
  'once it is off, a user confirms it, and its servers are started elsewhere while it is held',
  async () => {
    await machines.change(host, { power: 'Off' });
    await fixture.untilCondition(host, hypervisorConditions.nodeFailure, 'Dead');
    expect(await evacuations()).toBe(0);
    expect(await confirm(await progress())).toMatchObject({ code: 0 });
    await until('all to have come up elsewhere', 180_000, async () => {
      const { servers } = await progress();
      return servers !== null && servers.evacuated === 2 ? true : JSON.stringify(servers);
    });
    expect(await world.command('retry', host)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Failure of ${host}: `),
    });
    expect((await world.serversOn(host)).map(({ id }) => id)).toEqual([]);
    expect(await findService(world.session, host)).toMatchObject({
      forced_down: true,
      status: 'disabled',
      disabled_reason: expect.stringContaining('drover: maintenance ha: node failure'),
    });
    expect((await fixture.read(host))?.metadata.annotations).toMatchObject({
      [hypervisorAnnotations.hold]: expect.stringMatching(/^NodeFailure: /u),
      [hypervisorAnnotations.fencedBootId]: 'boot-1',
    });
  },
  limitMs,
);

test(
  'when it is back as another boot, it is let go and put into service',
  async () => {
    await machines.change(host, { power: 'On' });
    await world.fleet.start(host);
    await fixture.reportNode(host, { ready: 'True', bootId: 'boot-2' });
    await fixture.untilCondition(host, hypervisorConditions.nodeFailure, 'Restored');
    await fixture.untilCondition(host, hypervisorConditions.lifecycle, 'Active');
    expect(await findService(world.session, host)).toMatchObject({ forced_down: false, status: 'enabled' });
    expect((await fixture.read(host))?.metadata.annotations?.[hypervisorAnnotations.hold]).toBeUndefined();
    // Not before: what the crashed machine held was still there.
    await checkInvariants(world);
  },
  limitMs,
);
