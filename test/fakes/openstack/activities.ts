import { createNovaClient } from '../../../activities/nova/client.ts';
import { createHypervisorActivities } from '../../fixtures/activities/hypervisor-region.ts';
import { testScope } from '../../fixtures/activities/nova.ts';
import type { ActivityScope } from '../../../activities/lib/context.ts';
import type { NovaClient } from '../../../activities/nova/types.ts';
import { createPlacementClient } from '../../../activities/placement/client.ts';
import { withClock } from '../../../lab/clock.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { createVirtualClock, type VirtualClock } from '../../simulator/clock.ts';
import { createNetwork, type CallFate, type NetworkCall } from '../../simulator/network.ts';
import { randomOf } from '../../faults/random.ts';
import { drive } from '../drive.ts';
import type { ServiceKey } from './cloud.ts';
import { createFakeOpenStack, type FakeOpenStack } from './fake-openstack.ts';

export interface ActivitiesOnFake {
  fake: FakeOpenStack;
  clock: VirtualClock;
  activities: ReturnType<typeof createHypervisorActivities>;
  audited: AuditEntry[];
  /** What drover asked a service to change, in order: `DELETE /os-services/<id>`, and of an action which one. */
  changes: (service: Exclude<ServiceKey, 'keystone'>) => string[];
  /** Runs a body in virtual time. */
  run: <Result>(body: () => Promise<Result>) => Promise<Result>;
}

export interface ActivitiesOnFakeOptions {
  /** Called as each call leaves: what others do in that moment, and what becomes of the call. Default: it works. */
  onCall?: (call: NetworkCall, fake: FakeOpenStack) => CallFate | undefined;
  stopped?: () => void;
  scope?: Partial<ActivityScope>;
  /** What the client does instead, where the model has no way to it. */
  instead?: (client: NovaClient) => Partial<NovaClient>;
}

/** The activities of a hypervisor's lifecycle on the simulated Nova and Placement. */
export function openActivitiesOnFake({
  onCall = () => undefined,
  stopped = () => {},
  scope = {},
  instead = () => ({}),
}: ActivitiesOnFakeOptions = {}): ActivitiesOnFake {
  const random = randomOf(1);
  const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12), random);
  const network = createNetwork({ clock, random, onCall: (call) => onCall(call, fake) ?? 'works' });
  const fake: FakeOpenStack = createFakeOpenStack({ clock, random, network });
  const session = fake.openSession();
  const audited: AuditEntry[] = [];
  const nova = createNovaClient(session);
  const activities = createHypervisorActivities({
    nova: { ...nova, ...instead(nova) },
    placement: createPlacementClient(session),
    stopGate: async () => stopped(),
    audit: { record: async (entry) => void audited.push(entry) },
    clock,
    scope: () => testScope(scope),
  });
  return {
    fake,
    clock,
    activities,
    audited,
    changes: (service) => {
      const asked = fake.journal
        .apiCalls(service)
        .filter(({ method, userAgent }) => method !== 'GET' && userAgent === 'drover');
      return asked.map(
        ({ method, path, action }) =>
          `${method} ${path.replace('/v2.1', '')}${action === undefined ? '' : ` ${action}`}`,
      );
    },
    run: (body) => drive(clock, withClock(clock, body)),
  };
}
