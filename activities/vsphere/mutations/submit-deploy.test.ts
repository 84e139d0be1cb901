import type { Tools } from '../dependencies.ts';
import type { VcenterRest } from '../rest/client.ts';
import { mark, uid, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import { submitDeploy } from './submit-deploy.ts';
import type { NameInFolder } from '../types.ts';

const identity = { instanceUuid: uid, folder: 'group-1', name: 'web', mark };
const withoutMark: NameInFolder = { kind: 'vm', vm: vmOf({}, null) };
const withMark: NameInFolder = { kind: 'vm', vm: vmOf({}, mark) };

/** What a vCenter answers, one look after the other; it must not be asked for a deploy. */
function attempt(looks: readonly { task: string | null; there: NameInFolder }[]): Promise<object> {
  let look = -1;
  const gateway = {
    vcenter: 'lab',
    findActivated: () => Promise.resolve(looks[(look += 1)]?.task ?? null),
    findByInstanceUuid: () => Promise.resolve([]),
    findInFolder: () => Promise.resolve(looks[look]?.there ?? { kind: 'nothing' }),
    runningCreates: () => Promise.resolve([looks[look + 1]?.task ?? []].flat()),
  };
  const tools = { gateway, scope: { signal: new AbortController().signal } } as unknown as Tools;
  const request = { create: {}, mark, cause: 'spec', itemId: 'item-1' } as unknown as Parameters<
    typeof submitDeploy
  >[2];
  return submitDeploy(tools, {} as VcenterRest, request, identity);
}

test.each([
  [
    'is under way',
    [{ task: 'task-1', there: withoutMark }],
    { taskId: 'task-1', purpose: { kind: 'create', ...identity } },
  ],
  ['is over', [{ task: null, there: withMark }], { vmId: 'vm-1' }],
  [
    'began between two looks of this attempt',
    [
      { task: null, there: withoutMark },
      { task: 'task-1', there: withoutMark },
    ],
    { taskId: 'task-1', purpose: { kind: 'create', ...identity } },
  ],
  [
    'began and ended between two looks of this attempt',
    [
      { task: null, there: withoutMark },
      { task: null, there: withMark },
    ],
    { vmId: 'vm-1' },
  ],
])('the deploy of an attempt before, which %s, is found', async (_, looks, found) => {
  expect(await attempt(looks)).toEqual(found);
});

test('a VM that still has no mark when nobody deploys it is somebody else’s', async () => {
  const theirs = { task: null, there: withoutMark };
  await expect(attempt([theirs, theirs])).rejects.toMatchObject({
    type: 'VirtualMachineNameTaken',
    nonRetryable: true,
  });
});
