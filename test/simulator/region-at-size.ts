import pMap from 'p-map';
import { observeRegion, type ObservedRegion } from '../../activities/hypervisor/observe-region.ts';
import { createHostActivities } from '../../activities/nova/activities.ts';
import { createNovaClient } from '../../activities/nova/client.ts';
import { shareRegion } from '../../activities/nova/region-reads.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import { createProviderReads, sharePlacement } from '../../activities/placement/provider-reads.ts';
import { createCandidateReads } from '../../activities/preflight/ask-placement.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { withClock } from '../../lab/clock.ts';
import { changeService } from '../../lab/openstack/hosts.ts';
import { createServerGroup, requestInstance } from '../../lab/openstack/seed.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeOpenStack } from '../fakes/openstack/fake-openstack.ts';
import { randomOf } from '../faults/random.ts';
import { testScope } from '../fixtures/activities/nova.ts';
import { createVirtualClock } from './clock.ts';
import { createNetwork } from './network.ts';

/**
 * What drover asks of a region of many hosts, by its own activities on the model of OpenStack: counts, and virtual
 * time, whatever the machine does besides.
 */

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `node-${index + 1}`);

/** @param listed those that are there from the beginning */
function openRegion(listed: readonly string[], latencyMs: number) {
  const random = randomOf(1);
  const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12), random);
  const network = createNetwork({ clock, random, latencyMs });
  const hosts = Object.fromEntries(listed.map((name) => [name, {}]));
  const fake = createFakeOpenStack({ clock, random, network, hosts });
  const session = fake.openSession();
  const shared = shareRegion(createNovaClient(session), clock);
  const run = <Result>(body: () => Promise<Result>): Promise<Result> => drive(clock, withClock(clock, body));
  return { clock, network, fake, ...shared, placement: createPlacementClient(session), run };
}

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

/** As a worker has them. */
const atOnce = 100;
/** One way; an answer of a busy Nova takes a fifth of a second. */
const busyMs = 200;
/** Anti-affinity groups with a server on each of two hosts that are emptied. */
const groups = 10;

/** Preflights of so many hosts of a fleet, all asked for at once. */
export async function preflightAll(hosts: number, evictions: number) {
  const all = Array.from({ length: evictions }, (_, index) => eviction(index + 1));
  // The others come when the servers are there: the model's scheduler looks at all hosts for each of them.
  const { clock, network, fake, nova, region, placement, run } = openRegion(names(evictions), busyMs);
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
  return await run(async () => {
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
    for (const name of names(hosts).slice(evictions)) await fake.fleet.change(name, {});
    const beganMs = clock.now();
    const before = network.calls.length;
    const found = await pMap(
      all,
      ({ metadata: { name, uid } }) => activities.preflightEviction({ hypervisor: name, evictionUid: uid }),
      { concurrency: atOnce },
    );
    return { found, requests: (network.calls.length - before) / evictions, tookMs: clock.now() - beganMs };
  });
}

/** A region, and a look at one host of it as the run of its hypervisor has it. */
export function openLooks(hosts: number) {
  const all = names(hosts);
  const { clock, network, fake, nova, region, placement: asked, run } = openRegion(all, 50);
  const placement = sharePlacement(asked, clock);
  const providers = createProviderReads(placement, clock);
  const look = (hypervisor: string, trustMs: number): Promise<ObservedRegion> =>
    observeRegion(
      { nova, region, providers, scope: testScope(), clock },
      { hypervisor, aggregates: [], formerProviderId: null },
      trustMs,
    );
  return { clock, network, names: all, fake, nova, placement, look, run };
}

const minuteMs = 60_000;
/** What the lists of a region may be old for one that looks again. */
export const trustedMs = 15_000;

/** Requests for each look, where so many disabled hosts are looked at each minute. */
export async function countLooks(hosts: number): Promise<number> {
  const { clock, network, names: all, fake, look, run } = openLooks(hosts);
  const rounds = 2;
  return await run(async () => {
    for (const name of all) await changeService(fake.admin, name, { status: 'disabled', disabled_reason: 'test' });
    await Promise.all(all.map((name) => look(name, 0)));
    const before = network.calls.length;
    // As their runs come round: evenly over a minute.
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(
        all.map(async (name, index) => {
          await clock.sleep((index * minuteMs) / all.length);
          await look(name, trustedMs);
        }),
      );
    }
    return (network.calls.length - before) / (rounds * all.length);
  });
}

/** Requests for each first look, at all hosts of a region at once, as after a restart. */
export async function countFirstLooks(hosts: number): Promise<number> {
  const { network, names: all, look, run } = openLooks(hosts);
  return await run(async () => {
    await Promise.all(all.map((name) => look(name, 0)));
    return network.calls.length / all.length;
  });
}
