import { openSession } from '../activities/keystone/client.ts';
import { createNovaClient } from '../activities/nova/client.ts';
import { createHypervisorActivities } from '../activities/nova/hypervisor-activities.ts';
import type { ActivityScope } from '../activities/nova/scope.ts';
import { testClock, testScope } from '../activities/nova/samples.ts';
import { createPlacementClient } from '../activities/placement/client.ts';
import type { AuditEntry } from '../runtime/audit.ts';
import { settingsFor, startScriptedService, tokenReply, type Received, type Reply, type ScriptedService } from './scripted-service.ts';

/** Answers by `METHOD path`, below Nova's `/v2.1` or Placement's URL. */
export type Script = Record<string, (request: Received) => Reply | Promise<Reply>>;

export interface ScriptedOpenStack {
  activities: ReturnType<typeof createHypervisorActivities>;
  audited: AuditEntry[];
  /** Requests that change something, as `METHOD path`, in the order in which they came. */
  changes: () => string[];
  received: () => Received[];
  close: () => Promise<void>;
}

/** The activities of a hypervisor's lifecycle on services that say what a test tells them. */
export async function openScriptedOpenStack(script: Script, change: { scope?: Partial<ActivityScope>; stopped?: () => void } = {}): Promise<ScriptedOpenStack> {
  const service: ScriptedService = await startScriptedService((request) => {
    if (request.path === '/v3/auth/tokens') return tokenReply('token', { urls: { compute: `${service.url}/compute/v2.1`, placement: `${service.url}/placement` } });
    const path = pathOf(request);
    if (path === '/') return { json: { version: { version: '2.104', min_version: '2.1' } } };
    return script[`${request.method} ${path}`]?.(request) ?? { status: 404, json: { itemNotFound: { code: 404, message: `No script for ${request.method} ${path}` } } };
  });
  const session = openSession(settingsFor(service.url));
  const audited: AuditEntry[] = [];
  const activities = createHypervisorActivities({
    nova: createNovaClient(session),
    placement: createPlacementClient(session),
    stopGate: async () => change.stopped?.(),
    audit: { record: async (entry) => void audited.push(entry) },
    clock: testClock(),
    scope: () => testScope(change.scope),
  });
  const received = (): Received[] => service.received.filter(({ path }) => path !== '/v3/auth/tokens').map((request) => ({ ...request, path: pathOf(request) }));
  return {
    activities,
    audited,
    received,
    changes: () => received().filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`),
    close: async () => {
      await session.close();
      await service.close();
    },
  };
}

const pathOf = ({ path }: Received): string => path.replace(/^\/(compute\/v2\.1|placement)/u, '');

/** As Nova words it. */
export const novaRefusal = (status: number, message: string): Reply => ({ status, json: { [status === 404 ? 'itemNotFound' : 'conflictingRequest']: { code: status, message } } });

/** As Placement words it. */
export const placementRefusal = (status: number, detail: string): Reply => ({ status, json: { errors: [{ status, title: 'refused', detail }] } });

export const wireService = (change: object = {}): object => ({ id: 'c1', binary: 'nova-compute', host: 'node-1', zone: 'nova', status: 'enabled', state: 'up', disabled_reason: null, forced_down: false, ...change });

export const wireHypervisor = (change: object = {}): object => ({
  id: 'h1',
  hypervisor_hostname: 'node-1.example',
  hypervisor_type: 'QEMU',
  hypervisor_version: 9_002_001,
  state: 'up',
  status: 'enabled',
  service: { id: 'c1', host: 'node-1' },
  servers: [],
  ...change,
});

export const wireAggregate = (id: number, name: string, hosts: string[], metadata: Record<string, string> = {}): object => ({
  id,
  uuid: `uuid-${id}`,
  name,
  availability_zone: metadata['availability_zone'] ?? null,
  hosts,
  metadata,
});

export const wireServer = (id: string, change: object = {}): object => ({
  id,
  name: id,
  status: 'ACTIVE',
  created: '2026-01-01T00:00:00Z',
  'OS-EXT-SRV-ATTR:host': 'node-1',
  'OS-EXT-STS:task_state': null,
  'OS-EXT-STS:vm_state': 'active',
  locked: false,
  flavor: { original_name: 'm1', vcpus: 1, ram: 512, disk: 1, ephemeral: 0, swap: 0, extra_specs: {} },
  image: { id: 'i' },
  metadata: {},
  ...change,
});
