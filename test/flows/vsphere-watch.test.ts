import type { KubernetesScope } from '../../activities/kubernetes/scope.ts';
import type { RecordedVm } from '../../activities/kubernetes/list-recorded-vms.ts';
import { systemClock } from '../../activities/nova/wait.ts';
import { openRecentLooks, type RecentLooks } from '../../activities/vsphere/watch/recent-looks.ts';
import { watchVcenter } from '../../activities/vsphere/watch/watch-vcenter.ts';
import type { ObjectChanged } from '../../contracts/messages.ts';
import type { VcenterWatchTurn } from '../../contracts/vcenter-watch.ts';
import { govc } from '../../lab/vsphere/govc.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { VcenterPlaces } from '../../runtime/vsphere-config.ts';
import { until } from './until.ts';
import { makeVm, namespace, never, openVsphereWorld, startTimeoutMs, uidOf, type VsphereWorld } from './vsphere-world.ts';

/** The watch over govmomi's vCenter, with govc as whoever changes VMs behind drover's back. */

let world: VsphereWorld;

beforeAll(async () => {
  world = await openVsphereWorld();
  for (const name of ['web', 'db']) await makeVm(world.activities(world.gateway()), world.newVm(name));
}, startTimeoutMs);
afterAll(() => world?.close());
beforeEach(() => world.control.reset());

interface Told extends ObjectChanged {
  object: string;
}

interface Watch {
  told: Told[];
  warnings: string[];
  looks: RecentLooks;
  /** The last heartbeat. */
  details(): { version: string; trouble: string | null; looks: number; waiting: number; memory: string | null };
  /** As when the worker stops. */
  leave(): Promise<VcenterWatchTurn>;
  /** As when the run is cancelled. */
  cancel(): Promise<unknown>;
  stopped: boolean;
  /** News that a run had seen by itself. */
  spared: number;
  ended: Promise<VcenterWatchTurn>;
}

function start(change: { memory?: string | null; heartbeatDetails?: unknown; deadlineMs?: number; recorded?: RecordedVm[]; zones?: VcenterPlaces['zones'] } = {}): Watch {
  const told: Told[] = [];
  const warnings: string[] = [];
  const looks = openRecentLooks();
  const [leaving, cancelling] = [new AbortController(), new AbortController()];
  let details: unknown = null;
  const scope: KubernetesScope = {
    signal: cancelling.signal,
    deadlineMs: Date.now() + (change.deadlineMs ?? 3_600_000),
    heartbeatDetails: change.heartbeatDetails,
    run: null,
    heartbeat: (given) => (details = given),
    scheduledMs: Date.now(),
    warn: (message) => warnings.push(message),
  };
  const watch: Omit<Watch, 'ended'> = {
    told,
    warnings,
    looks,
    details: () => details as ReturnType<Watch['details']>,
    leave: () => {
      leaving.abort(new Error('the worker stops'));
      return turn;
    },
    cancel: () => {
      cancelling.abort(new Error('CANCELLED'));
      return turn.then(() => 'it ended well', (error: unknown) => error);
    },
    stopped: false,
    spared: 0,
  };
  const turn = watchVcenter(
    {
      vcenter: 'lab',
      wanted: true,
      places: { ...world.settings().places, ...(change.zones !== undefined && { zones: change.zones }) },
      open: () => world.connect(),
      listRecordedVms: () => Promise.resolve(change.recorded ?? []),
      tell: (owner, signal) => Promise.resolve(void told.push({ object: `${owner.namespace}/${owner.name}`, ...signal })),
      stopGate: () => (watch.stopped ? Promise.reject(droverFailure('Stopped', 'Everything was stopped by the test')) : Promise.resolve()),
      looks,
      meter: { heard: () => undefined, looked: () => undefined, told: () => undefined, spared: () => void (watch.spared += 1) },
      leaving: leaving.signal,
      scope,
      clock: systemClock,
    },
    { vcenter: 'lab', memory: change.memory ?? null },
  );
  turn.catch(() => undefined);
  return Object.assign(watch, { ended: turn });
}

const untilTold = (watch: Watch, object: string, cause: RegExp, fromIndex = 0): Promise<Told> =>
  until(`${object} to be told ${cause.source}`, 20_000, () => {
    const found = watch.told.slice(fromIndex).find((one) => one.object === object && cause.test(one.cause));
    return Promise.resolve(found ?? JSON.stringify(watch.told.slice(fromIndex)));
  });

/** A watch that has looked, and whose runs know everything. */
async function startKnowing(): Promise<Watch> {
  const watch = start();
  await until('all to be told', 20_000, () => Promise.resolve(watch.details().looks > 0 && watch.details().waiting === 0 ? {} : JSON.stringify(watch.details())));
  return watch;
}

/** Whatever an attempt at the same test has left. */
async function ensureOff(name: string): Promise<void> {
  const on = await govc(world.handle, 'find', inventory.vmFolder, '-type', 'm', '-name', name, '-runtime.powerState', 'poweredOn');
  if (on.trim() !== '') await govc(world.handle, 'vm.power', '-off', name);
}

/** What is remembered once everything has been told. */
async function memoryOf(watch: Watch): Promise<string | null> {
  await until('nothing to wait', 20_000, () => Promise.resolve(watch.details().waiting === 0 ? {} : 'waits'));
  return (await watch.leave()).memory;
}

test('without a memory every run is told once, and of others’ VMs nobody', async () => {
  const watch = start();
  await untilTold(watch, `${namespace}/web`, /not watched/u);
  await untilTold(watch, `${namespace}/db`, /not watched/u);
  const turn = await watch.leave();
  expect(turn).toMatchObject({ wanted: true, owned: 2, looks: 1, told: 2 });
  expect(turn.vms).toBeGreaterThan(2);
  expect(watch.told.map(({ object }) => object).toSorted()).toEqual([`${namespace}/db`, `${namespace}/web`]);
  expect(watch.told.every(({ uid, object }) => uid === uidOf(object.slice(namespace.length + 1)))).toBe(true);
});

test.each<[what: string, change: string[], cause: RegExp]>([
  ['powered on', ['vm.power', '-on', 'web'], /powered on/u],
  ['an address', ['vm.change', '-vm', 'web', '-e', 'SET.guest.ipAddress=192.0.2.7'], /an address/u],
  ['Tools', ['vm.change', '-vm', 'web', '-e', 'SET.guest.toolsRunningStatus=guestToolsRunning'], /Tools run/u],
  ['a snapshot', ['snapshot.create', '-vm', 'web', 'before'], /snapshots/u],
  ['reconfigured', ['vm.change', '-vm', 'web', '-m', '128'], /reconfigured/u],
  ['powered off', ['vm.power', '-off', 'web'], /powered off/u],
])('%s by somebody else: its run is told, and no other', async (_what, change, cause) => {
  const watch = await startKnowing();
  const before = watch.told.length;
  await govc(world.handle, ...change);
  const { seen } = await untilTold(watch, `${namespace}/web`, cause, before);
  const { seen: looked } = await world.activities(world.gateway()).lookAtVirtualMachine(world.look('web'));
  // The look of a run calls the same state the same.
  expect(seen).toBe(looked);
  expect(watch.told.slice(before).map(({ object }) => object)).not.toContain(`${namespace}/db`);
  await watch.leave();
});

test('renamed, and gone', async () => {
  await makeVm(world.activities(world.gateway()), world.newVm('other'));
  const watch = await startKnowing();
  await govc(world.handle, 'object.rename', `${inventory.vmFolder}/${namespace}/other`, 'another');
  await untilTold(watch, `${namespace}/other`, /renamed/u);
  await govc(world.handle, 'vm.destroy', 'another');
  await untilTold(watch, `${namespace}/other`, /gone/u);
  await watch.leave();
});

test('a VM that is made while it watches is told of with its mark, and one without a mark is not', async () => {
  const watch = await startKnowing();
  const before = watch.told.length;
  await govc(world.handle, 'vm.create', '-on=false', '-m', '64', '-ds', inventory.datastores[0], '-net', 'VM Network', '-folder', `${inventory.vmFolder}/${namespace}`, 'nobodys');
  await govc(world.handle, 'vm.power', '-on', 'nobodys');
  const { vmId } = await makeVm(world.activities(world.gateway()), world.newVm('made'));
  await untilTold(watch, `${namespace}/made`, /appeared|marked|reconfigured/u, before);
  expect(watch.told.slice(before).map(({ object }) => object)).not.toContain(`${namespace}/nobodys`);
  expect(watch.told.slice(before).filter(({ object }) => object === `${namespace}/made`).length).toBeLessThanOrEqual(2);
  expect(vmId).toMatch(/^vm-/u);
  await govc(world.handle, 'vm.destroy', 'nobodys', 'made');
  await watch.leave();
});

test('what a run has seen by itself it is not told of', async () => {
  await ensureOff('db');
  const watch = await startKnowing();
  const before = watch.told.length;
  const own = world.activities(world.gateway(), never, Infinity, watch.looks);
  const look = () => own.lookAtVirtualMachine(world.look('db'));
  const { vm } = await look();
  await own.submitPower({ vmId: vm?.moId ?? '', mark: world.newVm('db').mark, cause: 'the test', operation: 'powerOn' });
  await until('the news to be dropped', 10_000, async () => {
    await look();
    return watch.spared > 0 ? {} : `told: ${JSON.stringify(watch.told.slice(before))}`;
  });
  await govc(world.handle, 'vm.power', '-off', 'db');
  await untilTold(watch, `${namespace}/db`, /powered off/u, before);
  expect(watch.told.slice(before).map(({ cause }) => cause)).not.toContain('vcenter: powered on');
  await watch.leave();
});

test('a session that somebody ends: it looks anew, and what happened meanwhile is told', async () => {
  const watch = await startKnowing();
  const before = watch.told.length;
  await world.control.endSessions();
  await govc(world.handle, 'vm.power', '-on', 'web');
  await untilTold(watch, `${namespace}/web`, /powered on/u, before);
  await until('another look', 20_000, () => Promise.resolve(watch.details().looks > 1 ? {} : JSON.stringify(watch.details())));
  await govc(world.handle, 'vm.power', '-off', 'web');
  await untilTold(watch, `${namespace}/web`, /powered off/u, before);
  expect(watch.told.slice(before).map(({ object }) => object)).not.toContain(`${namespace}/db`);
  expect(await watch.leave()).toMatchObject({ told: before + 2 });
});

test('a worker that dies: the next one tells only the runs of VMs that have changed meanwhile', async () => {
  const first = await startKnowing();
  const heartbeatDetails = first.details();
  await first.cancel();
  await govc(world.handle, 'vm.power', '-on', 'web');
  const second = start({ heartbeatDetails });
  await untilTold(second, `${namespace}/web`, /not watched/u);
  const memory = await memoryOf(second);
  expect(second.told.map(({ object }) => object)).toEqual([`${namespace}/web`]);
  // And so is it from turn to turn.
  const third = start({ memory });
  await until('a look', 20_000, () => Promise.resolve(third.details().looks > 0 ? {} : 'none yet'));
  expect(await third.leave()).toMatchObject({ told: 0, memory });
  await govc(world.handle, 'vm.power', '-off', 'web');
});

test('a VM that goes while nobody watches: its object says whose it was', async () => {
  const { vmId } = await makeVm(world.activities(world.gateway()), world.newVm('lost'));
  const watch = await startKnowing();
  const memory = await memoryOf(watch);
  await govc(world.handle, 'vm.destroy', 'lost');
  const managerId = await world.gateway().managerId(never);
  const recorded = [
    { namespace, name: 'lost', uid: uidOf('lost'), vmId, managerId },
    { namespace, name: 'elsewhere', uid: uidOf('elsewhere'), vmId, managerId: 'another vCenter' },
  ];
  const next = start({ memory, recorded });
  await untilTold(next, `${namespace}/lost`, /gone/u);
  await next.leave();
  expect(next.told.map(({ object }) => object)).not.toContain(`${namespace}/elsewhere`);
});

test('while drover is stopped nobody is told, and afterwards of all of it', async () => {
  const watch = await startKnowing();
  const before = watch.told.length;
  watch.stopped = true;
  await govc(world.handle, 'vm.power', '-on', 'web');
  await until('somebody to be warned', 10_000, () => Promise.resolve(watch.warnings.some((words) => words.includes('drover is stopped')) ? {} : watch.warnings.join('; ')));
  expect(watch.told).toHaveLength(before);
  watch.stopped = false;
  await untilTold(watch, `${namespace}/web`, /powered on/u, before);
  await govc(world.handle, 'vm.power', '-off', 'web');
  await watch.leave();
});

test('a vCenter that does not answer is watched again when it does', async () => {
  await ensureOff('web');
  const watch = await startKnowing();
  const before = watch.told.length;
  await world.control.strike({ method: 'FindByInventoryPath', does: 'cut', count: 2 });
  await world.control.endSessions();
  await govc(world.handle, 'vm.power', '-on', 'web');
  await untilTold(watch, `${namespace}/web`, /powered on/u, before);
  await until('the trouble to be over', 20_000, () => Promise.resolve(watch.warnings.length > 0 && watch.details().trouble === null && watch.details().looks > 1 ? {} : JSON.stringify(watch.details())));
  await govc(world.handle, 'vm.power', '-off', 'web');
  await watch.leave();
});

test('a cancel ends it, also in the middle of a question', async () => {
  const watch = await startKnowing();
  expect(await watch.cancel()).toMatchObject({ message: 'CANCELLED' });
});

test('its time being over ends it well', async () => {
  const watch = start({ deadlineMs: 11_000 });
  expect(await watch.ended).toMatchObject({ wanted: true });
});

test('folders that are not there are named', async () => {
  const watch = start({ zones: { z: { folder: '/DC0/vm/nowhere', resourcePool: inventory.resourcePool } } });
  await until('the folder to be named', 10_000, () => Promise.resolve(watch.warnings.some((words) => words.includes('/DC0/vm/nowhere')) ? {} : watch.warnings.join()));
  await watch.leave();
});
