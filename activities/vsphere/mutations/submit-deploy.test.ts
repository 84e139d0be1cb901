import type { Tools } from '../dependencies.ts';
import type { VcenterRest } from '../rest/client.ts';
import { owner, uid, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import { submitDeploy } from './submit-deploy.ts';
import type { NameInFolder } from '../types.ts';

const identity = { instanceUuid: uid, folder: 'group-1', name: 'web', owner };
const withoutOwner: NameInFolder = { kind: 'vm', vm: vmOf({}, null) };
const withOwner: NameInFolder = { kind: 'vm', vm: vmOf({}, owner) };

/** What a vCenter answers, one look after the other; it must not be asked for a deploy. */
function attempt(recent: readonly { task: string | null; there: NameInFolder }[]): Promise<object> {
  let look = -1;
  const gateway = {
    vcenter: 'lab',
    findActivated: () => Promise.resolve(recent[(look += 1)]?.task ?? null),
    findByInstanceUuid: () => Promise.resolve([]),
    findInFolder: () => Promise.resolve(recent[look]?.there ?? { kind: 'nothing' }),
    runningCreates: () => Promise.resolve([recent[look + 1]?.task ?? []].flat()),
  };
  const tools = { gateway, scope: { signal: new AbortController().signal } } as unknown as Tools;
  const request = { create: {}, owner, cause: 'spec', itemId: 'item-1' } as unknown as Parameters<
    typeof submitDeploy
  >[2];
  return submitDeploy(tools, {} as VcenterRest, request, identity);
}

test.each([
  [
    'is under way',
    [{ task: 'task-1', there: withoutOwner }],
    { taskId: 'task-1', purpose: { kind: 'create', ...identity } },
  ],
  ['is over', [{ task: null, there: withOwner }], { vmId: 'vm-1' }],
  [
    'began between two recent of this attempt',
    [
      { task: null, there: withoutOwner },
      { task: 'task-1', there: withoutOwner },
    ],
    { taskId: 'task-1', purpose: { kind: 'create', ...identity } },
  ],
  [
    'began and ended between two recent of this attempt',
    [
      { task: null, there: withoutOwner },
      { task: null, there: withOwner },
    ],
    { vmId: 'vm-1' },
  ],
])('the deploy of an attempt before, which %s, is found', async (_, recent, found) => {
  expect(await attempt(recent)).toEqual(found);
});

test('a VM that still has no owner when no deployment is under way belongs to another user', async () => {
  const theirs = { task: null, there: withoutOwner };
  await expect(attempt([theirs, theirs])).rejects.toMatchObject({
    type: 'VirtualMachineNameTaken',
    nonRetryable: true,
  });
});
