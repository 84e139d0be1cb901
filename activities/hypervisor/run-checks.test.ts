import type { HypervisorCheck } from '../../contracts/hypervisor/hypervisor.ts';
import { withClock } from '../../lab/clock.ts';
import { hypervisorConfig } from '../../runtime/config/hypervisor-config.ts';
import { openVirtual } from '../../test/contracts/hosts/subject.ts';
import { drive } from '../../test/fakes/drive.ts';
import { createFakeHosts } from '../../test/fakes/hosts/hosts.ts';
import { createFakeOpenStack } from '../../test/fakes/openstack/fake-openstack.ts';
import { testScope } from '../../test/fixtures/activities/nova.ts';
import type { CephClient } from '../ceph/types.ts';
import { shareSessions } from '../lib/shared-sessions.ts';
import { createNovaClient } from '../nova/client.ts';
import { findRegistration } from '../nova/find-registration.ts';
import { shareRegion } from '../nova/region-reads.ts';
import { runChecks } from './run-checks.ts';

const hypervisor = 'node-9';
const longName = 'node-9.example.com';
const limitMs = 10 * 60_000;

/** A host that Nova knows by a longer name than its Hypervisor has, and the checks of one worker process. */
function open(settingsFor: (given: { imageId: string; dashboards: readonly string[]; user: string }) => object) {
  const virtual = openVirtual();
  const { clock } = virtual;
  const openstack = createFakeOpenStack({ ...virtual, hosts: { [longName]: {} } });
  const hosts = createFakeHosts(virtual);
  hosts.add({ name: hypervisor });
  const config = hypervisorConfig.parse(settingsFor({ ...hosts.cephSettings, imageId: openstack.model.imageId }));
  const nova = createNovaClient(openstack.openSession());
  const ceph = shareSessions<CephClient>(1);
  const check = (checks: HypervisorCheck[], request: { host?: string } = {}) =>
    runChecks(
      {
        config,
        addressOf: (name) => Promise.resolve(name),
        nova: {
          nova,
          clock,
          scope: testScope({ deadlineMs: clock.now() + limitMs }),
          stopGate: async () => {},
          audit: { record: async () => {} },
        },
        ports: hosts.ports,
        ceph,
        random: virtual.random,
      },
      { checks, hypervisor, uid: 'uid-1', ...request },
    );
  return {
    ...virtual,
    openstack,
    hosts,
    nova,
    check,
    run: <Result>(body: () => Promise<Result>): Promise<Result> => withClock(clock, () => drive(clock, body())),
  };
}

test('a server of Nova’s is started on the host by the name that Nova has of it, and is found by that', async () => {
  const { openstack, clock, nova, check, run } = open(({ imageId }) => ({
    smoke: { flavorId: 'lab.tiny', imageId },
  }));
  const signal = new AbortController().signal;
  await run(async () => {
    const { region } = shareRegion(nova, clock);
    const host = (await findRegistration({ nova, region }, hypervisor, 0, signal))?.host;
    expect(host).toBe(longName);
    expect(await check(['smoke'], host === undefined ? {} : { host })).toMatchObject([
      { check: 'smoke', results: [{ name: 'SmokeServer', outcome: 'passed', observed: `ACTIVE on ${longName}` }] },
    ]);
    expect([...openstack.model.servers.values()]).toMatchObject([
      { metadata: { 'drover:host': longName, 'drover:hypervisor': hypervisor }, isDeleted: true },
    ]);
    // One that was asked for before the host was named.
    expect(await check(['smoke'])).toMatchObject([{ results: [{ code: 'SmokeServerRefused', beyondHost: true }] }]);
  });
});

test('all checks of a worker ask Ceph with one login, and none repeats one that was refused', async () => {
  const { network, hosts, clock, check, run } = open(({ dashboards, user }) => ({
    ceph: { dashboards, user, passwordFile: 'ceph-password', pools: ['vms'] },
  }));
  const logins = (): number => network.calls.filter(({ verb }) => verb === 'POST /api/auth').length;
  const health = async (): Promise<unknown> => (await check(['ceph']))[0]?.results[0]?.code;
  const password = hosts.files.get('ceph-password') ?? '';
  await run(async () => {
    hosts.files.set('ceph-password', 'not-the-password');
    expect([await health(), await health(), logins()]).toEqual(['CephCredentialRefused', 'CephCredentialRefused', 1]);
    await clock.sleep(60_000);
    expect([await health(), logins()]).toEqual(['CephCredentialRefused', 2]);
    // Another password is tried at once.
    hosts.files.set('ceph-password', password);
    expect([await health(), await health(), logins()]).toEqual([null, null, 3]);
  });
});
