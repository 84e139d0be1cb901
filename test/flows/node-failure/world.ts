import { watchShard, type ShardTools } from '../../../activities/hypervisor/watch-shard.ts';
import { currentScope } from '../../../activities/lib/context.ts';
import { fencingDefaults } from '../../../contracts/node-failure/fencing.ts';
import type {
  HypervisorHostActivities,
  HypervisorObjectActivities,
  HypervisorRegionActivities,
  ObservedHypervisor,
} from '../../../contracts/hypervisor/activities.ts';
import type {
  GuestWatchActivities,
  GuestWatchInput,
  GuestWatchRound,
} from '../../../contracts/node-failure/guest-watch.ts';
import {
  fencedHold,
  guestWatchId,
  hostsQueue,
  hypervisorId,
  kubernetesQueue,
  nodeFailureId,
  novaQueue,
  workflowQueue,
  workflowTypes,
} from '../../../contracts/ids.ts';
import { progressQuery, messages } from '../../../contracts/messages.ts';
import type {
  HandlingSettings,
  NodeFailureHostActivities,
  NodeFailureObjectActivities,
  NodeFailureRegionActivities,
  HypervisorOfHost,
} from '../../../contracts/node-failure/activities.ts';
import type { NodeFailureProgress } from '../../../contracts/node-failure/run.ts';
import { gateDefaults } from '../../../contracts/node-failure/node-failure.ts';
import type { PowerActivities, PowerState } from '../../../contracts/node-failure/power.ts';
import { labClock } from '../../../lab/clock.ts';
import { nodeFailureRun } from '../../../contracts/kinds/node-failure.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { signalWithStart } from '../../../runtime/temporal/signal-runs.ts';
import { startGuestWatches } from '../../../runtime/temporal/system-workflows.ts';
import type { handleNodeFailure, reconcileHypervisor, watchGuests } from '../../../workflows/index.ts';
import { until } from '../until.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import type { FailureBase, ServedActivities } from './base.ts';

/** A host, its BMC and its Nova, as a test has them; and what drover did to them, in order. */
export interface Machine {
  host: string;
  /** `Gone`: it has no Node. */
  ready: 'True' | 'False' | 'Unknown' | 'Gone';
  bootId: string;
  /** As its Hypervisor says. */
  lastBootId: string | null;
  compute: 'up' | 'down';
  forcedDown: boolean;
  mode: 'recommend' | 'automatic';
  /** Null: it has no BMC. */
  power: PowerState | null;
  /** By id, where each server is. */
  servers: Record<string, string>;
  /** Evacuations end while this is true. */
  evacuationsEnd: boolean;
  /** `NodeFailure`, or the text that a user has written. */
  hold: string | null;
  /** What is kept of that while drover holds the host. */
  keptHold: string | null;
  fencedBootId: string | null;
  condition: HypervisorOfHost['condition'];
  events: string[];
  /** `verb object` of every mutation. */
  actions: string[];
  observations: number;
  /** Nova does not answer. */
  novaSilent: boolean;
  /** Nova has no such host any more. */
  hasLeftNova: boolean;
  /** drover may fence it by itself though it has power. */
  fencesSilent: boolean;
  /** What such a host may be fenced by has been spent on others. */
  isBudgetSpent: boolean;
  /** What libvirt answers; null: it is not asked. */
  libvirt: 'healthy' | 'silent' | null;
  /** Ids of the servers with disks on the host. */
  localDisks: string[];
  /** By id of the server, the tags of its image; null: Glance could not be read. None where it is not in it. */
  imageTags: Record<string, string[] | null>;
  /** How many requests to evacuate Nova refuses before it takes one. */
  refusals: number;
  /** drover has claimed that it acts on this host. */
  isClaimed: boolean;
  /** Why its BMC refuses to power it off; null: it does not. */
  powerOffRefusal: ErrorCode | null;
  /** A user has stopped drover: no request to evacuate is made. */
  isStopped: boolean;
  /** When each request to evacuate came. */
  requestedMs: number[];
  /** What happens while one of the actions is done, or while the Hypervisor says a reason (`said Restored`). */
  meanwhile: ((what: string) => Promise<void>) | null;
  /** Its spec has changed since it was observed, so that no other is written over it. */
  isOvertaken: boolean;
}

/** Everything quick, but for what is proved by it. */
const settings: HandlingSettings = {
  region: 'RegionOne',
  judging: { failAfterMs: 400, witnessMaxAgeMs: 60_000 },
  gates: gateDefaults,
  silence: null,
  fencing: { ...fencingDefaults, powerRecheckMs: 50, holdCheckMs: 20_000, parallelism: 1, retryMs: 600 },
  observeMs: 150,
  restObserveMs: 200,
  publishMinMs: 10,
  power: { pollMs: 10, timeoutMs: 1_000 },
  evacuation: { deadlineMs: 60_000, poll: { minMs: 10, maxMs: 50 } },
};

export type FailureWorld = Awaited<ReturnType<typeof openFailureWorld>>;
/** A machine that has failed, and the run that handles it. */
export type Failing = Awaited<ReturnType<FailureWorld['fail']>>;

/** The machine reports again, of that boot. */
export const comeBack = (machine: Machine, bootId: string): void =>
  void Object.assign(machine, { ready: 'True', bootId, compute: 'up', power: 'On' });

/** Waits for so many more observations, so that whatever would be done has been done. */
export async function untilObserved(machine: Machine, times: number): Promise<void> {
  const before = machine.observations;
  await until(
    `${times} observations`,
    30_000,
    () => machine.observations - before >= times || `${machine.observations - before}`,
  );
}

/** With DROVER_SIMULATED a simulation. */
const openBase = async (queues: readonly ServedActivities[]): Promise<FailureBase> =>
  process.env['DROVER_SIMULATED'] === undefined
    ? (await import('./lab.ts')).openLabBase(queues)
    : (await import('../../simulator/worlds/node-failure-world.ts')).openSimulatedBase(queues);

/** A Temporal, drover's workflows, and machines in the place of all other systems. */
export async function openFailureWorld() {
  const machines = new Map<string, Machine>();
  /** By hypervisor, what its own run observes; and why it signalled the run of the failure. */
  const seen = new Map<string, ObservedHypervisor>();
  const causes: string[] = [];
  /** What the rounds of the guest watch come to, in order; one that is an error fails. */
  const rounds: Played[] = [];
  const real: Real = { shard: null };
  const activities = activitiesOn((host) => machines.get(host)!, { seen, causes, rounds, real });
  const base = await openBase([
    { taskQueue: hostsQueue(''), activities: activities.hosts },
    { taskQueue: kubernetesQueue(''), activities: activities.kubernetes },
    { taskQueue: novaQueue(settings.region, ''), activities: activities.nova },
  ]);
  const { client } = base;
  const place = (host: string, change: Partial<Machine>): Machine => {
    const machine: Machine = {
      host,
      ready: 'Unknown',
      bootId: 'boot-1',
      lastBootId: 'boot-1',
      compute: 'down',
      forcedDown: false,
      mode: 'automatic',
      power: 'Off',
      servers: { a: host, b: host, c: host },
      evacuationsEnd: true,
      hold: null,
      keptHold: null,
      fencedBootId: null,
      condition: null,
      events: [],
      actions: [],
      observations: 0,
      novaSilent: false,
      hasLeftNova: false,
      fencesSilent: false,
      isBudgetSpent: false,
      libvirt: null,
      localDisks: [],
      imageTags: {},
      refusals: 0,
      isClaimed: false,
      powerOffRefusal: null,
      isStopped: false,
      requestedMs: [],
      meanwhile: null,
      isOvertaken: false,
      ...change,
    };
    machines.set(host, machine);
    return machine;
  };
  return {
    client,
    /**
     * A machine that has just fallen silent, and the run that handles it.
     *
     * @param guests what the guest watch signals, and starts the run with
     */
    async fail(host: string, change: Partial<Machine> = {}, guests: string | null = null) {
      const machine = place(host, change);
      const start = {
        workflowId: nodeFailureId(host),
        taskQueue: workflowQueue(''),
        args: [{ hypervisor: host }] as [{ hypervisor: string }],
      };
      const handle =
        guests === null
          ? await client.workflow.start<typeof handleNodeFailure>(workflowTypes.handleNodeFailure, start)
          : await client.workflow.signalWithStart<typeof handleNodeFailure, [{ message: string }]>(
              workflowTypes.handleNodeFailure,
              { ...start, signal: messages.guestsFailing, signalArgs: [{ message: guests }] },
            );
      return {
        machine,
        handle,
        progress: () => handle.query(progressQuery<NodeFailureProgress>()),
        confirm: async (change: object = {}): Promise<string> => {
          const { incident, bootId } = await handle.query(progressQuery<NodeFailureProgress>());
          return handle.executeUpdate<string, [object]>(messages.confirmOff, {
            args: [{ incident, bootId, person: 'jane', ...change }],
          });
        },
        /** Fails where the history does not lead to the same commands again. */
        replay: () => base.replay(handle),
      };
    },
    causes,
    rounds,
    /** A machine that no run handles yet. */
    place,
    /** Has libvirts watched in earnest, as a worker does. */
    async listenTo(tools: Omit<ShardTools, 'scope' | 'signalGuestsFailing'>) {
      real.shard = {
        ...tools,
        signalGuestsFailing: async (hypervisor, message) =>
          void (await signalWithStart(
            client,
            nodeFailureRun,
            { subject: hypervisor, cluster: '', message: messages.guestsFailing, signal: { message } },
            { clock: tools.clock },
          )),
      };
      await startGuestWatches(client, { shards: 1, cluster: '' }, { clock: tools.clock });
      return client.workflow.getHandle(guestWatchId(0));
    },
    /** From now on the rounds are played again. */
    unlisten: (): void => void (real.shard = null),
    /** The run of a host's failure. */
    failureOf: (host: string) => client.workflow.getHandle<typeof handleNodeFailure>(nodeFailureId(host)),
    /** The system workflow that watches the guests of one shard. */
    async listen(shard: number, input: object = { shard }) {
      const handle = await client.workflow.start<typeof watchGuests>(workflowTypes.watchGuests, {
        workflowId: guestWatchId(shard),
        taskQueue: workflowQueue(''),
        args: [input as GuestWatchInput],
      });
      return { handle, replay: () => base.replay(handle) };
    },
    /** The result of the run that drives a hypervisor, while it is like that. */
    drive(hypervisor: string, observed: ObservedHypervisor) {
      seen.set(hypervisor, observed);
      return client.workflow.execute<typeof reconcileHypervisor>(workflowTypes.reconcileHypervisor, {
        workflowId: hypervisorId(hypervisor),
        taskQueue: workflowQueue(''),
        args: [{ hypervisor }],
      });
    },
    async close(): Promise<void> {
      for (const machine of machines.values()) machine.evacuationsEnd = true;
      await base.close();
    },
  };
}

/** What a round of the guest watch comes to. */
type Played = GuestWatchRound | Error | (() => Promise<GuestWatchRound>);

/** What is not played. */
interface Real {
  shard: Omit<ShardTools, 'scope'> | null;
}

function activitiesOn(
  find: (host: string) => Machine,
  {
    seen,
    causes,
    rounds,
    real,
  }: { seen: ReadonlyMap<string, ObservedHypervisor>; causes: string[]; rounds: Played[]; real: Real },
) {
  const hosts: NodeFailureHostActivities &
    GuestWatchActivities &
    PowerActivities &
    Pick<HypervisorHostActivities, 'observeHypervisor'> = {
    observeHypervisor: ({ hypervisor }) => Promise.resolve(seen.get(hypervisor)!),
    async observeNodeFailure({ hypervisor }) {
      const machine = find(hypervisor);
      machine.observations += 1;
      const { host, ready, bootId, lastBootId, compute, forcedDown, mode, power, fencedBootId, libvirt } = machine;
      const { hold, keptHold } = machine;
      const { novaSilent, hasLeftNova, fencesSilent } = machine;
      const isKnown = !novaSilent && !hasLeftNova;
      const service = {
        status: forcedDown ? 'disabled' : 'enabled',
        state: forcedDown ? 'down' : compute,
        disabledReason: null,
        forcedDown,
      } as const;
      const fleet = {
        host,
        failureDomain: null,
        apis: [{ name: 'Nova', reachable: !novaSilent }],
        schedulerUp: true,
        hosts: 10,
        suspects: [],
        lastFencingMs: null,
        silentFencings: [],
        aggregates: [],
      };
      return {
        kind: 'observed',
        settings: { ...settings, silence: fencesSilent ? { quorum: 3, afterMs: 600, mostPerHour: 1 } : null },
        observed: {
          hypervisor: {
            name: host,
            uid: 'uid',
            generation: 1,
            hold: hold?.split(':')[0] ?? null,
            userHold: hold === fencedHold ? keptHold : hold,
            fencedBootId,
            lastBootId,
            maintenance: '',
            condition: machine.condition,
          },
          mode,
          node: { ready, bootId: ready === 'Gone' ? null : bootId },
          compute: isKnown ? { state: service.state } : null,
          nova: isKnown ? { host, service } : null,
          hasLeftNova,
          libvirt: libvirt === null ? null : { verdict: libvirt, message: `it is ${libvirt}` },
          power,
          witnesses: [],
          problems: novaSilent ? ['Nova does not answer'] : [],
          fleet,
        },
      };
    },
    async watchGuests(request) {
      if (real.shard !== null) return watchShard({ ...real.shard, scope: currentScope(real.shard.clock) }, request);
      const round = rounds.shift() ?? { wanted: false, hosts: 0, connected: 0, left: 0, signalled: 0, withheld: 0 };
      if (round instanceof Error) throw round;
      return typeof round === 'function' ? await round() : round;
    },
    async signalNodeFailure({ cause }) {
      causes.push(cause);
    },
    observePower: ({ host }) => Promise.resolve({ host, power: find(host).power ?? 'Unknown', atMs: labClock().now() }),
    async ensurePoweredOff({ host, recheckMs }) {
      const machine = find(host);
      machine.actions.push('powerOff');
      if (machine.powerOffRefusal !== null) throw droverFailure(machine.powerOffRefusal, 'the test');
      machine.power = 'Off';
      // A worker's clock may be an hour wrong.
      const firstOffMs = labClock().now() + 3_600_000;
      return {
        host,
        systemPath: '/redfish/v1/Systems/1',
        systemUuid: null,
        firstOffMs,
        secondOffMs: firstOffMs + recheckMs,
        asked: true,
      };
    },
  };
  const kubernetes: NodeFailureObjectActivities &
    Pick<HypervisorObjectActivities, 'patchHypervisor' | 'publishHypervisor'> = {
    async claimFencing({ host, budget }) {
      const machine = find(host);
      await machine.meanwhile?.('claim');
      if (budget !== null && machine.isBudgetSpent) return { granted: false, reason: 'BudgetSpent', host: 'another' };
      machine.isClaimed = true;
      return { granted: true, atMs: 1, before: null };
    },
    async giveUpFencing({ host }) {
      find(host).isClaimed = false;
    },
    async adviseEviction({ name }) {
      find(name).actions.push('advise');
    },
    async withdrawAdvice({ name }) {
      find(name).actions.push('withdraw advice');
    },
    async recordHypervisorEvent({ name, reason, message }) {
      find(name).events.push(`${reason}: ${message}`);
    },
    async patchHypervisor({ name, patches }) {
      const machine = find(name);
      if (machine.isOvertaken && patches.some(({ spec }) => spec !== undefined)) return false;
      for (const { annotations = {}, spec } of patches) {
        const hold = annotations['drover.dev/hold'];
        if (hold !== undefined) machine.hold = hold?.startsWith(`${fencedHold}:`) === true ? fencedHold : hold;
        const kept = annotations['drover.dev/user-hold'];
        if (kept !== undefined) machine.keptHold = kept;
        const bootId = annotations['drover.dev/fenced-boot-id'];
        if (bootId !== undefined) machine.fencedBootId = bootId;
        if (spec?.maintenance !== undefined) machine.actions.push(`maintenance ${spec.maintenance}`);
      }
      return true;
    },
    async publishHypervisor({ name, status }) {
      const condition = status.conditions.find(({ type }) => type === 'NodeFailure');
      // What else a run says is its own.
      if (condition === undefined) return;
      find(name).condition = condition;
      await find(name).meanwhile?.(`said ${condition.reason}`);
    },
  };
  const nova: NodeFailureRegionActivities & Pick<HypervisorRegionActivities, 'ensureServiceDisabled'> = {
    async ensureServiceDisabled({ host, reason }) {
      find(host).actions.push('disable');
      return { status: 'disabled', state: 'down', disabledReason: reason, forcedDown: false };
    },
    async ensureForcedDown({ host, forcedDown, proof }) {
      const machine = find(host);
      const action = `${forcedDown ? 'forceDown' : 'forceUp'} by ${proof.by}`;
      machine.actions.push(action);
      machine.forcedDown = forcedDown;
      await machine.meanwhile?.(action);
      return { status: 'disabled', state: 'down', disabledReason: null, forcedDown };
    },
    listEvacuationCandidates: ({ host }) =>
      Promise.resolve(
        Object.keys(find(host).servers).map((id) => ({
          id,
          name: `vm-${id}`,
          vmState: 'active',
          memoryMiB: 512,
          localDiskGiB: find(host).localDisks.includes(id) ? 5 : 0,
          metadata: {},
          imageId: null,
          imageTags: find(host).imageTags[id] === undefined ? [] : (find(host).imageTags[id] ?? null),
          serverGroups: [],
        })),
      ),
    async startEvacuation({ instanceId, sourceHost }) {
      const machine = find(sourceHost);
      if (machine.isStopped) {
        machine.actions.push('stopped');
        throw droverFailure('Stopped', 'Everything was stopped by jane');
      }
      machine.actions.push(`evacuate ${instanceId}`);
      machine.requestedMs.push(labClock().now());
      machine.refusals -= 1;
      if (machine.refusals >= 0) return { outcome: 'refused', message: 'no host has room for it' };
      return { outcome: 'started', migration: { ...migration, instanceId, sourceHost } };
    },
    async awaitEvacuation({ instanceId, sourceHost }) {
      // A test may have put another machine in its place.
      while (!find(sourceHost).evacuationsEnd) await labClock().sleep(20);
      find(sourceHost).servers[instanceId] = 'elsewhere';
      const instance = {
        id: instanceId,
        name: `vm-${instanceId}`,
        status: 'ACTIVE',
        taskState: null,
        vmState: 'active',
        host: 'elsewhere',
        locked: false,
        memoryMiB: 512,
        vcpus: 1,
        localDiskGiB: 0,
        serverGroups: [],
        fault: null,
      };
      return {
        status: 'done',
        stuck: null,
        targetHost: 'elsewhere',
        observation: { instance, migration: null },
        message: null,
      };
    },
  };
  return { hosts, kubernetes, nova };
}

const migration = {
  id: 1,
  type: 'evacuation',
  status: 'accepted',
  targetHost: null,
  memoryTotalBytes: null,
  memoryRemainingBytes: null,
  diskTotalBytes: null,
  diskRemainingBytes: null,
  createdAt: '2026-01-01T00:00:00Z',
};
