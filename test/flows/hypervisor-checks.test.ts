import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor-conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { hostCheckSettings } from '../../lab/host-check-settings.ts';
import { startLab, type Lab } from '../../lab/lab.ts';
import { cephPrograms } from '../../lab/parts/ceph.ts';
import { libvirtPrograms } from '../../lab/parts/libvirt.ts';
import { defaultBridges, setBridges } from '../../lab/parts/ovs-bridges.ts';
import { ovsPrograms } from '../../lab/parts/ovs.ts';
import { checkInvariants } from '../invariants.ts';
import type { HypervisorScene } from './hypervisor-scene.ts';
import { lifecycleSettings, openHypervisorScene } from './hypervisor-scene.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/** A hypervisor comes into service through every check there is, on real libvirt, Open vSwitch, Ceph and Nova; one that fails keeps it out. */

const host = 'node-4';
const address = '127.0.0.11';
const zone = 'az-checks';
/** Root's lab installs what is missing; elsewhere these tests are skipped, which `npm test` lists. */
const canRun = process.getuid?.() === 0 || [libvirtPrograms, ovsPrograms, cephPrograms].every((programs) => programs.missing().length === 0);
/** The first run on a machine installs packages. */
const startLimitMs = 20 * 60_000;

(canRun ? describe : describe.skip)('Open vSwitch, libvirt and Ceph in a run', () => {
  let dir: string;
  let infrastructure: Lab<'libvirt' | 'ovs' | 'ceph'>;
  let world: World;
  let scene: HypervisorScene;


  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-checks-')));
    infrastructure = await startLab({ dir: join(dir, 'lab'), parts: ['libvirt', 'ovs', 'ceph'], libvirt: { hosts: [host] }, ovs: { hosts: [host], addresses: { [host]: address } } });
    expect(infrastructure.handles.libvirt.addresses[host]).toBe(address);
    world = await openWorld({ ownLab: true });
    const hypervisor = {
      maxTestAttempts: 2,
      ...hostCheckSettings(host, world.lab.handles.openstack, infrastructure.handles),
    };
    await world.replaceDrover({ settings: lifecycleSettings({ hypervisor }) });
    scene = await openHypervisorScene(world, { zone, hosts: [host] });
  }, startLimitMs);

  afterAll(async () => {
    await world?.close();
    await infrastructure?.stop();
    rmSync(dir, { recursive: true, force: true });
  }, limitMs);

  /** Names of its checks with what came of them. */
  const checksOf = ({ status }: Hypervisor): Record<string, string> =>
    Object.fromEntries((status?.conditions ?? []).filter(({ type }) => /^(?:Libvirt|Ovs|Ceph|Smoke)/u.test(type)).map(({ type, reason }) => [type, reason]));

  const allPassed = {
    LibvirtReachable: 'Passed',
    LibvirtVersion: 'Passed',
    LibvirtStartsVm: 'Passed',
    OvsReachable: 'Passed',
    'OvsBridge.br-int': 'Passed',
    'OvsBridge.br-ex': 'Passed',
    'OvsBridge.br-provider': 'Passed',
    CephHealthy: 'Passed',
    'CephPool.vms': 'Passed',
    'CephPoolReached.vms': 'Passed',
    SmokeServer: 'Passed',
    SmokeConsole: 'Passed',
  };

  test(
    'from its Node to service through all of them',
    async () => {
      await scene.applyNode(host, { lifecycle: 'true' });
      await scene.reportNode(host, { address });
      const hypervisor = await scene.untilState(host, 'Active');
      expect(checksOf(hypervisor)).toEqual(allPassed);
      expect(hypervisor.status).toMatchObject({ internalIp: address, libVirtVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/u) });
      expect((await world.serversOn(host)).map(({ id }) => id)).toEqual([]);
    },
    limitMs,
  );

  test(
    'a bridge that is gone: back from maintenance it is Aborted, names it, and is tried again when somebody says so',
    async () => {
      const ovs = infrastructure.handles.ovs.hosts[host];
      if (ovs === undefined) throw new Error('the lab has no Open vSwitch for the host');
      await scene.reportAgent(host, { libVirtVersion: (await scene.read(host))?.status?.libVirtVersion ?? 'unknown' });
      await scene.patchSpec(host, { maintenance: 'manual', maintenanceReason: 'switch' });
      await scene.untilState(host, 'Maintenance');
      await setBridges(ovs, defaultBridges.filter(({ name }) => name !== 'br-ex'));
      await scene.patchSpec(host, { maintenance: '' });
      const aborted = await scene.untilState(host, 'Aborted', 'False');
      expect(findCondition(aborted.status?.conditions, hypervisorConditions.lifecycle)?.message).toMatch(/br-ex/u);
      expect(findCondition(aborted.status?.conditions, 'OvsBridge.br-ex')).toMatchObject({ status: 'False', reason: 'OvsBridgeMissing', message: expect.stringContaining('br-ex') });
      expect(findCondition(aborted.status?.conditions, hypervisorConditions.disabled)).toMatchObject({ status: 'True' });

      await setBridges(ovs, defaultBridges);
      await world.kubectl(['annotate', 'hypervisor', host, `${annotations.retry}=${new Date().toISOString()}`, '--overwrite']);
      const again = await scene.untilState(host, 'Active');
      expect(checksOf(again)).toEqual(allPassed);
      expect(findCondition(again.status?.conditions, hypervisorConditions.disabled)).toMatchObject({ status: 'False' });
    },
    limitMs,
  );

  test('after all of it the invariants hold', () => checkInvariants(world), limitMs);
});
