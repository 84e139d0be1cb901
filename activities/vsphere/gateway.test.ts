import { testClock } from '../../test/fixtures/activities/nova.ts';
import type { Vim } from './client.ts';
import { openGateway } from './gateway.ts';
import { vmRef } from './wire/values.ts';

test('promotions of disks leave most of the room for tasks to others', async () => {
  const running = [{ name: 'info.state', val: 'running' }];
  let submitted = 0;
  const vim = {
    name: 'vc',
    content: () => Promise.resolve({ propertyCollector: { type: 'PropertyCollector', value: 'p' } }),
    call: (method: string, _: unknown, { specSet = [] }: { specSet?: { objectSet: { obj: unknown }[] }[] }) =>
      Promise.resolve(
        method.endsWith('_Task')
          ? { type: 'Task', value: `task-${(submitted += 1)}` }
          : { objects: specSet.flatMap(({ objectSet }) => objectSet.map(({ obj }) => ({ obj, propSet: running }))) },
      ),
  } as unknown as Vim;
  const gateway = openGateway(vim, { tasks: 4 }, testClock());
  const { signal } = new AbortController();
  await gateway.submit('PowerOffVM_Task', vmRef('vm-1'), {}, signal);
  await gateway.submit('PromoteDisks_Task', vmRef('vm-2'), { unlink: true, disks: [] }, signal);
  await expect(
    gateway.submit('PromoteDisks_Task', vmRef('vm-3'), { unlink: true, disks: [] }, signal),
  ).rejects.toMatchObject({
    type: 'PromotionsFull',
  });
  expect(await gateway.submit('PowerOffVM_Task', vmRef('vm-4'), {}, signal)).toBe('task-3');
});
