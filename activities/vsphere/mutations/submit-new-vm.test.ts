import { owner, uid } from '../../../test/fixtures/activities/vsphere.ts';
import type { Tools } from '../dependencies.ts';
import type { VcenterRest } from '../rest/client.ts';
import type { NewVm } from '../specs/new-vm.ts';
import { submitNewVm } from './submit-new-vm.ts';

/** Asks a vCenter of this id for a VM that it does not have. Returns what was submitted. */
async function submitted(create: Partial<NewVm['create']>, managerId: string): Promise<string[]> {
  const methods: string[] = [];
  const gateway = {
    vcenter: 'lab',
    managerId: () => Promise.resolve(managerId),
    findActivated: () => Promise.resolve(null),
    findByInstanceUuid: () => Promise.resolve([]),
    findInFolder: () => Promise.resolve({ kind: 'nothing' }),
    read: () => Promise.resolve({ id: 'vm-0', config: { devices: [] } }),
    submit: (method: string) => (methods.push(method), Promise.resolve('task-1')),
  };
  const tools = {
    gateway,
    scope: { signal: new AbortController().signal },
    stopGate: () => Promise.resolve(),
    audit: { record: () => Promise.resolve() },
    clock: { now: () => 0 },
  } as unknown as Tools;
  const request = {
    owner,
    cause: 'spec',
    create: {
      name: 'web',
      instanceUuid: uid,
      uuid: uid,
      at: { folder: 'group-1', resourcePool: 'resgroup-1', datastore: 'datastore-1', host: null },
      source: { kind: 'template', moId: 'vm-0' },
      bootDiskBytes: null,
      config: { extraConfig: [], deviceChange: [] },
      classConfigSpec: {},
      ...create,
    },
  } as unknown as NewVm;
  await submitNewVm(tools, {} as VcenterRest, request);
  return methods;
}

test('a VM is made in the vCenter in which it was searched', async () => {
  expect(await submitted({ managerId: 'vc-1' }, 'vc-1')).toEqual(['CloneVM_Task']);
});

test('one whose vCenter was not noted is made where it is asked for', async () => {
  expect(await submitted({}, 'vc-2')).toEqual(['CloneVM_Task']);
});

test.each([
  ['a clone', { source: { kind: 'template', moId: 'vm-0' } }],
  ['a deploy', { source: { kind: 'contentLibraryItem', itemId: 'item-1' } }],
] as const)('in another vCenter nothing is made: %s', async (_, create) => {
  await expect(submitted({ ...create, managerId: 'vc-1' }, 'vc-2')).rejects.toMatchObject({
    type: 'VsphereReplaced',
    nonRetryable: true,
  });
});
