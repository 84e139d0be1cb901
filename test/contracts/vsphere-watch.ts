import type { RecordedVm } from '../../activities/kubernetes/virtual-machine/list-recorded-vms.ts';
import type { ActivityScope } from '../../activities/lib/context.ts';
import { openRecentObservations, type RecentObservations } from '../../activities/vsphere/watch/recent-observations.ts';
import { watchVcenter } from '../../activities/vsphere/watch/watch-vcenter.ts';
import type { ObjectChanged } from '../../contracts/messages.ts';
import type { VcenterWatchRound } from '../../contracts/virtual-machine/vcenter-watch.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { VcenterPlaces } from '../../runtime/config/vsphere-config.ts';
import { until } from '../flows/until.ts';
import { makeVm, namespace, never, openSuite, uidOf, vmFolder, type VsphereCounterpart } from './vsphere-context.ts';

/** The watch over a vCenter, while another client changes VMs behind drover's back. */
export function vsphereWatchContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, test, each } = openSuite(open, async (opened) => {
    for (const name of ['web', 'db']) await makeVm(opened.activities(opened.gateway()), opened.newVm(name));
  });

  interface ReceivedSignal extends ObjectChanged {
    object: string;
  }

  interface Watch {
    signals: ReceivedSignal[];
    warnings: string[];
    recent: RecentObservations;
    /** The last heartbeat. */
    details(): { version: string; trouble: string | null; inventories: number; waiting: number; memory: string | null };
    /** As when the worker stops. */
    leave(): Promise<VcenterWatchRound>;
    /** As when the run is cancelled. */
    cancel(): Promise<unknown>;
    stopped: boolean;
    /** How often the objects were listed. */
    lists: number;
    /** Changes that a run had observed before. */
    skipped: number;
    ended: Promise<VcenterWatchRound>;
  }

  function start(
    change: {
      memory?: string | null;
      heartbeatDetails?: unknown;
      deadlineMs?: number;
      recorded?: RecordedVm[];
      /** How often the list of objects fails before it succeeds. */
      failedLists?: number;
      stopped?: boolean;
      zones?: VcenterPlaces['zones'];
    } = {},
  ): Watch {
    const signals: ReceivedSignal[] = [];
    const warnings: string[] = [];
    const recent = openRecentObservations();
    const [leaving, cancelling] = [new AbortController(), new AbortController()];
    let details: unknown = null;
    const scope: ActivityScope = {
      signal: cancelling.signal,
      deadlineMs: context.clock.now() + (change.deadlineMs ?? 3_600_000),
      heartbeatDetails: change.heartbeatDetails,
      run: null,
      heartbeat: (given) => (details = given),
      scheduledMs: context.clock.now(),
      waitedMs: 0,
      warn: (message) => warnings.push(message),
    };
    const watch: Omit<Watch, 'ended'> = {
      signals,
      warnings,
      recent,
      details: () => details as ReturnType<Watch['details']>,
      leave: () => {
        leaving.abort(new Error('the worker stops'));
        return round;
      },
      cancel: () => {
        cancelling.abort(new Error('CANCELLED'));
        return round.then(
          () => 'it ended well',
          (error: unknown) => error,
        );
      },
      stopped: change.stopped ?? false,
      lists: 0,
      skipped: 0,
    };
    const round = watchVcenter(
      {
        vcenter: 'lab',
        wanted: true,
        places: { ...context.settings().places, ...(change.zones !== undefined && { zones: change.zones }) },
        open: () => context.connect(),
        listRecordedVms: () => {
          watch.lists += 1;
          return watch.lists > (change.failedLists ?? 0)
            ? Promise.resolve(change.recorded ?? [])
            : Promise.reject(droverFailure('KubernetesUnavailable', 'The API server is away'));
        },
        signalRun: (owner, signal) =>
          Promise.resolve(void signals.push({ object: `${owner.namespace}/${owner.name}`, ...signal })),
        stopGate: () =>
          watch.stopped
            ? Promise.reject(droverFailure('Stopped', 'Everything was stopped by the test'))
            : Promise.resolve(),
        recent,
        meter: {
          began: () => undefined,
          answered: () => undefined,
          inventoried: () => undefined,
          signalled: () => undefined,
          skipped: () => void (watch.skipped += 1),
        },
        leaving: leaving.signal,
        scope,
        clock: context.clock,
        random: Math.random,
      },
      { vcenter: 'lab', memory: change.memory ?? null },
    );
    round.catch(() => undefined);
    return Object.assign(watch, { ended: round });
  }

  const untilSignalled = (watch: Watch, object: string, cause: RegExp, fromIndex = 0): Promise<ReceivedSignal> =>
    until(`${object} to be signalled ${cause.source}`, 20_000, () => {
      const found = watch.signals.slice(fromIndex).find((one) => one.object === object && cause.test(one.cause));
      return Promise.resolve(found ?? JSON.stringify(watch.signals.slice(fromIndex)));
    });

  /** A watch that has its inventory, and whose runs know everything. */
  async function startKnowing(): Promise<Watch> {
    const watch = start();
    await until('all to be signalled', 20_000, () =>
      Promise.resolve(
        watch.details().inventories > 0 && watch.details().waiting === 0 ? {} : JSON.stringify(watch.details()),
      ),
    );
    return watch;
  }

  /** Whatever an attempt at the same test has left. */
  async function ensureOff(name: string): Promise<void> {
    const vm = await context.witness.describeVm(`${vmFolder}/${name}`);
    if (vm?.runtime.powerState === 'poweredOn') await context.witness.setPower(`${vmFolder}/${name}`, 'off');
  }

  /** The memory once everything has been signalled. */
  async function memoryOf(watch: Watch): Promise<string | null> {
    await until('nothing to wait', 20_000, () => Promise.resolve(watch.details().waiting === 0 ? {} : 'waits'));
    return (await watch.leave()).memory;
  }

  test('without a memory every run is signalled once, and none for VMs of others', async () => {
    const watch = start();
    await untilSignalled(watch, `${namespace}/web`, /not watched/u);
    await untilSignalled(watch, `${namespace}/db`, /not watched/u);
    const round = await watch.leave();
    expect(round).toMatchObject({ wanted: true, owned: 2, inventories: 1, signalled: 2 });
    expect(round.vms).toBeGreaterThan(2);
    expect(watch.signals.map(({ object }) => object).toSorted()).toEqual([`${namespace}/db`, `${namespace}/web`]);
    expect(watch.signals.every(({ uid, object }) => uid === uidOf(object.slice(namespace.length + 1)))).toBe(true);
  });

  const web = `${vmFolder}/web`;
  const rows: [what: string, change: () => Promise<void>, cause: RegExp][] = [
    ['powered on', () => context.witness.setPower(web, 'on'), /powered on/u],
    [
      'an address',
      () => context.witness.changeVm(web, { extraConfig: { 'SET.guest.ipAddress': '192.0.2.7' } }),
      /an address/u,
    ],
    [
      'Tools',
      () => context.witness.changeVm(web, { extraConfig: { 'SET.guest.toolsRunningStatus': 'guestToolsRunning' } }),
      /Tools run/u,
    ],
    ['a snapshot', () => context.witness.createSnapshot(web, 'before'), /snapshots/u],
    ['powered off', () => context.witness.setPower(web, 'off'), /powered off/u],
    ['reconfigured', () => context.witness.changeVm(web, { memoryMiB: 128 }), /reconfigured/u],
  ];
  each(rows)('%s by another client: its run is signalled, and no other', async (_what, change, cause) => {
    const watch = await startKnowing();
    const before = watch.signals.length;
    await change();
    const { stateDigest: signalled } = await untilSignalled(watch, `${namespace}/web`, cause, before);
    const { stateDigest: observed } = await context
      .activities(context.gateway())
      .observeVirtualMachineInVcenter(context.observationRequest('web'));
    // The observation of a run gives the same state the same digest.
    expect(signalled).toBe(observed);
    expect(watch.signals.slice(before).map(({ object }) => object)).not.toContain(`${namespace}/db`);
    await watch.leave();
  });

  test('renamed, and gone', async () => {
    await makeVm(context.activities(context.gateway()), context.newVm('other'));
    const watch = await startKnowing();
    await context.witness.rename(`${vmFolder}/other`, 'another');
    await untilSignalled(watch, `${namespace}/other`, /renamed/u);
    await context.witness.destroyVm(`${vmFolder}/another`);
    await untilSignalled(watch, `${namespace}/other`, /gone/u);
    await watch.leave();
  });

  test('a VM that is made while it watches is signalled to its owner, and one without an owner to none', async () => {
    const watch = await startKnowing();
    const before = watch.signals.length;
    await context.witness.createVm(`${vmFolder}/unowned`);
    await context.witness.setPower(`${vmFolder}/unowned`, 'on');
    const { vmId } = await makeVm(context.activities(context.gateway()), context.newVm('made'));
    await untilSignalled(watch, `${namespace}/made`, /appeared|owned|reconfigured/u, before);
    expect(watch.signals.slice(before).map(({ object }) => object)).not.toContain(`${namespace}/unowned`);
    expect(
      watch.signals.slice(before).filter(({ object }) => object === `${namespace}/made`).length,
    ).toBeLessThanOrEqual(2);
    expect(vmId).toMatch(/^vm-/u);
    await context.witness.destroyVm(`${vmFolder}/unowned`);
    await context.witness.destroyVm(`${vmFolder}/made`);
    await watch.leave();
  });

  test('what a run has observed already is not signalled', async () => {
    await ensureOff('db');
    const watch = await startKnowing();
    const before = watch.signals.length;
    const own = context.activities(context.gateway(), never, Infinity, watch.recent);
    const observe = () => own.observeVirtualMachineInVcenter(context.observationRequest('db'));
    const { vm } = await observe();
    await own.submitPower({
      vmId: vm?.moId ?? '',
      owner: context.newVm('db').owner,
      cause: 'the test',
      operation: 'powerOn',
    });
    await until('the change to be skipped', 10_000, async () => {
      await observe();
      return watch.skipped > 0 ? {} : `signalled: ${JSON.stringify(watch.signals.slice(before))}`;
    });
    await context.witness.setPower(`${vmFolder}/db`, 'off');
    await untilSignalled(watch, `${namespace}/db`, /powered off/u, before);
    expect(watch.signals.slice(before).map(({ cause }) => cause)).not.toContain('vcenter: powered on');
    await watch.leave();
  });

  test('a session that another client ends: a new inventory is read, and what happened meanwhile is signalled', async () => {
    const watch = await startKnowing();
    const before = watch.signals.length;
    await context.control.endSessions();
    await context.witness.setPower(`${vmFolder}/web`, 'on');
    await untilSignalled(watch, `${namespace}/web`, /powered on/u, before);
    await until('another inventory', 20_000, () =>
      Promise.resolve(watch.details().inventories > 1 ? {} : JSON.stringify(watch.details())),
    );
    await context.witness.setPower(`${vmFolder}/web`, 'off');
    await untilSignalled(watch, `${namespace}/web`, /powered off/u, before);
    expect(watch.signals.slice(before).map(({ object }) => object)).not.toContain(`${namespace}/db`);
    expect(await watch.leave()).toMatchObject({ signalled: before + 2 });
  });

  test('a worker that dies: the next one signals only the runs of VMs that have changed meanwhile', async () => {
    const first = await startKnowing();
    const heartbeatDetails = first.details();
    await first.cancel();
    await context.witness.setPower(`${vmFolder}/web`, 'on');
    const second = start({ heartbeatDetails });
    await untilSignalled(second, `${namespace}/web`, /not watched/u);
    const memory = await memoryOf(second);
    expect(second.signals.map(({ object }) => object)).toEqual([`${namespace}/web`]);
    // And so is it from round to round.
    const third = start({ memory });
    await until('an inventory', 20_000, () => Promise.resolve(third.details().inventories > 0 ? {} : 'none yet'));
    expect(await third.leave()).toMatchObject({ signalled: 0, memory });
    await context.witness.setPower(`${vmFolder}/web`, 'off');
  });

  test('a VM that goes while no watch runs: its object shows the owner', async () => {
    const { vmId } = await makeVm(context.activities(context.gateway()), context.newVm('lost'));
    const watch = await startKnowing();
    const memory = await memoryOf(watch);
    await context.witness.destroyVm(`${vmFolder}/lost`);
    const managerId = await context.gateway().managerId(never);
    const recorded = [
      { namespace, name: 'lost', uid: uidOf('lost'), vmId, managerId },
      { namespace, name: 'elsewhere', uid: uidOf('elsewhere'), vmId, managerId: 'another vCenter' },
    ];
    const next = start({ memory, recorded });
    await untilSignalled(next, `${namespace}/lost`, /gone/u);
    await next.leave();
    expect(next.signals.map(({ object }) => object)).not.toContain(`${namespace}/elsewhere`);
  });

  test('a list of the objects that fails is asked for again, and what is gone is signalled all the same', async () => {
    const { vmId } = await makeVm(context.activities(context.gateway()), context.newVm('lost'));
    const memory = await memoryOf(await startKnowing());
    await context.witness.destroyVm(`${vmFolder}/lost`);
    const recorded = [
      { namespace, name: 'lost', uid: uidOf('lost'), vmId, managerId: await context.gateway().managerId(never) },
    ];
    const watch = start({ memory, recorded, failedLists: 1 });
    await untilSignalled(watch, `${namespace}/lost`, /gone/u);
    expect(watch.warnings).toEqual([expect.stringMatching(/cannot be found out: .*The API server is away/u)]);
    await watch.leave();
    // Once it was answered it is asked no more.
    expect(watch.lists).toBe(2);
  });

  test('a VM that goes and whose run cannot be signalled in that round is signalled in a later one', async () => {
    const { vmId } = await makeVm(context.activities(context.gateway()), context.newVm('lost'));
    const first = await startKnowing();
    first.stopped = true;
    await context.witness.destroyVm(`${vmFolder}/lost`);
    const isWarned = (watch: Watch) =>
      until('a warning', 10_000, () =>
        Promise.resolve(watch.warnings.some((words) => words.includes('drover is stopped')) ? {} : 'no warning'),
      );
    await isWarned(first);
    const { memory } = await first.leave();
    const recorded = [
      { namespace, name: 'lost', uid: uidOf('lost'), vmId, managerId: await context.gateway().managerId(never) },
    ];
    // Its memory has the VM no more.
    const second = start({ memory, recorded, stopped: true });
    await isWarned(second);
    const third = start({ memory: (await second.leave()).memory, recorded });
    await untilSignalled(third, `${namespace}/lost`, /gone/u);
    await third.leave();
    expect([...first.signals, ...second.signals].filter(({ cause }) => cause.includes('gone'))).toEqual([]);
  });

  test('while drover is stopped no run is signalled, and afterwards all are', async () => {
    const watch = await startKnowing();
    const before = watch.signals.length;
    watch.stopped = true;
    await context.witness.setPower(`${vmFolder}/web`, 'on');
    await until('a warning', 10_000, () =>
      Promise.resolve(
        watch.warnings.some((words) => words.includes('drover is stopped')) ? {} : watch.warnings.join('; '),
      ),
    );
    expect(watch.signals).toHaveLength(before);
    watch.stopped = false;
    await untilSignalled(watch, `${namespace}/web`, /powered on/u, before);
    await context.witness.setPower(`${vmFolder}/web`, 'off');
    await watch.leave();
  });

  test('a vCenter that does not answer is watched again when it does', async () => {
    await ensureOff('web');
    const watch = await startKnowing();
    const before = watch.signals.length;
    await context.control.inject({ method: 'FindByInventoryPath', does: 'cut', count: 2 });
    await context.control.endSessions();
    await context.witness.setPower(`${vmFolder}/web`, 'on');
    await untilSignalled(watch, `${namespace}/web`, /powered on/u, before);
    await until('the trouble to be over', 20_000, () =>
      Promise.resolve(
        watch.warnings.length > 0 && watch.details().trouble === null && watch.details().inventories > 1
          ? {}
          : JSON.stringify(watch.details()),
      ),
    );
    await context.witness.setPower(`${vmFolder}/web`, 'off');
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
    await until('the folder to be named', 10_000, () =>
      Promise.resolve(watch.warnings.some((words) => words.includes('/DC0/vm/nowhere')) ? {} : watch.warnings.join()),
    );
    await watch.leave();
  });
}
