import { withKubernetes } from '../../lab/kubernetes-objects.ts';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { Migration } from '../../contracts/crds/migration.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import { evictionId, migrationId } from '../../contracts/ids.ts';
import { progressQuery } from '../../contracts/messages.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import type { Drover } from '../../lab/drover.ts';
import { startDrover } from '../../lab/drover.ts';
import type { AgentReport } from '../../lab/hypervisors.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { kubectl, run } from '../../lab/kubectl.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import type { Lab } from '../../lab/lab.ts';
import { startLab } from '../../lab/lab.ts';
import { labClock } from '../../lab/clock.ts';
import { connectFleet } from '../../lab/openstack/fleet.ts';
import type { HostProfile } from '../../lab/openstack/host-profile.ts';
import { changeService, findService, listServices } from '../../lab/openstack/hosts.ts';
import type { ApiCall } from '../../lab/openstack/journal.ts';
import { readApiCalls } from '../../lab/openstack/journal.ts';
import { resetOpenStack } from '../../lab/openstack/reset.ts';
import type { InstanceSpec, Server } from '../../lab/openstack/seed.ts';
import { createInstances, deleteInstances, listServers } from '../../lab/openstack/seed.ts';
import type { Session } from '../../lab/openstack/session.ts';
import { openSession } from '../../lab/openstack/session.ts';
import { stopServices } from '../../lab/processes.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { countCalls } from '../budgets/cost.ts';
import type { CheckedHost } from './checked-host.ts';
import { openLabHost } from './checked-host.ts';
import { clearLeftovers, endRuns, listEvictions, releaseAllocations, removeEviction } from './clear-leftovers.ts';
import { evictionsIn } from './eviction-log.ts';
import type { BridgeHealth, Expected, OwnChange, WorldBase, WorldOptions } from './world-base.ts';
import { hosts, quickSettings, sinkProfile } from './world-base.ts';
import { openObjectLog } from './object-log.ts';
import { withSecret, writeOwnCloud } from './own-cloud.ts';
import { until } from './until.ts';

/** A lab with drover at work in it, and what a test does to both. */
export type World = ReturnType<typeof composeWorld>;

/**
 * A lab with drover at work in it; with DROVER_SIMULATED a simulation, in which nothing is real but drover's own code.
 */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  if (process.env['DROVER_SIMULATED'] === undefined) return composeWorld(await openLabBase(options));
  const { openSimulatedBase } = await import('../simulator/worlds/flow-world.ts');
  return composeWorld(await openSimulatedBase(options));
}

/** Attaches to the lab that DROVER_LAB names, or starts one for this file; starts drover's worker and bridge on it. */
async function openLabBase({
  settings = quickSettings,
  bridge = true,
  sinks = ['node-5', 'node-6'],
  cloud = 'lab',
  env: extra = {},
  ownLab = false,
}: WorldOptions): Promise<WorldBase> {
  const shared = ownLab ? undefined : process.env['DROVER_LAB'];
  const ownDir = shared === undefined ? mkdtempSync(join(tmpdir(), 'drover-flow-')) : null;
  const lab = await startLab({ dir: shared ?? join(ownDir ?? '', 'lab') });
  const { openstack, kubernetes } = lab.handles;
  // One place in the lab, so that the processes of a run that was aborted are found and stopped.
  const dir = join(lab.dir, 'flow');
  await stopServices(dir);
  rmSync(dir, { recursive: true, force: true });

  const client = openClient(readTemporalSettings({ ...lab.exports, ...extra }));
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  const fleet = connectFleet(openstack);
  await clearLeftovers(client, api);
  const [session] = await Promise.all([
    openSession(openstack),
    resetOpenStack(openstack),
    withKubernetes(kubernetes, (api) => applyHypervisors(api, Object.fromEntries(hosts.map((host) => [host, {}])))),
    ensureNamespace(lab),
  ]);
  const [ownChanges] = await Promise.all([setAsideOthers(session), releaseAllocations(session)]);
  for (const sink of sinks) await fleet.change(sink, sinkProfile);
  const sinceMs = labClock().now();
  const start = ({ secret, ...options }: Omit<WorldOptions, 'sinks'> = {}): Promise<Drover> => {
    const ownCloud = secret === undefined ? {} : writeOwnCloud(openstack, dir, withSecret(secret));
    return startDrover(
      { ...lab, exports: { ...lab.exports, ...extra, ...ownCloud, ...options.env } },
      { dir, settings: options.settings ?? settings, bridge: options.bridge ?? bridge, cloud: options.cloud ?? cloud },
    );
  };
  let drover = await start().catch(async (error: unknown) => {
    await Promise.allSettled([client.connection.close(), api.close(), ...(ownDir === null ? [] : [lab.stop()])]);
    throw error;
  });
  const objectLog = await openObjectLog(api);
  const evictions = evictionsIn(objectLog);

  const env = (): Record<string, string> => ({
    DROVER_USER: 'flow-test',
    ...drover.env,
    KUBECONFIG: kubernetes.kubeconfig,
  });
  return {
    lab,
    client,
    session,
    fleet,
    api,
    objectLog,
    evictions,
    sinceMs,
    dir,
    sinks,
    ownChanges,
    drover: () => drover,
    async replaceDrover(options) {
      await drover.stop();
      drover = await start(options);
    },
    novaCalls: (fromMs) => readApiCalls(openstack, 'nova', fromMs),
    callsByRun: () => countCalls(readFileSync(join(drover.dir, 'log', 'worker.log'), 'utf8')),
    kubectl: (args, input) => kubectl(kubernetes, args, input),
    command: (args) =>
      run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], { env: env(), limitMs: 180_000 }),
    tool: (program, args) => run(join(lab.dir, 'bin', program), args, { env: env(), limitMs: 60_000 }),
    bridgeHealth: () => readBridgeHealth(drover),
    openCheckedHost: (host) => openLabHost(host, openstack),
    async close() {
      await objectLog.close();
      await endRuns(client);
      await drover.stop();
      await client.connection.close();
      await api.close();
      if (ownDir === null) return;
      await lab.stop();
      rmSync(ownDir, { recursive: true, force: true });
    },
  };
}

function composeWorld(base: WorldBase) {
  const { lab, client, session, fleet, api, objectLog, evictions, sinceMs, dir, sinks, ownChanges } = base;
  const free = hosts.filter((host) => !sinks.includes(host)) as string[];
  const waiting: ((host: string) => void)[] = [];
  const expected = new Map<string, Expected>();
  const planted: { name: string; value: string }[] = [];
  const outputs: { where: string; text: string }[] = [];
  const expect = (servers: readonly Server[]): Server[] => {
    for (const { id, name, status, 'OS-EXT-SRV-ATTR:host': host } of servers)
      expected.set(id, { id, name, status, host: host ?? '' });
    return [...servers];
  };
  const seed = async (specs: readonly InstanceSpec[]): Promise<Server[]> =>
    expect(await createInstances(session, specs));
  const get = async <Kind>(path: string): Promise<Kind | null> => {
    try {
      return (await api.request({ method: 'GET', path }, AbortSignal.timeout(10_000))) as Kind;
    } catch (error) {
      if (isFailure(error, 'ObjectNotFound')) return null;
      throw error;
    }
  };
  const getEviction = (name: string): Promise<Eviction | null> =>
    get<Eviction>(resourcePath('kvm.cloud.sap/v1', 'evictions', { name }));
  /**
   * A source host as a new lab has it: enabled, running, without servers, without Evictions and runs of earlier tests.
   */
  const freshHost = async (host: string, profile: Partial<HostProfile> = {}): Promise<string> => {
    await endRuns(client, `DroverHost="${host}"`);
    for (const { metadata, spec } of await listEvictions(api))
      if (spec.hypervisor === host) await removeEviction(api, metadata.name);
    const left = (await listServers(session, host)).map(({ id }) => id);
    for (const id of left) expected.delete(id);
    if (left.length > 0) await deleteInstances(session, left);
    await releaseAllocations(session, host);
    await fleet.change(host, { migrate: 'ok', seconds: 0.5, maxConcurrentLiveMigrations: 8, ...profile });
    if ((await findService(session, host)).status === 'disabled') {
      // From when it is asked: Nova may take its time to answer, and sends servers there meanwhile. And again from the
      // answer on: what drover wrote down late of an earlier disable may come between.
      const enabled = (): number => ownChanges.push({ host, atMs: labClock().now(), enabled: true, reason: null });
      enabled();
      await changeService(session, host, { status: 'enabled' });
      enabled();
    }
    return host;
  };
  const runOf = (host: string, runId?: string) => client.workflow.getHandle(evictionId(host), runId);

  return {
    lab,
    get drover(): Drover {
      return base.drover();
    },
    client,
    session,
    fleet,
    /** kube-apiserver, as the administrator. */
    api,
    /** When this world was opened; what happened before is not its concern. */
    sinceMs,
    dir,
    objectLog,
    evictions,
    expected,
    ownChanges,
    /** Secrets of this test, for the invariants: nothing may show them. */
    planted,
    /** What `drover` printed, for the invariants. */
    outputs,
    /** Stops drover and starts it otherwise: other settings, another cloud, other variables. */
    replaceDrover: (options: Omit<WorldOptions, 'sinks'>): Promise<void> => base.replaceDrover(options),

    // OpenStack
    freshHost,
    /**
     * Gives `use` a fresh source host of its own, as soon as one is free: how the tests of a file run
     * beside each other.
     */
    async onFreshHost(use: (host: string) => Promise<void>, profile: Partial<HostProfile> = {}): Promise<void> {
      const host = free.shift() ?? (await new Promise<string>((resolve) => waiting.push(resolve)));
      try {
        await use(await freshHost(host, profile));
      } finally {
        const next = waiting.shift();
        if (next === undefined) free.push(host);
        else next(host);
      }
    },
    seed,
    /** `count` servers on a host, named after it. */
    seedMany: (host: string, count: number, spec: Partial<InstanceSpec> = {}): Promise<Server[]> =>
      seed(Array.from({ length: count }, (_, index) => ({ name: `${host}-vm-${index + 1}`, host, ...spec }))),
    /** Declares to the invariants how a test leaves a server; null: it deletes it. */
    expectServer(id: string, status: string | null): void {
      expected.set(id, { name: id, host: '', ...expected.get(id), id, status });
    },
    async disableService(host: string, reason: string): Promise<void> {
      await changeService(session, host, { status: 'disabled', disabled_reason: reason });
      ownChanges.push({ host, atMs: labClock().now(), enabled: false, reason });
    },
    async enableService(host: string): Promise<void> {
      // From when it is asked: Nova may take its time to answer, and sends servers there meanwhile. And again from the
      // answer on: what drover wrote down late of an earlier disable may come between.
      const enabled = (): number => ownChanges.push({ host, atMs: labClock().now(), enabled: true, reason: null });
      enabled();
      await changeService(session, host, { status: 'enabled' });
      enabled();
    },
    service: (host: string) => findService(session, host),
    serversOn: (host: string): Promise<Server[]> => listServers(session, host),
    reportAgents: (reports: Readonly<Record<string, AgentReport>>) => applyHypervisors(api, reports),
    /** What drover asked Nova to change since then, of the given servers and hosts' services; of all without. */
    async mutations(
      fromMs: number,
      concerning?: { servers?: readonly Server[]; hosts?: readonly string[] },
    ): Promise<ApiCall[]> {
      const ids = concerning === undefined ? null : (concerning.servers ?? []).map(({ id }) => id);
      if (ids !== null) for (const host of concerning?.hosts ?? []) ids.push((await findService(session, host)).id);
      const mine = base.novaCalls(fromMs).filter(({ method, userAgent }) => method !== 'GET' && userAgent === 'drover');
      return ids === null ? mine : mine.filter(({ path }) => ids.some((id) => path.includes(id)));
    },

    callsByRun: () => base.callsByRun(),

    // As a user would
    /** The real kubectl, as the administrator. @throws with its output when it fails */
    kubectl: (args: readonly string[], input?: string): Promise<string> => base.kubectl(args, input),
    /** Runs `drover` as a user would. */
    async command(...args: string[]): Promise<CommandEnd> {
      const end = await base.command(args);
      outputs.push({ where: `the output of drover ${args.join(' ')}`, text: end.stdout + end.stderr });
      return end;
    },
    /** Runs the real `tctl` or `temporal`. */
    tool: (program: 'tctl' | 'temporal', ...args: string[]): Promise<CommandEnd> => base.tool(program, args),

    // Kubernetes
    createEviction: (
      host: string,
      more: { name?: string; reason?: string; annotations?: Record<string, string> } = {},
    ): Promise<string> => base.kubectl(['create', '-f', '-'], JSON.stringify(evictionOf(host, more))),
    annotate: (name: string, annotations: Record<string, string | null>): Promise<unknown> =>
      api.request(
        {
          method: 'PATCH',
          patchType: 'merge',
          path: resourcePath('kvm.cloud.sap/v1', 'evictions', { name }),
          body: { metadata: { annotations } },
        },
        AbortSignal.timeout(10_000),
      ),
    getEviction,
    getHypervisor: (name: string): Promise<Hypervisor | null> =>
      get<Hypervisor>(resourcePath('kvm.cloud.sap/v1', 'hypervisors', { name })),
    getMigration: (serverId: string): Promise<Migration | null> =>
      get<Migration>(resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', { namespace: 'monsoon3', name: serverId })),
    /** `reason: note` of the events about the last Eviction of that name, oldest first. */
    async eventsOf(name: string): Promise<string[]> {
      const uid = evictions.of(name).at(-1)?.metadata.uid;
      const found = await get<{
        items: { regarding: { uid?: string }; reason: string; note: string; eventTime: string }[];
      }>(resourcePath('events.k8s.io/v1', 'events'));
      const mine = (found?.items ?? []).filter(({ regarding }) => regarding.uid === uid);
      return mine
        .sort((a, b) => a.eventTime.localeCompare(b.eventTime))
        .map(({ reason, note }) => `${reason}: ${note}`);
    },
    /** Waits until the Eviction's condition has the reason, and a message like that, and returns the Eviction. */
    untilReason: (
      name: string,
      reason: string,
      {
        type = 'Evicting',
        says = /(?:)/u,
        deadlineMs = 150_000,
      }: { type?: string; says?: RegExp; deadlineMs?: number } = {},
    ): Promise<Eviction> =>
      until(`Eviction ${name} to be ${type}/${reason}`, deadlineMs, () => {
        const eviction = evictions.latest(name);
        const found = eviction === null ? undefined : findCondition(eviction.status?.conditions, type);
        return eviction !== null && found?.reason === reason && says.test(found.message)
          ? eviction
          : `${found?.reason ?? 'no condition'}: ${found?.message ?? ''}`;
      }),
    /** Waits until the Eviction is no more. */
    untilGone: (name: string, deadlineMs = 120_000): Promise<true> =>
      until<true>(`Eviction ${name} to be gone`, deadlineMs, () =>
        evictions.latest(name) === null
          ? true
          : `it is there, with ${JSON.stringify(evictions.latest(name)?.metadata.finalizers)}`,
      ),

    // Temporal
    progress: (host: string): Promise<EvictionProgress> => runOf(host).query(progressQuery<EvictionProgress>()),
    describeRun: (host: string, runId?: string) => runOf(host, runId).describe(),
    /**
     * Waits until the last run under the host's id is closed, and returns how: COMPLETED,
     * FAILED, CANCELLED, TERMINATED.
     */
    untilClosed: (host: string, deadlineMs = 120_000): Promise<{ status: string; runId: string }> =>
      until(`run ${evictionId(host)} to be closed`, deadlineMs, async () => {
        const { status, runId } = await runOf(host).describe();
        return status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW'
          ? `it is ${status.name}`
          : { status: status.name, runId };
      }),
    /** Waits until as many servers of the host are on their way, by the run's own account. */
    untilMoving: (host: string, count = 1, deadlineMs = 120_000): Promise<EvictionProgress> =>
      until(`${count} servers of ${host} to be moving`, deadlineMs, async () => {
        const progress = await runOf(host).query(progressQuery<EvictionProgress>());
        return progress.counts.moving >= count ? progress : `${progress.phase}: ${JSON.stringify(progress.counts)}`;
      }),
    /** Whether a run moves this server now. */
    isMoving: async (serverId: string): Promise<boolean> =>
      (await client.workflow.getHandle(migrationId(serverId)).describe()).status.name === 'RUNNING',

    /** Waits until the bridge has compared unsettled objects with open runs so many times more. */
    async untilResynced(times = 2): Promise<void> {
      const { resyncs: before } = await base.bridgeHealth();
      await until(`${times} resyncs of the bridge`, 60_000, async () => {
        const resyncs = (await base.bridgeHealth()).resyncs - before;
        return resyncs >= times ? true : `${resyncs}`;
      });
    },
    bridgeHealth: () => base.bridgeHealth(),
    openCheckedHost: (host: string): Promise<CheckedHost> => base.openCheckedHost(host),

    /** The snapshot for the invariants of a world that is no lab's. */
    readSnapshot:
      base.readSnapshot === undefined
        ? undefined
        : (concerned: readonly string[] | null) => base.readSnapshot?.({ expected, hosts: concerned }),

    /** Stops drover, and a lab of its own. The invariants are the caller's to check before. */
    close: (): Promise<void> => base.close(),
  };
}

/**
 * Hosts that an earlier test added stay in the lab; in service, they would be targets that this test does not count on.
 */
async function setAsideOthers(session: Session): Promise<OwnChange[]> {
  const reason = 'not of this test';
  const others = (await listServices(session))
    .map(({ host }) => host)
    .filter((host) => !(hosts as readonly string[]).includes(host));
  for (const host of others) await changeService(session, host, { status: 'disabled', disabled_reason: reason });
  return others.map((host) => ({ host, atMs: labClock().now(), enabled: false, reason }));
}

const evictionOf = (
  host: string,
  {
    name = host,
    reason = 'flow test',
    annotations = {},
  }: { name?: string; reason?: string; annotations?: Record<string, string> },
): object => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: { name, annotations },
  spec: { hypervisor: host, reason },
});

/** Where Migration objects live; `kubectl apply` may run twice. */
const ensureNamespace = ({ handles }: Lab): Promise<string> =>
  kubectl(
    handles.kubernetes,
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } }),
  );

/** What the bridge says of itself on /readyz. */
async function readBridgeHealth({ dir }: Drover): Promise<BridgeHealth> {
  const { bridge } = parse(readFileSync(join(dir, 'drover.yaml'), 'utf8')) as { bridge: { healthAddress: string } };
  return (await (
    await fetch(`http://${bridge.healthAddress}/readyz`, { signal: AbortSignal.timeout(5_000) })
  ).json()) as BridgeHealth;
}

export type { Drover };
