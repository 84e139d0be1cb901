import { withClock } from '../../lab/clock.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeOpenStack } from '../fakes/openstack/fake-openstack.ts';
import { createVirtualClock } from '../simulator/clock.ts';
import { createNetwork } from '../simulator/network.ts';
import { randomOf } from '../faults/random.ts';
import { describeExpiry, describeKeystone } from './keystone.ts';
import { describeNewHosts } from './nova-hosts.ts';
import { describeMachines } from './nova-machines.ts';
import { describeHypervisorActivities } from './nova-hypervisors.ts';
import { describeDeletionRaces } from './nova-races.ts';
import { describeSmokeChecks } from './nova-smoke-checks.ts';
import { describeNova, describeNovaActivities } from './nova.ts';
import type { ContractTest } from './openstack.ts';
import { describeReleases } from './placement-releases.ts';
import { describePlacement } from './placement.ts';

const startMs = Date.UTC(2026, 0, 31, 12);

/** A simulated OpenStack of its own for each test. */
const onFake =
  (tokenLifetimeMs?: number): ContractTest =>
  (name, body) => {
    test(name, () => {
      const random = randomOf(1);
      const clock = createVirtualClock(startMs, random);
      const fake = createFakeOpenStack({ clock, random, network: createNetwork({ clock, random }) });
      if (tokenLifetimeMs !== undefined) fake.model.keystone.tokenLifetimeMs = tokenLifetimeMs;
      const counterpart = {
        ...fake,
        connect: fake.openSession,
        ...fake.journal,
      };
      return drive(
        clock,
        withClock(clock, () => body(counterpart)),
      );
    });
  };

describe('the simulated Keystone', () => {
  describeKeystone(onFake());
});
describe('the simulated Keystone, with tokens that live for six seconds', () => {
  describeExpiry(onFake(6_000));
});
describe('the simulated Nova', () => {
  describeNova(onFake());
});
describe('drover’s activities on the simulated Nova', () => {
  describeNovaActivities(onFake());
});
describe('the simulated Nova and Placement, with a host that comes and goes', () => {
  describeNewHosts(onFake());
  describeHypervisorActivities(onFake());
  describeSmokeChecks(onFake());
  describeReleases(onFake());
  describeDeletionRaces(onFake());
});
describe('the simulated Nova, for machines', () => {
  describeMachines(onFake());
});
describe('the simulated Placement', () => {
  describePlacement(onFake());
});
