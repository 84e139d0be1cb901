import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineId, workflowTypes } from '../../contracts/ids.ts';
import { apiVersionOf } from '../../contracts/kinds/object.ts';
import { virtualMachineClass } from '../../contracts/kinds/resources.ts';
import { virtualMachineFinalizers } from '../../contracts/virtual-machine/metadata.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { vmClass, vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { clonesOf, namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/**
 * A VirtualMachine from the first to the last: drover's own worker and bridge; govc is the witness of what
 * the vCenter has.
 */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld();
  world.observed.planted.push({ name: 'the user data', value: userData.split('\n')[1] ?? '' });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

/** Attempts at tests so far. */
let attempts = 0;
beforeEach(() => void (attempts += 1));
/** A name of this attempt alone: what one that fails leaves behind is not in the way of the next. */
const own = (name: string): string => `${name}-${attempts}`;

const reconciled = /^True Reconciled/u;
const userData = `#cloud-config\n# canary-${randomUUID()}`;

const untilCloning = (name: string): Promise<unknown> =>
  until('the clone to be under way', 30_000, async () => ((await clonesOf(world, name)).length > 0 ? {} : 'not yet'));

test(
  'made, resized, switched off and on, and deleted',
  async () => {
    const web = own('web');
    await world.create(web);
    await world.untilReported(web, reconciled);
    const made = await world.witness(web);
    const object = await world.read(web);
    expect(made).toMatchObject({
      powerState: 'poweredOn',
      cpus: 1,
      memoryMiB: 1_024,
      instanceUuid: object?.metadata.uid,
      metadata: { 'vmservice.namespacedName': `${namespace}/${web}`, 'drover.uid': object?.metadata.uid },
    });
    expect(object?.metadata.finalizers).toContain(virtualMachineFinalizers.current);
    expect(object?.status).toMatchObject({
      powerState: 'PoweredOn',
      instanceUUID: object?.metadata.uid,
      zone: vmFixture.zone,
    });
    for (const type of ['VirtualMachineClassReady', 'VirtualMachineCreated'])
      expect(findCondition(object?.status?.conditions, type)).toMatchObject({ status: 'True' });

    await world.change(web, { spec: { powerState: 'PoweredOff' } });
    await world.untilReported(web, reconciled);
    expect(await world.witness(web)).toMatchObject({ powerState: 'poweredOff' });

    await world.change(web, { spec: { className: vmFixture.classes.large } });
    await world.untilReported(web, reconciled);
    expect(await world.witness(web)).toMatchObject({ cpus: 2, memoryMiB: 2_048 });

    await world.change(web, { spec: { powerState: 'PoweredOn' } });
    await world.untilReported(web, reconciled);
    expect(await world.witness(web)).toMatchObject({ powerState: 'poweredOn' });

    await world.remove(web);
    await world.untilReported(web, /^gone$/u);
    expect(await world.witness(web)).toBeNull();
    const lives = (await world.vcenter.readJournal()).filter(({ uid }) => uid === object?.metadata.uid);
    expect(lives).toEqual([
      expect.objectContaining({
        kind: 'VirtualMachine',
        id: expect.stringMatching(/^vm-\d+$/u),
        goneMs: expect.any(Number),
      }),
    ]);
  },
  limitMs,
);

test(
  'a worker that is killed while the VM is made: one VM',
  () =>
    world.whileSlow({ CloneVm: 6_000 }, async () => {
      const killed = own('killed');
      await world.create(killed);
      await untilCloning(killed);
      await world.drover.kill('worker');
      await world.drover.restart('worker');
      await world.untilReported(killed, reconciled, 60_000);
      expect(await clonesOf(world, killed)).toHaveLength(1);
    }),
  limitMs,
);

test(
  'deleted while it is being made: nothing is left',
  () =>
    world.whileSlow({ CloneVm: 15_000 }, async () => {
      const unwanted = own('unwanted');
      await world.create(unwanted);
      await untilCloning(unwanted);
      await world.remove(unwanted);
      await world.untilReported(unwanted, /^gone$/u, 60_000);
      expect(
        (await world.control.requests())
          .filter(({ method }) => method === 'CancelTask' || method === 'Destroy_Task')
          .map(({ method }) => method),
      ).toEqual(expect.arrayContaining(['CancelTask', 'Destroy_Task']));
      expect(await world.witness(unwanted)).toBeNull();
    }),
  limitMs,
);

test(
  'a bridge that is killed and started again starts runs for what has changed meanwhile, and for nothing else',
  async () => {
    const [kept, moved, later] = ['kept-1', 'moved', 'later'].map(own) as [string, string, string];
    const names = [kept, own('kept-2'), own('kept-3'), moved];
    const className = own('its-own');
    await world.make(vmClass(namespace, className, 1, '1Gi'));
    for (const name of names) await world.create(name, name === moved ? { className } : {});
    for (const name of names) await world.untilReported(name, reconciled);
    const runsOf = async (name: string): Promise<number> =>
      (await world.client.workflow.count(`WorkflowId = '${virtualMachineId(namespace, name)}'`)).count;
    await until('the runs to have ended', 30_000, async () => {
      const { count } = await world.client.workflow.count(
        `WorkflowType = '${workflowTypes.reconcileVirtualMachine}' AND ExecutionStatus = 'Running'`,
      );
      return count === 0 ? {} : `${count} are open`;
    });
    const before = await Promise.all(names.map(runsOf));
    await world.drover.kill('bridge');
    await world.change(kept, { metadata: { labels: { note: 'of-no-concern' } } });
    const path = resourcePath(apiVersionOf(virtualMachineClass), virtualMachineClass.plural, {
      namespace,
      name: className,
    });
    const body = { spec: { hardware: { cpus: 2 } } };
    await world.api.request({ method: 'PATCH', patchType: 'merge', path, body }, AbortSignal.timeout(10_000));
    await world.drover.restart('bridge');
    const last = names.length - 1;
    await until('the run of the changed class', 60_000, async () =>
      (await runsOf(moved)) > (before[last] ?? 0) ? {} : 'not yet',
    );
    // What is reconciled is compared at once, so that whatever was started for the others is there when one more
    // VM is made.
    await world.create(later);
    await world.untilReported(later, reconciled);
    const started = (await Promise.all(names.map(runsOf))).map((count, index) => count - (before[index] ?? 0));
    expect(started).toEqual([0, 0, 0, 1]);
    for (const name of [...names, later]) await world.remove(name);
    for (const name of [...names, later]) await world.untilReported(name, /^gone$/u);
  },
  limitMs,
);

test(
  'what drover’s own account may read of a Secret is in the VM, and its metrics show the watch',
  async () => {
    const [cloudy, secret] = ['cloudy', 'user-data'].map(own) as [string, string];
    await world.make({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: secret },
      stringData: { key: userData },
    });
    await world.create(cloudy, { bootstrap: { cloudInit: { rawCloudConfig: { name: secret, key: 'key' } } } });
    await world.untilReported(cloudy, reconciled);
    const vm = await world.vcenter.describeVm(`${inventory.vmFolder}/${namespace}/${cloudy}`);
    const packed = vm?.config.extraConfig.find(({ key }) => key === 'guestinfo.userdata')?.value ?? '';
    expect(gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')).toBe(userData);

    const page = await (await fetch(world.drover.metricsUrls.worker)).text();
    expect(page).toMatch(/drover_vcenter_watch_changes_total\{vcenter="lab",outcome="signalled"\} \d+/u);
    expect(page).toContain('drover_vcenter_watch_last_contact_timestamp_seconds{vcenter="lab"}');
    await world.remove(cloudy);
    await world.untilReported(cloudy, /^gone$/u);
  },
  limitMs,
);
