import { droverFailure, failureCode } from '../../../runtime/failure.ts';
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

/** Of a deploy that is not answered: what became of the call, after the attempt. `tasks`: one look after the other. */
async function afterAttempt(tasks: readonly (string | null | Error)[]): Promise<{ end: unknown; isAborted: boolean }> {
  let look = -1;
  let call: AbortSignal | null = null;
  let nowMs = 0;
  const gateway = {
    vcenter: 'lab',
    findActivated: () => {
      const found = tasks[(look += 1)] ?? null;
      return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
    },
    findByInstanceUuid: () => Promise.resolve([]),
    findInFolder: () => Promise.resolve({ kind: 'nothing' }),
  };
  const rest = {
    vcenter: 'lab',
    call: (_request: object, _value: object, signal: AbortSignal) => {
      call = signal;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  } as unknown as VcenterRest;
  const tools = {
    gateway,
    scope: { signal: new AbortController().signal },
    stopGate: () => Promise.resolve(),
    audit: { record: () => Promise.resolve() },
    clock: { now: () => nowMs, sleep: (ms: number) => Promise.resolve((nowMs += ms)) },
  } as unknown as Tools;
  const request = {
    owner,
    cause: 'spec',
    itemId: 'item-1',
    create: {
      name: 'web',
      instanceUuid: uid,
      uuid: uid,
      at: { folder: 'group-1', resourcePool: 'resgroup-1', datastore: 'datastore-1', host: null },
      source: { kind: 'contentLibraryItem', itemId: 'item-1' },
      bootDiskBytes: null,
      config: { extraConfig: [], deviceChange: [] },
      classConfigSpec: {},
    },
  } as unknown as Parameters<typeof submitDeploy>[2];
  const end = await submitDeploy(tools, rest, request, identity).catch(failureCode);
  return { end, isAborted: (call as AbortSignal | null)?.aborted === true };
}

const cut = droverFailure('VsphereUnavailable', 'cut');
test.each<[what: string, tasks: (string | null | Error)[], end: unknown, isAborted: boolean]>([
  [
    'goes on where its task is there',
    [null, null, 'task-1'],
    { taskId: 'task-1', purpose: { kind: 'create', ...identity } },
    false,
  ],
  ['ends with an attempt that finds none: sent later, it would make another VM', [], 'VsphereUnavailable', true],
  ['ends with one that cannot look for it', [null, cut], 'VsphereUnavailable', true],
])('the call of a deploy %s', async (_, tasks, end, isAborted) => {
  expect(await afterAttempt(tasks)).toEqual({ end, isAborted });
});
