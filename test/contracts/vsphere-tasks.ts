import { CancelledFailure } from '@temporalio/common';

import type { SubmittedTask } from '../../contracts/virtual-machine/activities.ts';
import { until } from '../flows/until.ts';
import {
  describeVms,
  observedVmOf,
  failureOf,
  makeVm,
  never,
  openSuite,
  settle,
  taskOf,
  type NewVm,
  type VsphereCounterpart,
} from './vsphere-context.ts';

/** How tasks are waited for, cancelled and handed over. */
export function vsphereTasksContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, gateway, activities, find, power, test } = openSuite(open);

  test('a failure of the task is that of its fault, and not retried by the wait', async () => {
    const subject = await makeVm(activities, context.newVm('starved'));
    await context.control.fail({
      method: 'PowerOnVM_Task',
      fault: 'InsufficientMemoryResourcesFault',
      inTask: true,
      fields: { unreserved: 1, requested: 2 },
    });
    expect(await failureOf(power(subject, 'powerOn'))).toMatchObject({
      type: 'VsphereResourcesExhausted',
      nonRetryable: true,
      message: expect.stringContaining('InsufficientMemoryResourcesFault'),
    });
    await context.control.fail({
      method: 'PowerOnVM_Task',
      fault: 'SystemError',
      fields: { reason: 'vpxd' },
      inTask: true,
    });
    expect(await failureOf(power(subject, 'powerOn'))).toMatchObject({ type: 'VsphereFailed', nonRetryable: true });
  });

  test('a wait goes on at another worker, with another session', async () => {
    await context.control.delayTasks({ CloneVm: 800 });
    const submitted = (await activities.submitNewVm(context.newVm('handed-over'))) as SubmittedTask;
    const first = new AbortController();
    const given = failureOf(context.activities(gateway, first.signal).awaitTask(submitted));
    await context.control.endSessions();
    first.abort(new CancelledFailure('WORKER_SHUTDOWN'));
    await given;
    expect(await context.requests('CancelTask')).toEqual([]);
    const { vmId } = await context.activities(context.gateway()).awaitTask(submitted);
    expect(await find('handed-over')).toBe(vmId);
  });

  test('a cancel reaches the task; a clone that ends well all the same is found and destroyed', async () => {
    const vm = context.newVm('cancelled');
    await context.control.delayTasks({ CloneVm: 800 });
    const submitted = (await activities.submitNewVm(vm)) as SubmittedTask;
    const stop = new AbortController();
    const waiting = failureOf(context.activities(gateway, stop.signal).awaitTask(submitted));
    stop.abort(new CancelledFailure('CANCELLED'));
    expect(await waiting).toBeInstanceOf(Error);
    expect(await context.requests('CancelTask')).toHaveLength(1);
    // The cancel comes too late for the lab's vCenter.
    const { moId } = await until(
      'the clone to appear',
      10_000,
      async () =>
        (await activities.observeVirtualMachineInVcenter(context.observationRequest('cancelled'))).vm ?? 'not yet',
    );
    await settle(activities, await activities.submitDestroy({ vmId: moId, owner: vm.owner, cause: 'compensation' }));
    expect(await describeVms(context, 'cancelled')).toEqual([]);
  });

  test('a cancel reaches no task that changes a VM, but a promotion of its disks', async () => {
    const subject = await makeVm(activities, context.newVm('changing'));
    const { vmId } = subject;
    await context.control.delayTasks({ PowerOn: 800 });
    const submitted = taskOf(await activities.submitPower({ ...subject, operation: 'powerOn' }));
    const giveUp = async (purpose: SubmittedTask['purpose']): Promise<void> => {
      const stop = new AbortController();
      const waiting = failureOf(context.activities(gateway, stop.signal).awaitTask({ ...submitted, purpose }));
      stop.abort(new CancelledFailure('CANCELLED'));
      expect(await waiting).toBeInstanceOf(Error);
    };
    await giveUp(submitted.purpose);
    await giveUp({ kind: 'change', vmId });
    await giveUp({ kind: 'destroy', vmId });
    expect(await context.requests('CancelTask')).toEqual([]);
    await giveUp({ kind: 'change', vmId, isPromotion: true });
    expect(await context.requests('CancelTask')).toHaveLength(1);
  });

  describe('a create that is not wanted any more', () => {
    const request = (vm: NewVm, task: string | null) => ({
      owner: vm.owner,
      cause: vm.cause,
      task,
      folder: vm.create.at.folder,
      name: vm.create.name,
    });

    test('is cancelled by its task, and waited for', async () => {
      const vm = context.newVm('unwanted');
      await context.control.delayTasks({ CloneVm: 500 });
      const { taskId } = (await activities.submitNewVm(vm)) as SubmittedTask;
      await activities.stopCreate(request(vm, taskId));
      expect(await context.requests('CancelTask')).toHaveLength(1);
      expect(['success', 'error']).toContain((await gateway.readTask(taskId, never)).state);
      await activities.stopCreate(request(vm, taskId));
      expect(await context.requests('CancelTask')).toHaveLength(1);
    });

    test('is waited for where its task is not known any more; others are not cancelled', async () => {
      const vm = context.newVm('forgotten');
      await context.control.delayTasks({ CloneVm: 500 });
      const { taskId } = (await activities.submitNewVm(vm)) as SubmittedTask;
      await activities.stopCreate(request(vm, null));
      expect((await gateway.readTask(taskId, never)).state).toBe('success');
      expect(await find('forgotten')).not.toBeNull();
      expect(await context.requests('CancelTask')).toEqual([]);
    });

    test('and whose task is not known is not awaited for long, nor beside those that have begun since', async () => {
      const vm = context.newVm('lost');
      await context.control.delayTasks({ CloneVm: 8_000 });
      const lost = (await activities.submitNewVm(vm)) as SubmittedTask;
      expect(await failureOf(activities.stopCreate(request(vm, null)))).toMatchObject({
        type: 'VsphereTaskOverdue',
        details: [[lost.taskId]],
      });
      const later = (await activities.submitNewVm(context.newVm('later'))) as SubmittedTask;
      await settle(activities, lost);
      await activities.stopCreate({ ...request(vm, null), awaited: [lost.taskId] });
      expect((await gateway.readTask(later.taskId, never)).state).toBe('running');
      await settle(activities, later);
    });

    test('that is not done in time is said so', async () => {
      const vm = context.newVm('stubborn');
      await context.control.delayTasks({ CloneVm: 700 });
      const submitted = (await activities.submitNewVm(vm)) as SubmittedTask;
      expect(
        await failureOf(context.activities(gateway, never, context.clock.now()).stopCreate(request(vm, null))),
      ).toMatchObject({ type: 'VsphereTaskOverdue' });
      await settle(activities, submitted);
    });
  });

  test('a task of a VM is cancelled, and no other one’s', async () => {
    const subject = await makeVm(activities, context.newVm('tasked'));
    const other = await makeVm(activities, context.newVm('other'));
    await context.control.delayTasks({ PowerOn: 5_000 });
    const running = taskOf(await activities.submitPower({ ...subject, operation: 'powerOn' }));
    expect(await observedVmOf(context, activities, 'tasked')).toMatchObject({
      task: { id: running.taskId, descriptionId: 'VirtualMachine.powerOn' },
    });
    expect(await failureOf(activities.cancelVsphereTask({ ...other, task: running.taskId }))).toMatchObject({
      type: 'RequestRefused',
    });
    expect(await context.requests('CancelTask')).toEqual([]);
    await activities.cancelVsphereTask({ ...subject, task: running.taskId });
    expect(await context.requests('CancelTask')).toHaveLength(1);
    await activities.cancelVsphereTask({ ...subject, task: 'task-999999' });
  });

  test('a task that takes too long fails with its progress, and is left running', async () => {
    await context.control.delayTasks({ CloneVm: 1_500 });
    const submitted = (await activities.submitNewVm(context.newVm('slow'))) as SubmittedTask;
    expect(await failureOf(context.activities(gateway, never, context.clock.now()).awaitTask(submitted))).toMatchObject(
      { type: 'VsphereTaskOverdue', nonRetryable: true },
    );
    expect(await context.requests('CancelTask')).toEqual([]);
    await activities.awaitTask(submitted);
    expect(await describeVms(context, 'slow')).toHaveLength(1);
  });
}
