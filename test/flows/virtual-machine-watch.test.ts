import { vcenterWatchId, virtualMachineId } from '../../contracts/ids.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { labClock } from '../../lab/clock.ts';
import { labVcenter } from '../../lab/drover.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { createLineDecoder } from '../../k8s-bridge/line-decoder.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import { readSignals } from './read-signals.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * What users change in the vCenter, as the VirtualMachine shows it: drover's own worker and bridge, and another client
 * of vCenter.
 */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld();
  await world.create('web');
  await world.untilReported('web', reconciled);
  await untilQuiet('web');
}, startTimeoutMs);
afterEach(() => checkInvariants(world.observed), limitMs);
afterAll(() => world?.close(), limitMs);

const reconciled = /^True Reconciled/u;
const web = `${inventory.vmFolder}/${namespace}/web`;
const idOf = (name: string): string => virtualMachineId(namespace, name);

interface RunShort {
  runId: string;
  isOpen: boolean;
  events: number;
}

async function runsOf(name: string): Promise<RunShort[]> {
  const runs: RunShort[] = [];
  for await (const { runId, status, historyLength } of world.client.workflow.list({
    query: `WorkflowId = '${idOf(name)}'`,
  }))
    runs.push({ runId, isOpen: status.name === 'RUNNING', events: historyLength ?? 0 });
  return runs;
}

/** No run of it is open: only the watch can know of what comes. */
const untilQuiet = (name: string): Promise<unknown> =>
  until(`the runs of ${name} to end`, 20_000, async () =>
    (await runsOf(name)).some(({ isOpen }) => isOpen) ? 'one is open' : {},
  );

/**
 * Waits until the watch knows of every VM that there is, and of none that is gone, and has nothing left to signal.
 * @returns how many they are
 */
const untilAllKnown = async (): Promise<number> =>
  (
    await until('the watch to know all VMs, and to have nothing left to signal', 40_000, async () => {
      const count = (await world.vcenter.find('vm', '/')).length;
      const { vms, waiting } = await heartbeat();
      return vms === count && waiting === 0 ? { count } : `${vms} VMs of ${count}, ${waiting} waiting`;
    })
  ).count;

/** How many VMs the watch knows, what it still has to signal, and its state, as in its heartbeat. */
async function heartbeat(): Promise<{ vms: number; waiting: number; trouble: unknown; memory: unknown }> {
  const [activity] =
    (await world.client.workflow.getHandle(vcenterWatchId(labVcenter)).describe()).raw.pendingActivities ?? [];
  return world.client.options.loadedDataConverter.payloadConverter.fromPayload(
    activity!.heartbeatDetails!.payloads![0]!,
  );
}

/** What the status of a VM says of its power, and when it was written, by a plain watch. */
async function followPower(name: string): Promise<{
  states: { is: string; atMs: number }[];
  until(is: string, fromMs: number): Promise<number>;
  stop(): void;
}> {
  const stop = new AbortController();
  const path = resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace });
  const stream = await world.api.stream(
    { method: 'GET', path, query: { watch: true, fieldSelector: `metadata.name=${name}` } },
    stop.signal,
  );
  const states: { is: string; atMs: number }[] = [];
  const follow = async (): Promise<void> => {
    const lines = createLineDecoder();
    for await (const chunk of stream) {
      for (const line of lines.push(chunk)) {
        const { object } = JSON.parse(line) as { object: unknown };
        const is = virtualMachineSchema.parse(object).status?.powerState ?? '';
        if (is !== states.at(-1)?.is) states.push({ is, atMs: labClock().now() });
      }
    }
  };
  follow().catch(() => undefined);
  return {
    states,
    until: async (is, fromMs) => {
      const { atMs } = await until(
        `the status of ${name} to say ${is}`,
        30_000,
        () => states.find((one) => one.is === is && one.atMs >= fromMs) ?? JSON.stringify(states),
      );
      return atMs;
    },
    stop: () => stop.abort(),
  };
}

const signalsOf = (name: string) => readSignals(world.client, '', idOf(name));

test(
  'powered off by another client: the status says so, and it is powered on again',
  async () => {
    const power = await followPower('web');
    for (let round = 0; round < 5; round += 1) {
      await untilQuiet('web');
      const begunMs = labClock().now();
      await world.vcenter.setPower(web, 'off');
      const publishedMs = await power.until('PoweredOff', begunMs);
      const signalled = (await signalsOf('web')).filter(
        ({ cause, atMs }) => cause.includes('powered off') && atMs >= begunMs,
      );
      await power.until('PoweredOn', publishedMs);
      await world.untilReported('web', reconciled);
      expect(await world.witness('web')).toMatchObject({ powerState: 'poweredOn' });
      expect(signalled.length).toBeGreaterThan(0);
    }
    power.stop();
  },
  limitMs * 2,
);

test(
  'a snapshot, an address and a new name by another client are reported, each by a short run of its own',
  async () => {
    await untilQuiet('web');
    const before = (await runsOf('web')).map(({ runId }) => runId);
    await world.vcenter.createSnapshot(web, 'by-hand');
    await until(
      'the snapshot',
      20_000,
      async () =>
        (await world.read('web'))?.status?.rootSnapshots?.find(
          ({ name, type }) => name === 'by-hand' && type === 'Unmanaged',
        ) ?? 'none',
    );
    await world.vcenter.changeVm(web, { extraConfig: { 'SET.guest.ipAddress': '192.0.2.77' } });
    await until('the address', 20_000, async () =>
      (await world.read('web'))?.status?.network?.primaryIP4 === '192.0.2.77' ? {} : 'another',
    );
    await world.vcenter.removeSnapshots(web);
    await until('the snapshot to go', 20_000, async () =>
      (await world.read('web'))?.status?.rootSnapshots === undefined ? {} : 'it is there',
    );
    await untilQuiet('web');
    await world.vcenter.rename(web, 'web-by-hand');
    await until('the new name to be signalled', 20_000, async () =>
      (await signalsOf('web')).some(({ cause }) => cause.includes('renamed')) ? {} : 'not yet',
    );
    await world.vcenter.rename(`${web}-by-hand`, 'web');
    await untilQuiet('web');
    await world.untilReported('web', reconciled);
    const runs = (await runsOf('web')).filter(({ runId }) => !before.includes(runId));
    console.log(JSON.stringify({ eventsOfRunsThatReport: runs.map(({ events }) => events) }));
    for (const { events } of runs) expect(events).toBeLessThanOrEqual(30);
  },
  limitMs,
);

test(
  'a VM without drover’s metadata is not signalled',
  async () => {
    await untilQuiet('web');
    const before = (await signalsOf('web')).length;
    const foreignVm = `${inventory.vmFolder}/${namespace}/foreign`;
    await world.vcenter.createVm(foreignVm);
    try {
      await world.vcenter.setPower(foreignVm, 'on');
      // A later change is signalled: so this one would have been signalled as well.
      await world.vcenter.changeVm(web, { extraConfig: { 'SET.guest.ipAddress': '192.0.2.78' } });
      await until('the address', 20_000, async () =>
        (await world.read('web'))?.status?.network?.primaryIP4 === '192.0.2.78' ? {} : 'another',
      );
      expect(await runsOf('nobodys')).toEqual([]);
      await untilQuiet('web');
      const causes = (await signalsOf('web')).slice(before).map(({ cause }) => cause);
      expect(causes).toContainEqual(expect.stringContaining('an address'));
      for (const cause of causes) expect(cause).not.toMatch(/appeared|powered/u);
    } finally {
      await world.vcenter.destroyVm(foreignVm);
    }
  },
  limitMs,
);

test(
  'a worker that dies, and what is changed meanwhile',
  async () => {
    await untilQuiet('web');
    const before = (await signalsOf('web')).length;
    await world.drover.kill('worker');
    await world.vcenter.setPower(web, 'off');
    await world.drover.restart('worker');
    await until('the run to be signalled', 40_000, async () =>
      (await signalsOf('web')).slice(before).some(({ cause }) => cause.startsWith('vcenter: ')) ? {} : 'not yet',
    );
    await until(
      'it to be powered on again',
      40_000,
      async () => (await world.witness('web'))?.powerState === 'poweredOn' || 'off',
    );
    await world.untilReported('web', reconciled);
  },
  limitMs,
);

test(
  'a session that an administrator ends, and a VM that they destroy',
  async () => {
    await untilQuiet('web');
    const { ended } = await world.control.endSessions();
    // That of the worker's calls, and that of its watch.
    expect(ended).toBeGreaterThan(1);
    await world.vcenter.setPower(web, 'off');
    await until(
      'it to be powered on again',
      40_000,
      async () => (await world.witness('web'))?.powerState === 'poweredOn' || 'off',
    );
    await world.untilReported('web', reconciled);
    await untilQuiet('web');
    const before = (await signalsOf('web')).length;
    await world.vcenter.destroyVm(web);
    await until('the run to be signalled', 20_000, async () =>
      (await signalsOf('web')).slice(before).some(({ cause }) => cause.includes('gone')) ? {} : 'not yet',
    );
    // drover makes it again.
    await until('web to be there again', 40_000, async () => (await world.witness('web')) ?? 'not yet');
    await world.untilReported('web', reconciled);
    await untilQuiet('web');
  },
  limitMs,
);

test(
  'a VM that drover destroys itself starts no run that would find nothing',
  async () => {
    const vms = await untilAllKnown();
    await world.create('brief');
    await world.untilReported('brief', reconciled);
    expect(await untilAllKnown()).toBe(vms + 1);
    await world.remove('brief');
    await world.untilReported('brief', /^gone/u);
    await untilQuiet('brief');
    const runs = await runsOf('brief');
    expect(await untilAllKnown()).toBe(vms);
    expect((await signalsOf('brief')).filter(({ cause }) => cause.includes('gone'))).toEqual([]);
    expect(await runsOf('brief')).toHaveLength(runs.length);
  },
  limitMs,
);

test(
  'the run of the watch reports its state, and its history has one activity for each period',
  async () => {
    const handle = world.client.workflow.getHandle(vcenterWatchId(labVcenter));
    const { status, historyLength } = await handle.describe();
    expect([status.name, historyLength < 20]).toEqual(['RUNNING', true]);
    // What the tests before have done may still have to be signalled.
    await until('a heartbeat without errors, and nothing left to signal', 30_000, async () => {
      const { trouble, waiting, memory } = await heartbeat();
      return trouble === null && waiting === 0 && typeof memory === 'string'
        ? true
        : JSON.stringify({ trouble, waiting });
    });
  },
  limitMs,
);
