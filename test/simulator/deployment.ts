import { createHash } from 'node:crypto';
import { createNovaClient } from '../../activities/nova/client.ts';
import type { WatchMeter } from '../../activities/vsphere/watch/tools.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { runSettings } from '../../k8s-bridge/main.ts';
import { parseConfig } from '../../runtime/config/config.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';
import type { OpenStackSettings } from '../../runtime/config/openstack-settings.ts';
import { speaksToVcenters, type VcenterSettings } from '../../runtime/config/vsphere-settings.ts';
import { composeQueues } from '../../workers/queues.ts';
import type { SharedSystems } from '../../workers/systems.ts';
import { startSystemWorkflows } from '../../workers/system-workflows.ts';
import { createFakeIsos, type FakeIsos } from '../fakes/isos.ts';
import { createFakeHosts, type FakeHosts } from '../fakes/hosts/hosts.ts';
import { createFakeKubernetes, type FakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import { createFakeOpenStack, type FakeOpenStack } from '../fakes/openstack/fake-openstack.ts';
import { createFakeVcenter, type FakeVcenter } from '../fakes/vsphere/vcenter.ts';
import type { SimulatedBridge } from './bridge.ts';
import type { CsiDriverOptions } from './volumes/csi-driver.ts';
import { startStorage, type Storage } from './volumes/storage.ts';
import { createSimulatedBridge } from './bridge.ts';
import type { AnyActivity, Mutate, MutationTools } from './mutations/mutation.ts';
import type { Simulation, SimulationOptions } from './simulation.ts';
import { createSimulation } from './simulation.ts';

/** Which outside systems there are. Kubernetes, Temporal and what hosts have always are. */
export type SimulatedPart = 'openstack' | 'vsphere' | 'storage';

export interface DeploymentOptions extends Omit<SimulationOptions, 'serve'> {
  parts: readonly SimulatedPart[];
  /** CSI drivers of the part `storage`. */
  drivers?: readonly CsiDriverOptions[];
  /** As in drover.yaml. */
  settings: object;
  bridge: boolean;
  /** Drover's activities, broken on purpose. */
  mutate?: Mutate;
}

/** An audit line, and when it was written. */
export interface AuditLine extends AuditEntry {
  atMs: number;
}

/** drover's own worker and bridge over fakes of everything outside, in one simulation. */
export interface Deployment {
  readonly simulation: Simulation;
  readonly kubernetes: FakeKubernetes;
  /** The cluster of the Nodes of Machines, where the settings name its kubeconfig. */
  readonly target: FakeKubernetes;
  readonly openstack: FakeOpenStack | null;
  readonly vcenter: FakeVcenter | null;
  readonly hosts: FakeHosts;
  /** Of the CSI drivers of the cluster. */
  readonly storage: Storage | null;
  readonly isos: FakeIsos;
  readonly bridge: SimulatedBridge | null;
  /** What drover has written, over all of its processes. */
  readonly audit: readonly AuditLine[];
  readonly log: readonly string[];
  /** What the worker and the bridge that start next have. */
  readonly config: Config;
  /** What drover was given and must never show. */
  readonly secrets: readonly { name: string; value: string }[];
  /**
   * Other settings for the worker and the bridge that start next. `cloud`: how the worker reaches OpenStack; default:
   * as it should.
   */
  configure(settings: object, cloud?: Partial<OpenStackSettings>): void;
  close(): void;
}

const noMeter: WatchMeter = {
  began: () => undefined,
  answered: () => undefined,
  inventoried: () => undefined,
  signalled: () => undefined,
  skipped: () => undefined,
};

/** drover is deployed and has started; nothing has happened yet. */
export function deploy({
  parts,
  drivers = [],
  settings,
  bridge: withBridge,
  mutate = () => null,
  ...options
}: DeploymentOptions): Deployment {
  let config = parse(settings);
  let cloud: Partial<OpenStackSettings> = {};
  const audit: AuditLine[] = [];
  const log: string[] = [];
  const logger = createLogger({
    level: 'warn',
    component: 'simulation',
    destination: { write: (line) => void log.push(line) },
  });
  // The worker starts with the simulation, and needs the fakes then, which need its clock.
  let fakes: Fakes | null = null;
  const fakesOf = (simulation: Simulation): Fakes => (fakes ??= createFakes(simulation, parts, drivers));
  let target: FakeKubernetes | null = null;
  const targetOf = (simulation: Simulation): FakeKubernetes => (target ??= createFakeKubernetes(simulation));

  const simulation = createSimulation({
    ...options,
    serve(running) {
      const { kubernetes, openstack, vcenter, hosts, isos } = fakesOf(running);
      const { client, clock, random } = running;
      const vcenters: VcenterSettings[] = vcenter !== null && speaksToVcenters(config) ? [vcenter.settings] : [];
      const shared: SharedSystems = {
        config,
        temporal: client,
        kubernetes: kubernetes.client,
        clock,
        random,
        logger,
        watchMeter: noMeter,
        safetyMeter: { show: () => undefined, hide: () => undefined, keepFrozen: () => undefined },
        agentMeter: { metered: (activities) => activities },
        volumeMeter: { metered: (activities) => activities, meteredClient: (client) => client },
        leaving: new AbortController().signal,
        // When it was, whatever the worker's clock says.
        audit: {
          record: async (entry: AuditEntry) => void audit.push({ ...structuredClone(entry), atMs: clock.nowMs }),
        },
        ports: {
          openVcenter: () => present(vcenter, 'vCenter').openVim(),
          openRest: () => present(vcenter, 'vCenter').openRest(),
          connectLibvirt: (...call) => hosts.connectLibvirt(...call),
          openOvs: (...call) => hosts.openOvs(...call),
          openCeph: (settings) => hosts.openCeph(settings),
          connectBmc: (settings) => hosts.createRedfishClient(settings),
          openCloud: (of) => present(openstack, 'OpenStack').openSession(of),
          openCluster: () => targetOf(running).client,
          openIsoSource: () => isos.source,
          openDatastoreHttp: (of) => present(vcenter, 'vCenter').openDatastoreHttp(of),
          openForeignCluster: () => targetOf(running).client,
          readText: async (file) => hosts.files.get(file) ?? `the content of ${file}`,
          // Guests listen at ports below 1024.
          probePort: async ({ port }) =>
            port < 1_024 ? { passed: true, message: '' } : { passed: false, message: `port ${port} does not answer` },
          // A real one takes a thread and 50 ms.
          hashSecret: async (text, salt) => createHash('sha256').update(salt).update(text).digest('base64url'),
        },
      };
      const session = openstack?.openSession(cloud) ?? null;
      const { queues } = composeQueues(shared, session === null ? null : { openstack: session }, vcenters);
      startSystemWorkflows(shared, session?.region ?? null, vcenters);
      const tools: MutationTools = { clock, openNova: () => createNovaClient(present(session, 'OpenStack')) };
      return queues.map((queue) => ({ ...queue, activities: mutated(queue.activities, mutate, tools) }));
    },
  });
  const { kubernetes, openstack, vcenter, hosts, isos, storage } = fakesOf(simulation);
  const { clock, random, client: temporal } = simulation;
  const bridge = withBridge
    ? createSimulatedBridge({
        clock,
        random,
        kubernetes: kubernetes.client,
        temporal,
        settings: () => runSettings(config),
        log: logger,
      })
    : null;
  bridge?.start();

  return {
    simulation,
    kubernetes,
    get target() {
      return targetOf(simulation);
    },
    openstack,
    vcenter,
    isos,
    hosts,
    storage,
    bridge,
    audit,
    log,
    get config() {
      return config;
    },
    secrets: secretsOf(openstack),
    configure(changed, otherCloud = {}) {
      config = parse(changed);
      cloud = otherCloud;
    },
    close() {
      bridge?.kill();
      simulation.close();
    },
  };
}

const mutated = (activities: object, mutate: Mutate, tools: MutationTools): object =>
  Object.fromEntries(
    Object.entries(activities as Record<string, AnyActivity>).map(([name, activity]) => [
      name,
      mutate(name, activity, tools) ?? activity,
    ]),
  );

type Fakes = Pick<Deployment, 'kubernetes' | 'openstack' | 'vcenter' | 'hosts' | 'isos' | 'storage'>;

function createFakes(
  { clock, network, random }: Simulation,
  parts: readonly SimulatedPart[],
  drivers: readonly CsiDriverOptions[],
): Fakes {
  const tools = { clock, network, random };
  const openstack = parts.includes('openstack') ? createFakeOpenStack({ ...tools, region: 'RegionOne' }) : null;
  const kubernetes = createFakeKubernetes(tools);
  return {
    kubernetes,
    storage: parts.includes('storage') ? startStorage({ ...tools, kubernetes, drivers }) : null,
    openstack,
    vcenter: parts.includes('vsphere') ? createFakeVcenter(tools) : null,
    isos: createFakeIsos(tools),
    hosts: createFakeHosts({
      ...tools,
      onPower: (host, power) => void (power === 'Off' && openstack?.losePower(host)),
    }),
  };
}

const parse = (settings: object): Config => parseConfig(settings, {}, {});

function present<Part>(part: Part | null, what: string): Part {
  if (part === null) throw new Error(`this simulation has no ${what}`);
  return part;
}

const secretsOf = (openstack: FakeOpenStack | null): Deployment['secrets'] => [
  ...(openstack?.model.keystone.users.map(({ name, password }) => ({
    name: `the password of ${name}`,
    value: password,
  })) ?? []),
  ...(openstack === null
    ? []
    : [
        {
          name: 'the secret of the application credential',
          value: openstack.model.keystone.applicationCredential.secret,
        },
      ]),
];
