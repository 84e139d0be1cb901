import { droverFailure } from '../../runtime/failure.ts';
import { configSchema } from '../../runtime/config/config-schema.ts';
import type { Kubernetes, KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { accessBy } from '../command/kubernetes-access.ts';
import { virtualMachineAccess } from './virtual-machine-access.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';
import { shownVirtualMachines } from './virtual-machine-objects.ts';

const object = (spec: object = {}, metadata: object = {}, status: object = {}): object => ({
  apiVersion: 'vmoperator.vmware.com/v1alpha6',
  kind: 'VirtualMachine',
  metadata: {
    namespace: 'team',
    name: 'web',
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-31T10:00:00Z',
    ...metadata,
  },
  spec,
  status,
});
const annotated = (annotations: Record<string, string>) => ({ annotations });

test.each<[why: string, machine: object, facts: Partial<VirtualMachineObject>]>([
  [
    'one of which nothing is known',
    object(),
    {
      wantedPowerState: 'PoweredOn',
      powerState: null,
      vmId: null,
      ip: null,
      class: null,
      image: null,
      conditions: [],
      deleting: false,
      paused: false,
      observed: false,
    },
  ],
  [
    'one that runs',
    object(
      {
        className: 'small',
        image: { kind: 'VirtualMachineImage', name: 'vmi-1' },
        storageClass: 'fast',
        groupName: 'g',
      },
      {},
      {
        powerState: 'PoweredOn',
        uniqueID: 'vm-61',
        nodeName: 'esx-4',
        zone: 'zone-a',
        hardwareVersion: 21,
        network: { primaryIP4: '192.0.2.10', primaryIP6: '2001:db8::1' },
        guest: { guestFullName: 'Other' },
      },
    ),
    {
      class: 'small',
      image: 'vmi-1',
      storageClass: 'fast',
      group: 'g',
      powerState: 'PoweredOn',
      vmId: 'vm-61',
      node: 'esx-4',
      zone: 'zone-a',
      hardwareVersion: 21,
      ip: '192.0.2.10',
      guest: 'Other',
    },
  ],
  [
    'its image by name, its address of the new kind',
    object({ imageName: 'ubuntu', powerState: 'PoweredOff' }, {}, { network: { primaryIP6: '2001:db8::1' } }),
    { image: 'ubuntu', wantedPowerState: 'PoweredOff', ip: '2001:db8::1' },
  ],
  [
    'with volumes',
    object(
      {
        volumes: [
          { name: 'data', persistentVolumeClaim: { claimName: 'c-1' } },
          { name: 'logs', persistentVolumeClaim: { claimName: 'c-2' } },
        ],
      },
      {},
      {
        volumes: [
          { name: 'disk-0', type: 'Classic' },
          { name: 'data', type: 'Managed', attached: true },
          { name: 'old:detaching', type: 'Managed' },
        ],
      },
    ),
    {
      volumes: [
        { name: 'data', claim: 'c-1', problem: null },
        { name: 'logs', claim: 'c-2', problem: 'not attached' },
        { name: 'old', claim: null, problem: 'being detached' },
      ],
    },
  ],
  [
    'paused',
    object(
      {},
      { ...annotated({ 'vmoperator.vmware.com/paused': '' }), labels: { 'vmoperator.vmware.com/paused': 'devops' } },
    ),
    { paused: true, pausedBy: 'devops' },
  ],
  [
    'held',
    object(
      {},
      {
        ...annotated({ 'poweron.check.vmoperator.vmware.com/b': '', 'delete.check.vmoperator.vmware.com/a': '' }),
        deletionTimestamp: '2026-01-31T11:00:00Z',
      },
    ),
    { deleting: true, powerOnChecks: ['b'], deleteChecks: ['a'] },
  ],
  ['only looked at', object({}, annotated({ 'drover.dev/mode': 'observe' })), { observed: true }],
])('%s', (_why, machine, facts) => {
  expect(shownVirtualMachines.schema.parse(machine)).toMatchObject({ namespace: 'team', name: 'web', ...facts });
});

test('what is none', () => {
  for (const answer of [null, {}, { ...object(), kind: 'Node' }, object({ powerState: 'Sleeping' })])
    expect(shownVirtualMachines.schema.safeParse(answer).success).toBe(false);
});

const abort = new AbortController().signal;

/** kube-apiserver that answers the one thing, or these items, and what it was asked. */
function answering(answer: unknown, items: unknown[] = []) {
  const asked: KubernetesRequest[] = [];
  const request = async (one: KubernetesRequest): Promise<unknown> => {
    asked.push(one);
    if (answer instanceof Error) throw answer;
    return one.query?.['limit'] === undefined ? answer : { items };
  };
  const kubernetes = { request } as unknown as Kubernetes;
  return {
    asked,
    access: virtualMachineAccess(
      accessBy(() => Promise.resolve(kubernetes), configSchema.parse({}), abort),
      abort,
    ),
  };
}

test('an annotation is set on that very object, and on no other of its name', async () => {
  const { asked, access } = answering(object());
  await access.annotate({ namespace: 'team', name: 'web', uid: 'u' }, { a: 'b' });
  expect(asked).toEqual([
    {
      method: 'PATCH',
      path: '/apis/vmoperator.vmware.com/v1alpha6/namespaces/team/virtualmachines/web',
      patchType: 'merge',
      query: { fieldManager: 'drover' },
      body: { metadata: { uid: 'u', annotations: { a: 'b' } } },
    },
  ]);
});

test('what is not there, and what is not as it should be', async () => {
  await expect(
    answering(droverFailure('ObjectNotFound', 'no such object')).access.find('team', 'web'),
  ).resolves.toBeNull();
  await expect(answering({ kind: 'Status' }).access.find('team', 'web')).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringMatching(/not as its schema says/u),
  });
  await expect(answering(droverFailure('KubernetesForbidden', 'may not')).access.find('team', 'web')).rejects.toThrow(
    'may not',
  );
  const { asked, access } = answering(null, [object(), { metadata: { namespace: 'team', name: 'odd' } }, null]);
  const { found, unreadable } = await access.list('team');
  await access.list(null);
  expect([found.map(({ name }) => name), unreadable, asked.map(({ path }) => path)]).toEqual([
    ['web'],
    ['team/odd', 'one without a name'],
    [
      '/apis/vmoperator.vmware.com/v1alpha6/namespaces/team/virtualmachines',
      '/apis/vmoperator.vmware.com/v1alpha6/virtualmachines',
    ],
  ]);
});
