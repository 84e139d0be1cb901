import { openSession } from '../../../activities/keystone/client.ts';
import type { KeystoneSession } from '../../../activities/keystone/types.ts';
import type { Fleet } from '../../../lab/openstack/fleet.ts';
import { defaultFleet, type FleetPlan } from '../../../lab/openstack/host-profile.ts';
import type { CloudName, OpenStackHandle } from '../../../lab/openstack/handle.ts';
import type { ApiCall, MigrationEvent } from '../../../lab/openstack/journal.ts';
import { OpenStackError, type Session } from '../../../lab/openstack/session.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { OpenStackSettings } from '../../../runtime/config/openstack-settings.ts';
import type { VirtualClock } from '../../simulator/clock.ts';
import type { Network } from '../../simulator/network.ts';
import { createCloud, type Cloud, type ServiceKey } from './cloud.ts';
import { createFakeFleet } from './fleet.ts';
import { createFakeHttp } from './http.ts';
import { urls } from './keystone.ts';
import { uuidOf } from './ids.ts';
import type { Model, SimulatedVolume } from './model.ts';
import { addHost, crashCompute, startCompute } from './nova/compute-hosts.ts';
import { serve } from './services.ts';

export interface FakeOpenStackOptions {
  clock: VirtualClock;
  network: Network;
  random: () => number;
  /** Default: `RegionOne`. */
  region?: string;
  /** Default: the lab's, node-1 to node-6. */
  hosts?: FleetPlan;
}

/** Keystone, Nova and Placement as one model in virtual time, answering at the wire. */
export interface FakeOpenStack {
  /**
   * drover's own session, for one process: every request goes through the network, with its faults.
   * @param time by which the session renews its tokens; default: the simulation's
   */
  readonly openSession: (change?: Partial<OpenStackSettings>, time?: Clock) => KeystoneSession;
  /** The credentials of the lab's clouds.yaml. */
  readonly settings: (cloud?: CloudName) => OpenStackSettings;
  /** For people, scenarios and judges: an administrator's requests, answered at once and without faults. */
  readonly admin: Session;
  readonly fleet: Fleet;
  /** nova-compute goes with its machine. Nova does not hear of it. */
  readonly losePower: (host: string) => void;
  /** A volume; from the first one on the cloud has a Cinder. Returns its id. */
  readonly addVolume: (volume: Omit<SimulatedVolume, 'id' | 'createdMs'>) => string;
  readonly journal: {
    readonly apiCalls: (service: ServiceKey, sinceMs?: number) => ApiCall[];
    /** Requests that have arrived, and are not answered yet: their status is 0. What they ask for may be so by now. */
    readonly pendingCalls: (service: ServiceKey) => ApiCall[];
    readonly migrationEvents: (sinceMs?: number) => MigrationEvent[];
  };
  readonly model: Model;
}

export function createFakeOpenStack({
  clock,
  network,
  random,
  region = 'RegionOne',
  hosts = defaultFleet,
}: FakeOpenStackOptions): FakeOpenStack {
  const cloud = createCloud({ clock, random, region });
  for (const [name, profile] of Object.entries(hosts)) startCompute(cloud, addHost(cloud, name, profile));
  const settings = (name: CloudName = 'lab'): OpenStackSettings => settingsOf(cloud, name);
  return {
    settings,
    openSession: (change = {}, time = clock) =>
      openSession({ ...settings(), ...change }, { clock: time, http: createFakeHttp(cloud, network) }),
    admin: createAdmin(cloud),
    fleet: createFakeFleet(cloud, hosts),
    losePower: (name) => {
      const host = cloud.model.hosts.get(name);
      if (host?.isRunning === true) crashCompute(cloud, host);
    },
    addVolume(volume) {
      const id = cloud.uuid();
      cloud.model.volumes ??= new Map();
      cloud.model.volumes.set(id, { id, createdMs: cloud.nowMs(), ...volume });
      return id;
    },
    journal: {
      apiCalls: (service, sinceMs = 0) => cloud.journal.calls[service].filter(({ timeMs }) => timeMs >= sinceMs),
      pendingCalls: (service) =>
        [...cloud.journal.pending[service]].map((call) => ({ ...call, durationMs: clock.nowMs - call.timeMs })),
      migrationEvents: (sinceMs = 0) => cloud.journal.migrations.filter(({ timeMs }) => timeMs >= sinceMs),
    },
    model: cloud.model,
  };
}

function settingsOf({ region, model: { keystone } }: Cloud, name: CloudName): OpenStackSettings {
  const user = keystone.users.find(
    (one) =>
      one.name === { lab: 'drover', 'lab-password': 'drover', 'lab-admin': 'admin', 'lab-member': 'member' }[name],
  );
  if (user === undefined) throw new Error(`the simulated cloud has no user for ${name}`);
  const { id, secret } = keystone.applicationCredential;
  const domain = { id: 'default' };
  return {
    cloud: name,
    sources: [],
    authUrl: urls.keystone,
    region,
    interface: 'public',
    verify: true,
    ca: null,
    endpointOverrides: {},
    credential:
      name === 'lab'
        ? { method: 'application_credential', id, secret }
        : {
            method: 'password',
            user: { name: user.name, domain },
            password: user.password,
            project: { name: 'admin', domain },
          },
  };
}

/** Nothing of it is a file or answers on a port; what scenarios take of it is the image. */
const handleOf = ({ region, model, journal }: Cloud): OpenStackHandle => ({
  dir: '/dev/null',
  region,
  authUrl: urls.keystone,
  computeUrl: urls.nova,
  placementUrl: urls.placement,
  cloudsFile: '/dev/null',
  openrcFile: '/dev/null',
  controlUrl: 'http://control.fake',
  controlTokenFile: '/dev/null',
  imageId: model.imageId,
  amphoraImageId: uuidOf('amphora.lab.drover.dev'),
  journalDir: '/dev/null',
  readJournal: (name) => (name === 'migrations' ? journal.migrations : journal.calls[name as ServiceKey]),
});

const novaMicroversion = '2.94';
const placementMicroversion = '1.39';

function createAdmin(cloud: Cloud): Session {
  const as = cloud.model.keystone.users.find(({ name }) => name === 'drover');
  if (as === undefined) throw new Error('the simulated cloud has no administrator');

  async function call<Answer>(
    service: 'nova' | 'placement',
    method: string,
    pathAndQuery: string,
    version: string,
    body: unknown,
  ): Promise<Answer> {
    const url = new URL(`http://fake${pathAndQuery}`);
    const { status, body: answer } = await serve(cloud, {
      service,
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: { 'openstack-api-version': version },
      body,
      userAgent: 'drover-lab',
      ...(as === undefined ? {} : { as }),
    });
    // A copy: what is done with an answer does not change the model.
    const copy = answer === undefined ? undefined : (JSON.parse(JSON.stringify(answer)) as unknown);
    if (status >= 400) throw new OpenStackError(`${method} ${pathAndQuery}`, status, copy);
    return copy as Answer;
  }
  return {
    handle: handleOf(cloud),
    compute: (method, path, options) =>
      call('nova', method, path, `compute ${options?.microversion ?? novaMicroversion}`, options?.body),
    placement: (method, path, options) =>
      call('placement', method, path, `placement ${options?.microversion ?? placementMicroversion}`, options?.body),
  };
}
