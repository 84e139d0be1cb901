import { createInstance, listServers } from '../../lab/openstack/seed.ts';
import { asTemporalWould, host, newHost, openHypervisorActivities } from './nova-hypervisor-context.ts';
import type { ContractTest, OpenStackCounterpart } from './openstack.ts';

const smoke = ({ admin }: OpenStackCounterpart, change: object = {}) => ({
  owner: { host, hypervisor: host, uid: 'uid-1' },
  flavorId: 'lab.tiny',
  imageId: admin.handle.imageId,
  console: 'hostname' as const,
  deadlineMs: 60_000,
  cleanUpMs: 60_000,
  ...change,
});

/** Without those whose guest is destroyed and whose record Nova has not marked as deleted yet. */
const serverIds = async ({ admin }: OpenStackCounterpart): Promise<string[]> =>
  (await listServers(admin)).filter(({ status }) => status !== 'DELETED').map(({ id }) => id);

/** @param test on a counterpart to which a host may be added for good */
export function describeSmokeChecks(test: ContractTest): void {
  test('a smoke check: a server on exactly that host comes up, shows a login, and is gone again; another of its name stays', async (counterpart) => {
    const { drover, audited } = openHypervisorActivities(counterpart);
    await newHost(counterpart, drover);
    const foreign = await createInstance(counterpart.admin, { name: `drover-smoke-${host}`, host: 'node-1' });
    const findings = await drover.runSmokeCheck(smoke(counterpart));
    expect(findings).toMatchObject([
      { name: 'server', observed: `ACTIVE on ${host}`, code: null },
      { name: 'console', code: null },
    ]);
    expect(await serverIds(counterpart)).toEqual([foreign.id]);
    expect(audited.map(({ action }) => action)).toEqual(['ensureSmokeServer', 'deleteSmokeServer']);
  });

  test('two smoke checks at once end alike and leave nothing', async (counterpart) => {
    const { drover } = openHypervisorActivities(counterpart);
    await newHost(counterpart, drover);
    const both = await Promise.all([1, 2].map(() => asTemporalWould(() => drover.runSmokeCheck(smoke(counterpart)))));
    for (const findings of both) expect(findings.map(({ code }) => code)).toEqual([null, null]);
    expect(await serverIds(counterpart)).toEqual([]);
  });

  type Smoke = [what: string, change: object, finding: object];
  const failures: Smoke[] = [
    [
      'no host can take it',
      { flavorId: 'lab.trait' },
      {
        name: 'server',
        observed: expect.stringMatching(/^ERROR on no host: No valid host/u),
        code: 'SmokeServerFailed',
      },
    ],
    [
      'there is no such flavor',
      { flavorId: 'nope' },
      { name: 'server', observed: expect.stringMatching(/nope/u), code: 'SmokeServerRefused' },
    ],
    [
      'there is no such host',
      { owner: { host: 'node-77', hypervisor: 'node-77', uid: 'u' } },
      { name: 'server', observed: expect.stringMatching(/node-77/u), code: 'SmokeServerRefused' },
    ],
    [
      'its console never says it',
      { console: { text: 'Welcome to the machine' }, deadlineMs: 20_000 },
      { name: 'console', observed: expect.stringMatching(/Booting.*login/su), code: 'SmokeServerFailed' },
    ],
  ];
  for (const [what, change, finding] of failures) {
    test(`a smoke check where ${what}: a finding, and nothing is left`, async (counterpart) => {
      const { drover } = openHypervisorActivities(counterpart);
      await newHost(counterpart, drover);
      const findings = await drover.runSmokeCheck(smoke(counterpart, change));
      expect(findings.at(-1)).toMatchObject(finding);
      expect(await serverIds(counterpart)).toEqual([]);
    });
  }

  test('what an aborted smoke check left is taken away', async (counterpart) => {
    const { drover } = openHypervisorActivities(counterpart);
    await newHost(counterpart, drover);
    // Drover's own mark, as a check makes it that has been abandoned.
    const metadata = {
      'drover:purpose': 'smoke-test',
      'drover:host': host,
      'drover:hypervisor': host,
      'drover:hypervisor-uid': 'uid-1',
    };
    const left = await createInstance(counterpart.admin, { name: `drover-smoke-${host}`, host, metadata });
    expect(await drover.findSmokeServers({ host })).toEqual([left.id]);
    expect(await drover.ensureSmokeServerGone({ host, deadlineMs: 60_000 })).toBe(true);
    expect(await serverIds(counterpart)).toEqual([]);
  });
}
