import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { defaultBridges } from '../../lab/parts/ovs-bridges.ts';
import { checkInvariants } from '../invariants.ts';
import type { CheckedHost } from './checked-host.ts';
import { canOpenCheckedHost } from './checked-host.ts';
import type { HypervisorFixture } from './hypervisor-fixture.ts';
import { lifecycleSettings, openHypervisorFixture } from './hypervisor-fixture.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * A hypervisor comes into service through every check there is, on real libvirt, Open vSwitch, Ceph and Nova; one that
 * fails keeps it out.
 */

const host = 'node-4';
const zone = 'az-checks';
/** The first run on a machine installs packages. */
const startLimitMs = 20 * 60_000;

(canOpenCheckedHost() ? describe : describe.skip)('Open vSwitch, libvirt and Ceph in a run', () => {
  let checked: CheckedHost;
  let world: World;
  let fixture: HypervisorFixture;

  beforeAll(async () => {
    world = await openWorld({ ownLab: true });
    checked = await world.openCheckedHost(host);
    await world.replaceDrover({
      settings: lifecycleSettings({ hypervisor: { maxTestAttempts: 2, ...checked.settings } }),
    });
    fixture = await openHypervisorFixture(world, { zone, hosts: [host] });
  }, startLimitMs);

  afterAll(async () => {
    await world?.close();
    await checked?.close();
  }, limitMs);

  /** Names of its checks with what came of them. */
  const checksOf = ({ status }: Hypervisor): Record<string, string> =>
    Object.fromEntries(
      (status?.conditions ?? [])
        .filter(({ type }) => /^(?:Libvirt|Ovs|Ceph|Smoke)/u.test(type))
        .map(({ type, reason }) => [type, reason]),
    );

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
      await fixture.applyNode(host, { lifecycle: 'true' });
      await fixture.reportNode(host, { address: checked.address });
      const hypervisor = await fixture.untilState(host, 'Active');
      expect(checksOf(hypervisor)).toEqual(allPassed);
      expect(hypervisor.status).toMatchObject({
        internalIp: checked.address,
        libVirtVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/u),
      });
      expect((await world.serversOn(host)).map(({ id }) => id)).toEqual([]);
    },
    limitMs,
  );

  test(
    'a bridge that is gone: back from maintenance it is Aborted, names it, and is retried by a user',
    async () => {
      await fixture.reportAgent(host, {
        libVirtVersion: (await fixture.read(host))?.status?.libVirtVersion ?? 'unknown',
      });
      await fixture.patchSpec(host, { maintenance: 'manual', maintenanceReason: 'switch' });
      await fixture.untilState(host, 'Maintenance');
      await checked.setBridges(defaultBridges.filter(({ name }) => name !== 'br-ex'));
      await fixture.patchSpec(host, { maintenance: '' });
      const aborted = await fixture.untilState(host, 'Aborted', 'False');
      expect(findCondition(aborted.status?.conditions, hypervisorConditions.lifecycle)?.message).toMatch(/br-ex/u);
      expect(findCondition(aborted.status?.conditions, 'OvsBridge.br-ex')).toMatchObject({
        status: 'False',
        reason: 'OvsBridgeMissing',
        message: expect.stringContaining('br-ex'),
      });
      expect(findCondition(aborted.status?.conditions, hypervisorConditions.disabled)).toMatchObject({
        status: 'True',
      });

      await checked.setBridges(defaultBridges);
      await world.kubectl([
        'annotate',
        'hypervisor',
        host,
        `${annotations.retry}=${new Date(labClock().now()).toISOString()}`,
        '--overwrite',
      ]);
      const again = await fixture.untilState(host, 'Active');
      expect(checksOf(again)).toEqual(allPassed);
      expect(findCondition(again.status?.conditions, hypervisorConditions.disabled)).toMatchObject({ status: 'False' });
    },
    limitMs,
  );

  test('after all of it the invariants hold', () => checkInvariants(world), limitMs);
});
