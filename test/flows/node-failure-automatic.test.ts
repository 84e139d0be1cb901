import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorAnnotations, nodeFailureId } from '../../contracts/ids.ts';
import type { NodeFailureProgress } from '../../contracts/node-failure/run.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { createAggregate, findService } from '../../lab/openstack/hosts.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { connectMachines, type Machines } from '../../lab/redfish/machines.ts';
import { applyNeighbour, reportReady } from '../faults/hypervisor-objects.ts';
import { checkInvariants } from '../invariants.ts';
import type { HypervisorFixture } from './hypervisor-fixture.ts';
import { lifecycleSettings, openHypervisorFixture } from './hypervisor-fixture.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * drover fences by itself: the real Nova, the scheduler's own choice, and a Redfish service that sometimes does what
 * real ones do.
 */

const host = 'node-4';
/** Hosts that are well: where half of all fail, drover does nothing to any. */
const neighbours = ['node-1', 'node-2'];
const zone = 'az-automatic';
const aggregate = 'automatic';

let root: string;
let bmcs: Lab<'redfish'>;
let machines: Machines;
let world: World;
let fixture: HypervisorFixture;
let servers: Server[];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'drover-automatic-'));
  bmcs = await startLab({ dir: join(root, 'lab'), parts: ['redfish'] });
  const { redfish } = bmcs.handles;
  machines = connectMachines(redfish);
  const nodeFailure = {
    mode: 'automatic',
    automaticAggregates: [aggregate],
    // Longer than the lab's Nova takes to say that a nova-compute is down.
    failAfterMs: 20_000,
    observeMs: 500,
    restObserveMs: 1_000,
    // As the lab's drover reaches no libvirt, there are two paths: that of Nova, and that of the kubelet.
    fenceSilent: { quorum: 2, afterMs: 25_000 },
    gates: { cycleMs: 1 },
    power: { recheckMs: 300, pollMs: 100, timeoutMs: 3_000 },
    bmc: {
      hosts: { [host]: { url: redfish.url, uuid: redfish.machines[host] } },
      username: redfish.username,
      passwordFile: redfish.passwordFile,
      caFile: redfish.caFile,
      auth: 'basic',
    },
  };
  world = await openWorld({
    settings: lifecycleSettings({ nodeFailure, hypervisor: { driftMs: 2_000 } }),
    ownLab: true,
  });
  fixture = await openHypervisorFixture(world, { zone, hosts: [host] });
  await createAggregate(world.session, { name: aggregate, hosts: [host] });
  for (const name of neighbours) {
    await applyNeighbour(world, name);
    await reportReady(world, name, '127.0.0.1');
  }
}, limitMs);

afterAll(async () => {
  await world?.close();
  await bmcs?.stop();
  rmSync(root, { recursive: true, force: true });
}, limitMs);

const progress = (): Promise<NodeFailureProgress> =>
  world.client.workflow.getHandle(nodeFailureId(host)).query<NodeFailureProgress>('progress');
const namesOn = async (name: string): Promise<string[]> =>
  (await world.serversOn(name)).map((server) => server.name).toSorted();

/** With what the machine has recorded of its power. */
const powered = () => ({
  ...world,
  readPower: async () => ({ [host]: (await machines.all())[host]?.powered ?? [] }),
});

/** The machine loses its power, and all that runs on it. */
async function losePower(bootId: string): Promise<void> {
  await machines.change(host, { power: 'Off', resets: [] });
  await world.fleet.crash(host);
  await fixture.reportNode(host, { ready: 'Unknown', bootId });
}

/** An operator mends it: the machine starts with nothing of what ran on it. */
async function mend(bootId: string): Promise<void> {
  await machines.change(host, { power: 'On', behaviour: 'obeys' });
  await world.fleet.start(host);
  await fixture.reportNode(host, { ready: 'True', bootId });
  await fixture.untilCondition(host, hypervisorConditions.nodeFailure, 'Restored');
  await fixture.untilCondition(host, hypervisorConditions.lifecycle, 'Active');
}

test(
  'a host in service, with servers and an amphora',
  async () => {
    await fixture.applyNode(host, { aggregates: [aggregate] });
    await fixture.reportNode(host, { ready: 'True', bootId: 'boot-1' });
    await fixture.untilCondition(host, hypervisorConditions.lifecycle, 'Active');
    await fixture.untilCondition(host, hypervisorConditions.haEnabled, 'Succeeded');
    servers = await world.seed([
      { name: 'guest-1', host },
      { name: 'guest-2', host },
      { name: 'amphora-1', host, image: 'amphora' },
    ]);
    expect(await namesOn(host)).toEqual(['amphora-1', 'guest-1', 'guest-2']);
  },
  limitMs,
);

test(
  'it loses its power: no operator is asked, its servers come up elsewhere, and Octavia’s own stays',
  async () => {
    await losePower('boot-1');
    await until('all but one to have come up elsewhere', 180_000, async () => {
      const { servers: found, message } = await progress().catch(() => ({ servers: null, message: 'no run yet' }));
      return (found?.evacuated === 2 && found.left.length === 1) || message;
    });
    expect(await namesOn(host)).toEqual(['amphora-1']);
    const { evidence, servers: found } = await progress();
    expect(evidence).toMatch(/its BMC said Off twice/u);
    expect(found?.left).toEqual([expect.objectContaining({ name: 'amphora-1', why: 'its image has the tag amphora' })]);
    // It was off: there was nothing to switch.
    expect((await machines.all())[host]).toMatchObject({ power: 'Off', resets: [] });
    expect(await findService(world.session, host)).toMatchObject({ forced_down: true, status: 'disabled' });
    expect((await fixture.read(host))?.metadata.annotations).toMatchObject({
      [hypervisorAnnotations.fencedBootId]: 'boot-1',
    });
  },
  limitMs,
);

test(
  'mended, it is put into service again, and each server is there once',
  async () => {
    await mend('boot-2');
    expect(await findService(world.session, host)).toMatchObject({ forced_down: false, status: 'enabled' });
    for (const { id, name } of servers) {
      const at = (await Promise.all(['node-5', 'node-6', host].map(namesOn))).flat().filter((one) => one === name);
      expect([id, at]).toEqual([id, [name]]);
    }
    await checkInvariants(powered());
  },
  limitMs,
);

test(
  'it hangs with power: a quorum is needed, then its BMC has to obey, and not before that is anything evacuated',
  async () => {
    await world.seed([{ name: 'guest-3', host }]);
    await machines.change(host, { behaviour: 'refuses', resets: [] });
    await world.fleet.crash(host);
    await fixture.reportNode(host, { ready: 'Unknown', bootId: 'boot-2' });
    await until('its BMC to have refused', 180_000, async () => {
      const { problem, message } = await progress().catch(() => ({ problem: null, message: 'no run yet' }));
      return problem?.includes('ForceOff') === true || `${problem} ${message}`;
    });
    expect(await namesOn(host)).toEqual(['amphora-1', 'guest-3']);
    expect(await findService(world.session, host)).toMatchObject({ forced_down: false });
    await machines.change(host, { behaviour: 'obeys' });
    await until('it to have come up elsewhere', 180_000, async () => {
      const found = (await namesOn(host)).includes('guest-3');
      return !found || (await progress()).message;
    });
    const machine = (await machines.all())[host];
    expect(machine?.power).toBe('Off');
    expect(machine?.resets).toContain('ForceOff');
    const condition = findCondition((await fixture.read(host))?.status?.conditions, hypervisorConditions.nodeFailure);
    expect(condition).toMatchObject({ status: 'True', reason: 'Fenced' });
    await mend('boot-3');
    await checkInvariants(powered());
  },
  limitMs,
);
