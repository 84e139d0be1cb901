import type { SubmittedTask } from '../../contracts/virtual-machine/activities.ts';
import type { PowerOperation } from '../../contracts/virtual-machine/mutations.ts';
import { until } from '../flows/until.ts';
import {
  configOf,
  describeVms,
  observedVmOf,
  failureOf,
  makeVm,
  never,
  openSuite,
  settle,
  taskOf,
  vmFolder,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** How VMs are powered, restarted and destroyed. */
export function vspherePowerContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, gateway, activities, find, power, test } = openSuite(open);

  test('power: on, suspended, on, off; each once, and twice is well', async () => {
    const subject = await makeVm(activities, context.newVm('powered'));
    const powerState = async () => (await describeVms(context, 'powered'))[0]?.runtime.powerState;
    for (const [operation, state] of [
      ['powerOn', 'poweredOn'],
      ['suspend', 'suspended'],
      ['powerOn', 'poweredOn'],
      ['powerOff', 'poweredOff'],
    ] as const) {
      await power(subject, operation);
      expect(await powerState()).toBe(state);
      expect(await activities.submitPower({ ...subject, operation })).toBeNull();
    }
    await Promise.all([power(subject, 'powerOn'), power(subject, 'powerOn'), power(subject, 'powerOn')]);
    expect(await powerState()).toBe('poweredOn');
  });

  test('a lost answer to a power-on does not make a second one', async () => {
    const subject = await makeVm(activities, context.newVm('lost-power'));
    await context.control.inject({ method: 'PowerOnVM_Task', after: true, does: 'cut' });
    expect(await failureOf(activities.submitPower({ ...subject, operation: 'powerOn' }))).toMatchObject({
      type: 'VsphereUnavailable',
    });
    expect(context.audit.at(-1)).toMatchObject({
      action: 'submitPower',
      after: { failed: expect.stringContaining('cut') },
    });
    await until(
      'it to be on',
      5_000,
      async () => (await describeVms(context, 'lost-power'))[0]?.runtime.powerState === 'poweredOn' || 'off',
    );
    expect(await activities.submitPower({ ...subject, operation: 'powerOn' })).toBeNull();
  });

  test('a restart changes the boot owner, and is made once for its intent, also when its answer was lost', async () => {
    const subject = await makeVm(activities, context.newVm('restarted'));
    expect(await observedVmOf(context, activities, 'restarted')).toMatchObject({ bootId: 'off', upSinceMs: null });
    await power(subject, 'powerOn');
    const { bootId, upSinceMs } = await observedVmOf(context, activities, 'restarted');
    expect(upSinceMs).toBeGreaterThan(context.clock.now() - 60_000);
    expect((await observedVmOf(context, activities, 'restarted')).bootId).toBe(bootId);
    const { changeVersion } = await configOf(context, activities, 'restarted');
    await settle(
      activities,
      await activities.submitReconfigure({
        ...subject,
        changeVersion,
        spec: { extraConfig: [{ key: 'drover.restartIntent', value: `1767225600000 ${bootId}` }] },
      }),
    );
    await context.control.inject({ method: 'ResetVM_Task', after: true, does: 'cut' });
    expect(await failureOf(activities.submitPower({ ...subject, operation: 'reset' }))).toMatchObject({
      type: 'VsphereUnavailable',
    });
    await until(
      'it to be reset',
      5_000,
      async () => (await observedVmOf(context, activities, 'restarted')).bootId !== bootId || 'not yet',
    );
    expect(await activities.submitPower({ ...subject, operation: 'reset' })).toBeNull();
    expect(await context.requests('ResetVM_Task')).toHaveLength(1);
  });

  test('a guest is asked where Tools run, and said to have none where they do not', async () => {
    const subject = await makeVm(activities, context.newVm('asked'));
    const ask = (operation: PowerOperation) => activities.submitPower({ ...subject, operation });
    await power(subject, 'powerOn');
    expect(await failureOf(ask('shutdownGuest'))).toMatchObject({ type: 'GuestToolsNotRunning', nonRetryable: true });
    expect(await failureOf(ask('rebootGuest'))).toMatchObject({ type: 'GuestToolsNotRunning' });
    await context.witness.changeVm(`${vmFolder}/asked`, {
      extraConfig: { 'SET.guest.toolsRunningStatus': 'guestToolsRunning' },
    });
    await context.control.deafenGuests(true);
    expect(await ask('shutdownGuest')).toBeNull();
    expect(await observedVmOf(context, activities, 'asked')).toMatchObject({
      powerState: 'poweredOn',
      guest: { toolsRunning: true, known: true },
    });
    await context.control.deafenGuests(false);
    expect(await ask('rebootGuest')).toBeNull();
    expect(await ask('shutdownGuest')).toBeNull();
    await until(
      'it to be off',
      5_000,
      async () => (await describeVms(context, 'asked'))[0]?.runtime.powerState === 'poweredOff' || 'on',
    );
    expect(await ask('shutdownGuest')).toBeNull();
    expect(await failureOf(ask('rebootGuest'))).toMatchObject({ type: 'VirtualMachineStateRefused' });
  });

  test('a guest whose Tools end after an answer was lost may be shutting down: that is no refusal', async () => {
    const subject = await makeVm(activities, context.newVm('heard'));
    await power(subject, 'powerOn');
    const tools = (status: string) =>
      context.witness.changeVm(`${vmFolder}/heard`, { extraConfig: { 'SET.guest.toolsRunningStatus': status } });
    await tools('guestToolsRunning');
    await context.control.deafenGuests(true);
    await context.control.inject({ method: 'ShutdownGuest', after: true, does: 'cut' });
    const ask = { ...subject, operation: 'shutdownGuest' as const };
    expect(await failureOf(activities.submitPower(ask))).toMatchObject({ type: 'VsphereUnavailable' });
    await tools('guestToolsNotRunning');
    const again = context.activities(gateway, never, Infinity, undefined, 1_000);
    expect(await failureOf(again.submitPower(ask))).toMatchObject({ type: 'GuestAnswerLost', nonRetryable: true });
    expect(await failureOf(activities.submitPower(ask))).toMatchObject({ type: 'GuestToolsNotRunning' });
  });

  test('destroyed, with its files; twice is well; gone, it is not found', async () => {
    const subject = await makeVm(activities, context.newVm('doomed'));
    const submitted = await activities.submitDestroy(subject);
    await settle(activities, submitted);
    expect(await describeVms(context, 'doomed')).toEqual([]);
    expect(await activities.submitDestroy(subject)).toBeNull();
    expect(await find('doomed')).toBeNull();
    // A worker that comes late to the same task finds its purpose reached.
    const forgotten: SubmittedTask = { ...taskOf(submitted), taskId: 'task-999999' };
    expect(await activities.awaitTask(forgotten)).toEqual({ vmId: subject.vmId });
    expect(await failureOf(activities.submitPower({ ...subject, operation: 'powerOn' }))).toMatchObject({
      type: 'VirtualMachineNotFound',
    });
  });

  test('one that runs is not destroyed, and says why', async () => {
    const subject = await makeVm(activities, context.newVm('running'));
    await power(subject, 'powerOn');
    expect(await failureOf(settle(activities, await activities.submitDestroy(subject)))).toMatchObject({
      type: 'VirtualMachineStateRefused',
      nonRetryable: true,
      message: expect.stringContaining('existingState poweredOn'),
    });
    expect(await describeVms(context, 'running')).toHaveLength(1);
  });

  test('a disk that was not made with it survives: destroying is refused until it is detached', async () => {
    const subject = await makeVm(activities, context.newVm('with-volume'));
    await context.witness.makeDirectory({ datastore: 'LocalDS_0', path: 'volumes' });
    await context.witness.attachNewDisk(`${vmFolder}/with-volume`, {
      datastore: 'LocalDS_0',
      path: 'volumes/precious',
      sizeMiB: 1_024,
    });
    expect(await failureOf(activities.submitDestroy(subject))).toMatchObject({
      type: 'ForeignDisksAttached',
      nonRetryable: true,
      message: expect.stringContaining('volumes/precious.vmdk'),
    });
    const volumes = (await configOf(context, activities, 'with-volume')).disks.filter(({ own }) => !own);
    expect(volumes).toMatchObject([{ capacityBytes: 1024 ** 3, boot: false }]);
    const keys = volumes.map(({ key }) => key);
    await settle(activities, await activities.submitDetachDisks({ ...subject, keys }));
    const [request] = (await context.requests('ReconfigVM_Task')).slice(-1);
    expect(request?.body).toContain('<operation>remove</operation>');
    expect(request?.body).not.toContain('fileOperation');
    expect(await activities.submitDetachDisks({ ...subject, keys })).toBeNull();
    await settle(activities, await activities.submitDestroy(subject));
    expect(await context.witness.listFiles({ datastore: 'LocalDS_0', path: 'volumes' })).toContain('precious.vmdk');
  });
}
