import pMap from 'p-map';

import type { Eviction } from '../../contracts/crds/eviction.ts';
import { withClock } from '../../lab/clock.ts';
import { createServerGroup, requestInstance } from '../../lab/openstack/seed.ts';
import { drive } from '../../test/fakes/drive.ts';
import { createFakeOpenStack } from '../../test/fakes/openstack/fake-openstack.ts';
import { randomOf } from '../../test/faults/random.ts';
import { testScope } from '../../test/fixtures/activities/nova.ts';
import { createVirtualClock } from '../../test/simulator/clock.ts';
import { createNetwork } from '../../test/simulator/network.ts';
import { createHostActivities } from '../nova/activities.ts';
import { createNovaClient } from '../nova/client.ts';
import { shareRegion } from '../nova/region-reads.ts';
import { createPlacementClient } from '../placement/client.ts';
import { createProviderReads } from '../placement/provider-reads.ts';
import { createCandidateReads } from './ask-placement.ts';

/** As a worker has them. */
const atOnce = 100;
/** One way; an answer of a busy Nova takes a fifth of a second. */
const latencyMs = 200;
/** Anti-affinity groups with a server on each of two hosts that are emptied. */
const groups = 10;

const eviction = (number: number): Eviction => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: {
    name: `node-${number}`,
    uid: `uid-${String(number).padStart(4, '0')}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-01-01T12:00:00Z',
  },
  spec: { hypervisor: `node-${number}`, reason: 'test' },
});

/** Preflights of so many hosts of a fleet, all asked for at once. */
async function preflightAll(hosts: number, evictions: number) {
  const random = randomOf(1);
  const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12), random);
  const network = createNetwork({ clock, random, latencyMs });
  const names = Array.from({ length: hosts }, (_, index) => `node-${index + 1}`);
  const fake = createFakeOpenStack({
    clock,
    random,
    network,
    // The others come when the servers are there: the model's scheduler looks at all hosts for each of them.
    hosts: Object.fromEntries(names.slice(0, evictions).map((name) => [name, {}])),
  });
  const session = fake.openSession();
  const { nova, region } = shareRegion(createNovaClient(session), clock);
  const placement = createPlacementClient(session);
  const all = Array.from({ length: evictions }, (_, index) => eviction(index + 1));
  const activities = createHostActivities({
    nova,
    region,
    providers: createProviderReads(placement, clock),
    candidates: createCandidateReads(placement, clock),
    listHypervisors: async () => [],
    listEvictions: async () => all,
    listGuests: async () => null,
    localDisks: false,
    stopGate: async () => {},
    audit: { record: async () => {} },
    clock,
    scope: () => testScope({}),
  });
  return await drive(
    clock,
    withClock(clock, async () => {
      const apart = await Promise.all(
        Array.from({ length: groups }, (_, index) => createServerGroup(fake.admin, `group-${index}`, 'anti-affinity')),
      );
      // Asked for at once, as waiting for each costs more than all that is measured here.
      for (const [index, { metadata }] of all.entries())
        await requestInstance(fake.admin, {
          name: `vm-${index}`,
          host: metadata.name,
          ...(index < 2 * groups ? { serverGroup: apart[index % groups]! } : {}),
        });
      await clock.sleep(60_000);
      for (const name of names.slice(evictions)) await fake.fleet.change(name, {});
      const beganMs = clock.now();
      const before = network.calls.length;
      const found = await pMap(
        all,
        ({ metadata: { name, uid } }) => activities.preflightEviction({ hypervisor: name, evictionUid: uid }),
        { concurrency: atOnce },
      );
      return {
        found,
        requests: (network.calls.length - before) / evictions,
        tookMs: clock.now() - beganMs,
      };
    }),
  );
}

// Each alone listed the region, and the servers and migrations of every eviction before it: 1,200 requests each, 240,000 in all.
test.each([250, 1_000])(
  '200 evictions at once, of %s hosts, ask for at most 30 things each',
  async (hosts) => {
    const { found, requests, tookMs } = await preflightAll(hosts, 200);
    expect(found.map(({ host }) => host.instances.length)).toEqual(Array.from({ length: 200 }, () => 1));
    expect(
      found
        .flatMap(({ obstacles }) => obstacles.map(({ code }) => code))
        .filter((code) => code !== 'AgentReportMissing'),
    ).toEqual([]);
    process.stderr.write(`${hosts} hosts: ${requests.toFixed(1)} requests each, ${(tookMs / 1_000).toFixed(1)} s\n`);
    expect(requests).toBeLessThanOrEqual(30);
    expect(tookMs).toBeLessThanOrEqual(120_000);
  },
  300_000,
);

test('one eviction alone asks for no more', async () => {
  const { requests } = await preflightAll(250, 1);
  process.stderr.write(`alone: ${requests} requests\n`);
  expect(requests).toBeLessThanOrEqual(30);
});
