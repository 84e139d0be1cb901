import { openCeph, type CephOptions as CephClientOptions } from '../../../activities/ceph/client.ts';
import type { CephClient, CephSettings } from '../../../activities/ceph/types.ts';
import { connectLibvirt, type LibvirtOptions } from '../../../activities/libvirt/client.ts';
import type { LibvirtEndpoint } from '../../../activities/libvirt/endpoint.ts';
import type { Domain, LibvirtAccess, LibvirtConnection } from '../../../activities/libvirt/types.ts';
import { createOvsClient } from '../../../activities/ovs/client.ts';
import type { OvsdbOptions } from '../../../activities/ovs/ovsdb.ts';
import type { OvsClient, OvsdbRemote } from '../../../activities/ovs/types.ts';
import { createRedfishClient, type ClientOptions } from '../../../activities/redfish/client.ts';
import type { BmcSettings, ConnectBmc, RedfishClient } from '../../../activities/redfish/types.ts';
import type { HostPorts } from '../../../activities/hypervisor/host-ports.ts';
import { defaultBridges, type BridgeRow } from '../../../lab/parts/ovs-bridges.ts';
import type { MachineState } from '../../../lab/redfish/machines.ts';
import type { ObserveCall } from '../../../runtime/telemetry/outside-calls.ts';
import type { ReadText } from '../../../runtime/read-text.ts';
import type { VirtualClock } from '../../simulator/clock.ts';
import type { Network } from '../../simulator/network.ts';
import { uuidFrom } from '../uuid.ts';
import { createBmc, createFakeBmcHttp, type Bmc } from './bmc.ts';
import {
  cephLogin,
  createCephCluster,
  createFakeDashboardHttp,
  listImages,
  type CephCluster,
  type CephOptions,
} from './ceph.ts';
import { dialFake } from './libvirt-connection.ts';
import { createLibvirtDaemon, type LibvirtDaemon, type LibvirtTraits } from './libvirt-daemon.ts';
import { connectFakeOvsdb, createOvsdb, type Ovsdb } from './ovsdb.ts';
import { fakeCertificates, reachDaemons } from './reach-daemons.ts';

export interface FakeHostsOptions {
  clock: VirtualClock;
  network: Network;
  random: () => number;
  /** The cluster that hosts have their disks in; default: one with the pool `vms`. */
  ceph?: CephOptions;
  /** Called for every call that the ports make. */
  observe?: ObserveCall;
  /** A guest has stopped while its machine had power. */
  onGuestStopped?: (host: string, guest: Domain) => void;
  onPower?: (host: string, power: MachineState['power']) => void;
}

export interface NewHost {
  name: string;
  /** Where its daemons are reached besides its name. */
  address?: string;
  libvirt?: Partial<LibvirtTraits>;
  bridges?: readonly BridgeRow[];
  /** Of its machine, as SMBIOS has it. */
  uuid?: string;
  /** Where its BMC is reached, which hosts may share; default: `https://bmc-<name>.example`. */
  bmcUrl?: string;
}

/** A hypervisor: its machine with the BMC, libvirt with its guests, Open vSwitch. */
export interface FakeHost {
  readonly name: string;
  readonly address: string;
  readonly uuid: string;
  libvirt: LibvirtDaemon;
  ovs: Ovsdb;
  bmc: Bmc;
  readonly bmcUrl: string;
  readonly power: MachineState['power'];
  /** At once: guests are lost, daemons are down, and nothing answers at its address. */
  cutPower: () => void;
  /** The machine starts, and its daemons do; guests stay off. */
  restorePower: () => void;
  /** Whether its libvirt reaches Ceph; changed by tests. */
  reachesCeph: boolean;
}

/**
 * What is on and around hypervisors. The functions are the production ones' of the same names, on the clock of the
 * fake; all that they send goes through the network.
 */
export interface FakeHosts {
  connectLibvirt: (
    endpoint: LibvirtEndpoint,
    access: LibvirtAccess,
    options: Omit<LibvirtOptions, 'clock' | 'openRpc'>,
    signal: AbortSignal,
  ) => Promise<LibvirtConnection>;
  openOvs: (remote: OvsdbRemote, options: Omit<OvsdbOptions, 'clock'>, signal: AbortSignal) => Promise<OvsClient>;
  openCeph: (settings: CephSettings, options?: Omit<CephClientOptions, 'clock' | 'http'>) => CephClient;
  createRedfishClient: (settings: BmcSettings, options?: Omit<ClientOptions, 'clock' | 'http'>) => RedfishClient;
  readText: ReadText;
  /** The same, as the worker takes them. */
  ports: HostPorts & { connectBmc: ConnectBmc };
  /**
   * What `readText` reads, by path; at first the certificates `ca.pem`, `client.pem` and `client.key`, and the
   * passwords `bmc-password` and `ceph-password`.
   */
  files: Map<string, string>;

  add: (host: NewHost) => FakeHost;
  /** @throws for a host that was not added */
  host: (name: string) => FakeHost;
  readonly all: readonly FakeHost[];
  ceph: CephCluster;
  /** What opens the dashboard of the cluster. */
  cephSettings: CephSettings;
  /** How a host's BMC is reached. */
  bmcOf: (name: string) => BmcSettings;
}

const bmcLogin = { username: 'drover', password: 'the-bmc-password' } as const;

export function createFakeHosts({
  clock,
  network,
  random,
  ceph: cephOptions,
  observe,
  onGuestStopped,
  onPower,
}: FakeHostsOptions): FakeHosts {
  const hosts = new Map<string, FakeHost>();
  const bmcs = new Map<string, ReturnType<typeof createBmc>>();
  const { libvirtAt, ovsAt } = reachDaemons(hosts);
  const ceph = createCephCluster(cephOptions);
  const wires = { clock, network };
  const files = new Map<string, string>([
    ['ca.pem', fakeCertificates.ca],
    ['client.pem', fakeCertificates.cert],
    ['client.key', fakeCertificates.key],
    ['bmc-password', bmcLogin.password],
    ['ceph-password', cephLogin.password],
  ]);

  function add({
    name,
    address = name,
    libvirt: traits = {},
    bridges = defaultBridges,
    uuid = uuidFrom(random),
    bmcUrl: url = `https://bmc-${name}.example`,
  }: NewHost): FakeHost {
    if (hosts.has(name)) throw new Error(`there is a host ${name} already`);
    const libvirt = createLibvirtDaemon({
      hostname: name,
      random,
      traits,
      listImages: (request) => listImages(host.reachesCeph ? ceph : null, clock, request),
      onEvent: ({ type, domain }) => {
        if (type === 'stopped') onGuestStopped?.(name, domain);
      },
    });
    const ovs = createOvsdb(bridges);
    const bmc = bmcs.get(url) ?? createBmc({ clock, ...bmcLogin, ca: fakeCertificates.ca });
    bmcs.set(url, bmc);
    bmc.add(name, uuid, (power) => {
      if (power === 'Off') {
        libvirt.losePower();
        ovs.service.kill();
      } else {
        libvirt.service.start();
        ovs.service.start();
      }
      onPower?.(name, power);
    });
    const host: FakeHost = {
      name,
      address,
      uuid,
      libvirt,
      ovs,
      bmc,
      bmcUrl: url,
      get power() {
        return bmc.read(name).power;
      },
      cutPower: () => bmc.setPower(name, 'Off'),
      restorePower: () => bmc.setPower(name, 'On'),
      reachesCeph: true,
    };
    hosts.set(name, host);
    return host;
  }

  const host = (name: string): FakeHost => {
    const found = hosts.get(name);
    if (found === undefined) throw new Error(`there is no host ${name}`);
    return found;
  };

  const openers: Pick<FakeHosts, 'connectLibvirt' | 'openOvs' | 'openCeph' | 'createRedfishClient'> = {
    connectLibvirt: (endpoint, access, options, signal) =>
      connectLibvirt(
        endpoint,
        access,
        {
          clock,
          ...options,
          openRpc: (to, _, timeoutMs, given) =>
            dialFake({ ...wires, daemonAt: libvirtAt }, to, access, timeoutMs, given),
        },
        signal,
      ),
    openOvs: async (remote, options, signal) =>
      createOvsClient(await connectFakeOvsdb({ ...wires, serverAt: ovsAt }, remote, { clock, ...options }, signal)),
    openCeph: (settings, options = {}) => {
      const { timeouts } = settings;
      const http = createFakeDashboardHttp(wires, ceph, {
        ...(timeouts && { timeouts }),
        ...(options.observe && { observe: options.observe }),
      });
      return openCeph(settings, { clock, http, ...options });
    },
    createRedfishClient: (settings, options = {}) =>
      createRedfishClient(settings, {
        clock,
        ...options,
        http: createFakeBmcHttp(wires, bmcs.get(settings.url) ?? null, settings, options),
      }),
  };
  const readText: ReadText = async (file, signal) => {
    signal.throwIfAborted();
    const text = files.get(file);
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${file}'`);
    return text;
  };
  const observed = observe === undefined ? {} : { observe };

  return {
    ...openers,
    readText,
    ports: {
      connectLibvirt: (endpoint, access, options, signal) =>
        openers.connectLibvirt(endpoint, access, { ...observed, ...options }, signal),
      openOvs: (remote, options, signal) => openers.openOvs(remote, { ...observed, ...options }, signal),
      openCeph: (settings) => openers.openCeph(settings, observed),
      connectBmc: (settings) => openers.createRedfishClient(settings, observed),
      readText,
    },
    files,
    add,
    host,
    get all() {
      return [...hosts.values()];
    },
    ceph,
    cephSettings: {
      dashboards: [...ceph.managers.keys()],
      ...cephLogin,
      ca: null,
      pools: [...ceph.pools.keys()],
      toleratedChecks: [],
    },
    bmcOf: (name) => ({
      url: host(name).bmcUrl,
      ...bmcLogin,
      auth: 'basic',
      ca: fakeCertificates.ca,
      system: { uuid: host(name).uuid },
    }),
  };
}
