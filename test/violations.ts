import type { Eviction } from '../contracts/crds/eviction.ts';
import type { Migration } from '../contracts/crds/migration.ts';
import type { VirtualMachine } from '../contracts/crds/virtual-machine.ts';
import { findCondition } from '../contracts/conditions.ts';
import { disabledReasonPrefix, evictionFinalizer, labels, workflowTypes } from '../contracts/ids.ts';
import { settled } from '../contracts/settled.ts';
import { virtualMachineConditions } from '../contracts/virtual-machine-conditions.ts';
import { virtualMachineAnnotations, virtualMachineFinalizers } from '../contracts/virtual-machine-marks.ts';

/**
 * docs/invariants.md as code: pure checks over a snapshot of the world, one function per row of that table. Each violation names the
 * object and the evidence. `read-world.ts` takes the snapshot, `invariants.ts` brings both together.
 */

/** Everything the checks look at. Plain data; times are milliseconds since the epoch. */
export interface Snapshot {
  /** When it was taken. */
  atMs: number;
  /** Only these source hosts are looked at; null: all. */
  hosts: readonly string[] | null;
  runs: readonly RunFacts[];
  /** As the tests seeded them. */
  expectedServers: readonly { id: string; name: string; /** Where it was seeded. */ host: string; /** Null: deleted by a test. */ status: string | null }[];
  servers: readonly { id: string; name: string; status: string; taskState: string | null; host: string | null }[];
  /** By compute host: the guests that its machine holds, whatever Nova thinks. */
  guests: Readonly<Record<string, number>>;
  services: readonly { host: string; status: 'enabled' | 'disabled'; disabledReason: string | null }[];
  /** By compute host: consumers with allocations in Placement; read for hosts whose Eviction has succeeded. */
  allocations: Readonly<Record<string, readonly string[]>>;
  /** What became of every migration, in order. */
  migrationEvents: readonly MigrationFact[];
  /** Who enabled and disabled compute services, in order, as Nova was asked: whoever did it may have died before it could say so. */
  servicesAsked: readonly { host: string; atMs: number; enabled: boolean; byDrover: boolean }[];
  /** Who enabled and disabled compute services, in order, as they say themselves. */
  serviceChanges: readonly { host: string; atMs: number; enabled: boolean; by: 'drover' | 'test'; reason: string | null }[];
  /** What drover did about failed hosts, in order; `cause` of its audit log. */
  fencings: readonly { did: 'forcedDown' | 'forcedUp' | 'evacuated'; host: string; object: string; cause: string }[];
  evictions: readonly Eviction[];
  /** What kube-apiserver told of Evictions, in order. */
  evictionEvents: readonly { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Eviction }[];
  migrations: readonly Migration[];
  virtualMachines: readonly VirtualMachine[];
  /** The VMs that have drover's mark, wherever they are, as another client of the vCenter sees them. */
  vms: readonly MarkedVm[];
  /** VMs and disks that are none of drover's; null: gone. */
  strangers: readonly { what: string; before: string; after: string | null }[];
  /** Never to be shown. */
  secrets: readonly { name: string; value: string }[];
  /** Everything people or machines may read: histories, logs, statuses, audit lines, process arguments. */
  texts: readonly { where: string; text: string }[];
}

export interface RunFacts {
  workflowId: string;
  runId: string;
  type: string;
  status: string;
  events: number;
  startedAtMs: number;
  /** Null while it is open. */
  closedAtMs: number | null;
  /** Attempts of a migration, children of an eviction. */
  moves: number;
}

/** The mark is what stands in its ExtraConfig. */
export interface MarkedVm {
  id: string;
  name: string;
  /** vim25's. */
  powerState: string;
  namespacedName: string | null;
  uid: string | null;
  extraConfig: Readonly<Record<string, string>>;
}

export interface MigrationFact {
  atMs: number;
  id: number;
  instanceId: string;
  status: string;
  sourceHost: string;
  targetHost: string | null;
}

/** `invariant 3: server x … (evidence)`; empty when all holds. */
export const violations = (world: Snapshot): string[] =>
  checks.flatMap((check, index) => check(world).map((violation) => `invariant ${index + 1}: ${violation}`));

type Check = (world: Snapshot) => string[];

const concerns = ({ hosts }: Snapshot, host: string): boolean => hosts === null || hosts.includes(host);
const evictionsOf = (world: Snapshot): Eviction[] => world.evictions.filter(({ spec }) => concerns(world, spec.hypervisor));
const evicting = (eviction: Eviction) => findCondition(eviction.status?.conditions, 'Evicting');

/** 1: at most one run is open per object. */
const oneRunPerObject: Check = ({ runs }) => {
  const open = runs.filter(({ closedAtMs }) => closedAtMs === null);
  const perId = Map.groupBy(open, ({ workflowId }) => workflowId);
  const doubled = [...perId].filter(([, those]) => those.length > 1).map(([id, those]) => `${id} has ${those.length} open runs: ${those.map(({ runId }) => runId).join(', ')}`);
  const prefixes: Record<string, string> = { [workflowTypes.migrateInstance]: 'migration/' };
  const astray = open.filter(({ type, workflowId }) => !workflowId.includes(prefixes[type] ?? '')).map(({ type, workflowId }) => `${type} runs as ${workflowId}, so that nothing keeps it single`);
  return [...doubled, ...astray];
};

/** 2: no server is on two hosts or on none, none is lost, each is as it was. */
const everyServerOnce: Check = (world) => {
  const { expectedServers, servers, guests, migrationEvents } = world;
  const found: string[] = [];
  for (const { id, name, host, status } of expectedServers) {
    if (!concerns(world, host)) continue;
    const those = servers.filter((server) => server.id === id);
    const [server] = those;
    if (status === null) continue;
    if (server === undefined) found.push(`server ${name} (${id}) is lost: Nova does not know it`);
    else if (server.host === null) found.push(`server ${name} (${id}) is on no host, in ${server.status}`);
    else if (server.taskState === null && server.status !== status) found.push(`server ${name} (${id}) is ${server.status} and was ${status}`);
  }
  // A machine has more while a migration arrives, and a cold one keeps the source's copy until it is confirmed.
  const inMotion = new Set(inProgress(migrationEvents).flatMap(({ sourceHost, targetHost }) => [sourceHost, targetHost]));
  for (const [host, count] of Object.entries(guests)) {
    const known = servers.filter((server) => server.host === host);
    if (inMotion.has(host) || !concerns(world, host) || known.some(({ taskState, status }) => taskState !== null || status === 'ERROR')) continue;
    if (count > known.length) found.push(`host ${host} holds ${count} guests, and Nova knows ${known.length} there: a server is on two hosts`);
  }
  return found;
};

const ended = new Set(['completed', 'confirmed', 'reverted', 'error', 'failed', 'cancelled', 'done']);

const inProgress = (events: readonly MigrationFact[]): MigrationFact[] => {
  const last = new Map(events.map((event) => [event.id, event]));
  return [...last.values()].filter(({ status }) => !ended.has(status));
};

/** 3: no server is moved twice by one eviction, unless it came back in between. */
const movedOnce: Check = (world) => {
  const found: string[] = [];
  const evicted = new Set([...world.evictions, ...world.evictionEvents.map(({ object }) => object)].map(({ spec }) => spec.hypervisor));
  for (const { metadata, spec, sinceMs, untilMs } of spans(world)) {
    const here = world.migrationEvents.filter(({ atMs, status }) => (status === 'completed' || status === 'confirmed') && atMs >= sinceMs && atMs < untilMs);
    for (const [instanceId, those] of Map.groupBy(here, (event) => event.instanceId)) {
      const away = [...new Set(those.filter(({ sourceHost }) => sourceHost === spec.hypervisor).map(({ id }) => id))];
      const back = new Set(those.filter(({ targetHost }) => targetHost === spec.hypervisor).map(({ id }) => id));
      if (away.length > 1 + back.size) found.push(`server ${instanceId} was moved ${away.length} times by Eviction ${metadata.name}: migrations ${away.join(', ')}`);
      // Nobody else empties the host that it went to, so it was the same eviction that moved it on.
      const onward = [...new Set(those.filter(({ sourceHost }) => away.length > 0 && back.size === 0 && !evicted.has(sourceHost)).map(({ id }) => id))];
      if (onward.length > 0) found.push(`server ${instanceId} had left by Eviction ${metadata.name} (migration ${away.join(', ')}) and was moved on: migrations ${onward.join(', ')}`);
    }
  }
  return found;
};

/** Each Eviction that was seen, and the time in which its host was its own. */
function spans(world: Snapshot): (Pick<Eviction, 'metadata' | 'spec'> & { sinceMs: number; untilMs: number })[] {
  const byUid = new Map([...world.evictionEvents.map(({ object }) => object), ...world.evictions].map((eviction) => [eviction.metadata.uid, eviction]));
  const all = [...byUid.values()].filter(({ spec }) => concerns(world, spec.hypervisor)).map(({ metadata, spec }) => ({ metadata, spec, sinceMs: Date.parse(metadata.creationTimestamp) }));
  const next = (host: string, sinceMs: number): number => Math.min(...all.filter(({ spec, sinceMs: its }) => spec.hypervisor === host && its > sinceMs).map(({ sinceMs: its }) => its));
  return all.map((eviction) => ({ ...eviction, untilMs: next(eviction.spec.hypervisor, eviction.sinceMs) }));
}

/** 4: no server is started on a host that drover had disabled. */
const noneToDisabledHosts: Check = (world) => {
  const first = new Map<number, MigrationFact>();
  for (const event of world.migrationEvents) if (!first.has(event.id)) first.set(event.id, event);
  const found: string[] = [];
  for (const { id, instanceId, targetHost, status } of new Map(world.migrationEvents.map((event) => [event.id, event])).values()) {
    if (targetHost === null || !concerns(world, targetHost)) continue;
    const beganMs = first.get(id)?.atMs ?? 0;
    const last = world.servicesAsked.filter(({ host, atMs }) => host === targetHost && atMs < beganMs).at(-1);
    if (last === undefined || last.enabled || !last.byDrover) continue;
    found.push(`migration ${id} of server ${instanceId} (${status}) went to ${targetHost}, which drover had disabled ${beganMs - last.atMs} ms before`);
  }
  return found;
};

/** 5: an eviction that succeeded leaves an empty host, for as long as the host stays disabled. */
const succeededMeansEmpty: Check = (world) => {
  const found: string[] = [];
  for (const eviction of evictionsOf(world)) {
    const { spec, metadata } = eviction;
    const condition = evicting(eviction);
    if (condition?.status !== 'False' || condition.reason !== 'Succeeded') continue;
    if (world.services.find(({ host }) => host === spec.hypervisor)?.status !== 'disabled') continue;
    const left = world.servers.filter(({ host }) => host === spec.hypervisor);
    if (left.length > 0) found.push(`Eviction ${metadata.name} says Succeeded, and on ${spec.hypervisor} Nova has ${left.map(({ name }) => name).join(', ')}`);
    const allocated = world.allocations[spec.hypervisor] ?? [];
    if (allocated.length > 0) found.push(`Eviction ${metadata.name} says Succeeded, and on ${spec.hypervisor} Placement has allocations of ${allocated.join(', ')}`);
    const moving = inProgress(world.migrationEvents).filter(({ sourceHost, targetHost }) => sourceHost === spec.hypervisor || targetHost === spec.hypervisor);
    if (moving.length > 0) found.push(`Eviction ${metadata.name} says Succeeded, and migrations ${moving.map(({ id }) => id).join(', ')} concern ${spec.hypervisor}`);
  }
  return found;
};

/** 6: a settled Eviction carries no finalizer, a terminal reason and its generation. */
const settledIsReleased: Check = (world) => {
  const found: string[] = [];
  for (const eviction of evictionsOf(world)) {
    const { metadata } = eviction;
    if (!settled.Eviction(eviction, 'act')) continue;
    const condition = findCondition(eviction.status?.conditions, 'Evicting') ?? findCondition(eviction.status?.conditions, 'Observed');
    if (metadata.deletionTimestamp !== undefined) continue;
    if (condition === undefined) {
      found.push(`Eviction ${metadata.name} is settled and says nothing`);
      continue;
    }
    // A terminated run could not let go; the bridge may write the status only. The next run releases it, or the deletion does.
    const wasTerminated = condition.reason === 'Stopped' && condition.message.includes(' was terminated by ');
    if ((metadata.finalizers ?? []).includes(evictionFinalizer) && !wasTerminated) found.push(`Eviction ${metadata.name} is ${condition.reason} and still carries ${evictionFinalizer}`);
    if (condition.observedGeneration !== metadata.generation) found.push(`Eviction ${metadata.name} is ${condition.reason} of generation ${condition.observedGeneration}, and has ${metadata.generation}`);
    if (['Running', 'Paused', 'Stopping', 'AlreadyRunning'].includes(condition.reason)) found.push(`Eviction ${metadata.name} is settled and says ${condition.reason}`);
  }
  return found;
};

/** 7: a disable is signed by whoever made it. */
const disablesAreSigned: Check = (world) => {
  const found: string[] = [];
  for (const { host, status, disabledReason } of world.services) {
    if (status === 'enabled' || !concerns(world, host)) continue;
    const last = world.serviceChanges.filter((change) => change.host === host).at(-1);
    const reason = disabledReason ?? '';
    if (last === undefined || last.enabled) found.push(`the compute service of ${host} is disabled (${reason || 'no reason'}), and nobody is known to have done it`);
    else if (last.by === 'drover' && !reason.startsWith(disabledReasonPrefix)) found.push(`drover disabled ${host}, and the reason is: ${reason || 'none'}`);
    else if (last.by === 'test' && reason !== last.reason) found.push(`${host} was disabled with "${last.reason}", and now the reason is "${reason}"`);
  }
  return found;
};

/** 8: who has left does not come back into the list, unless back to the host. */
const listShrinks: Check = (world) => {
  const found: string[] = [];
  for (const [uid, events] of Map.groupBy(world.evictionEvents, ({ object }) => object.metadata.uid)) {
    const left = new Set<string>();
    let before: readonly string[] = [];
    for (const { object } of events) {
      if (!concerns(world, object.spec.hypervisor)) break;
      const now = object.status?.outstandingInstances ?? [];
      for (const id of before) if (!now.includes(id)) left.add(id);
      for (const id of now) {
        if (!left.has(id) || cameBack(world, id, object.spec.hypervisor)) continue;
        found.push(`Eviction ${object.metadata.name} (${uid}) lists server ${id} again at resourceVersion ${object.metadata.resourceVersion}, after it had left`);
        left.delete(id);
      }
      before = now;
    }
  }
  return found;
};

const cameBack = ({ migrationEvents }: Snapshot, id: string, host: string): boolean =>
  migrationEvents.some(({ instanceId, targetHost, sourceHost, status }) => instanceId === id && ((targetHost === host && ended.has(status)) || (sourceHost === host && (status === 'reverted' || status === 'error'))));

/** 9: histories stay within their budget. Per second too, because the tests' intervals are short: renewals, publications. */
const historyBudgets: Check = ({ runs, atMs }) =>
  runs.flatMap(({ workflowId, runId, type, events, moves, startedAtMs, closedAtMs }) => {
    const seconds = ((closedAtMs ?? atMs) - startedAtMs) / 1_000;
    const budget = type === workflowTypes.migrateInstance ? 40 * Math.max(1, moves) : type === workflowTypes.evictHypervisor ? 150 + 16 * moves + 8 * seconds : null;
    if (budget === null || events <= budget) return [];
    return [`${type} ${workflowId} (${runId}) has ${events} events for ${moves} moves in ${seconds.toFixed(0)} s; its budget is ${budget.toFixed(0)}`];
  });

/** As it is, in URLs, in JSON, and in base64 at the beginning of a text. */
const spellings = (value: string): string[] => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), Buffer.from(value).toString('base64').replace(/.?=*$/u, '')];

/** 10: no secret is shown anywhere. */
const noSecrets: Check = ({ secrets, texts }) =>
  texts.flatMap(({ where, text }) => [
    ...secrets.filter(({ value }) => spellings(value).some((spelling) => text.includes(spelling))).map(({ name }) => `${where} shows the secret ${name}`),
    ...(/\bgAAAAA[\w-]{40,}/u.test(text) ? [`${where} shows a token of Keystone`] : []),
    ...(/\beyJhbGciOi[\w-]{20,}\./u.test(text) ? [`${where} shows a token of a service account`] : []),
  ]);

/** 11: a Migration that drover wrote says whose it is. */
const migrationsAreOwned: Check = ({ migrations, evictions, evictionEvents }) => {
  const known = new Set([...evictions, ...evictionEvents.map(({ object }) => object)].map(({ metadata }) => metadata.uid));
  return migrations.flatMap(({ metadata }) => {
    const isOurs = (metadata.managedFields ?? []).some(({ manager }) => manager === 'drover');
    const uid = metadata.labels?.[labels.evictionUid];
    if (!isOurs) return [];
    if (uid === undefined) return [`Migration ${metadata.name} does not say whose it is`];
    return known.has(uid) ? [] : [`Migration ${metadata.name} belongs to ${uid}, and no such Eviction was ever seen`];
  });
};

/** 12: a server is started elsewhere only while its host is forced down on evidence. */
const evacuatedOnEvidence: Check = ({ fencings }) => {
  const evidence = new Map<string, boolean>();
  return fencings.flatMap(({ did, host, object, cause }) => {
    if (did !== 'evacuated') {
      evidence.set(host, did === 'forcedDown' && /^incident \S+: (?:power-off|person), /u.test(cause));
      return [];
    }
    return evidence.get(host) === true ? [] : [`${object} was evacuated off ${host} (${cause}), which drover had not forced down on evidence`];
  });
};

/** 13: a VirtualMachine has one VM at most, and exactly one, as its spec asks for it, where it says that it is settled. */
const oneVmPerObject: Check = ({ virtualMachines, vms }) => {
  const byUid = Map.groupBy(vms, ({ uid }) => uid ?? '');
  const doubled = [...byUid].filter(([, those]) => those.length > 1).map(([uid, those]) => `VirtualMachine ${those[0]?.namespacedName ?? ''} (${uid}) has ${those.length} VMs: ${those.map(({ id }) => id).join(', ')}`);
  const amiss = virtualMachines.flatMap(({ metadata, spec, status }) => {
    const lifecycle = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
    const { namespace, name, uid, generation, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined || lifecycle?.status !== 'True' || lifecycle.observedGeneration !== generation) return [];
    const [vm] = byUid.get(uid) ?? [];
    if (vm === undefined) return [`VirtualMachine ${namespace}/${name} is ${lifecycle.reason}, and no VM has its mark`];
    const wanted = spec?.powerState ?? 'PoweredOn';
    const said = `VirtualMachine ${namespace}/${name} is ${lifecycle.reason}, and`;
    const isNoted = wanted === 'PoweredOn' && metadata.annotations?.[virtualMachineAnnotations.creating] !== undefined;
    return [
      ...(vm.powerState.toLowerCase() === wanted.toLowerCase() ? [] : [`${said} ${vm.id} is ${vm.powerState} instead of ${wanted}`]),
      ...(spec?.advanced?.extraConfig ?? []).flatMap(({ key, value = '' }) => ((vm.extraConfig[key] ?? '') === value ? [] : [`${said} ${vm.id} has not ${key}=${value}`])),
      ...(isNoted ? [`${said} still notes that ${vm.id} is being made`] : []),
    ];
  });
  return [...doubled, ...amiss];
};

/** 14: a VM of drover's has its object, which is held: it is let go only after its VM is gone. */
const vmsAreHeld: Check = ({ virtualMachines, vms }) =>
  vms.flatMap(({ id, namespacedName, uid }) => {
    const object = virtualMachines.find(({ metadata }) => metadata.uid === uid);
    if (object === undefined) return [`VM ${id} belongs to VirtualMachine ${namespacedName ?? ''} (${uid ?? 'no uid'}), which is no more`];
    const isHeld = (object.metadata.finalizers ?? []).includes(virtualMachineFinalizers.current);
    return isHeld ? [] : [`VirtualMachine ${namespacedName ?? ''} has VM ${id}, and no finalizer holds it`];
  });

/** 15: what others have in the vCenter stays as it is. */
const strangersStay: Check = ({ strangers }) => strangers.flatMap(({ what, before, after }) => (before === after ? [] : [`${what} is not drover’s, was ${before} and is ${after ?? 'gone'}`]));

/** In the order of docs/invariants.md. */
const checks: readonly Check[] = [
  oneRunPerObject,
  everyServerOnce,
  movedOnce,
  noneToDisabledHosts,
  succeededMeansEmpty,
  settledIsReleased,
  disablesAreSigned,
  listShrinks,
  historyBudgets,
  noSecrets,
  migrationsAreOwned,
  evacuatedOnEvidence,
  oneVmPerObject,
  vmsAreHeld,
  strangersStay,
];
