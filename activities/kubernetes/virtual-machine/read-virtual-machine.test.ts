import type { VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { virtualMachineConfig, virtualMachineSettings } from '../../../runtime/config/virtual-machine-config.ts';
import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { apiVersion, sampleMetadata, sampleVirtualMachine } from '../../../test/fixtures/activities/virtual-machine.ts';
import { createVirtualMachineObjectActivities } from './activities.ts';
import { hashSecret } from './hash-secret.ts';
import { imageCacheName } from './read-objects.ts';

const settings = (more: Partial<VirtualMachineSettings> = {}) => ({
  ...virtualMachineSettings(virtualMachineConfig.parse(undefined), { vcenters: ['vc'], cluster: '', mode: 'act' }),
  ...more,
});
const metadata = sampleMetadata;
const ready = (status: string) => ({
  type: 'Ready',
  status,
  reason: 'Synced',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const image = (kind: string, conditions: object[], more: object = {}) => ({
  apiVersion,
  kind,
  metadata,
  spec: {},
  status: { conditions, providerItemID: '0f6f-item', type: 'OVF', ...more },
});

const all: Record<string, unknown> = {
  'virtualmachines/web': sampleVirtualMachine({
    spec: { className: 'small', imageName: 'vmi-1', storageClass: 'fast' },
  }),
  'virtualmachineclasses/small': {
    apiVersion,
    kind: 'VirtualMachineClass',
    metadata: { ...metadata, name: 'small' },
    spec: { hardware: { cpus: 2, memory: '4Gi' }, policies: { resources: { requests: { cpu: '500m' } } } },
  },
  'virtualmachineimages/vmi-1': image('VirtualMachineImage', [ready('True')]),
  'clustervirtualmachineimages/iso-1': image('ClusterVirtualMachineImage', [ready('True')], {
    type: 'ISO',
    providerItemID: 'iso-item',
  }),
  'storageclasses/fast': { metadata, parameters: { storagePolicyID: 'profile-1' } },
};

/** kube-apiserver, with these answers; what is not among them is not there. */
function activities(
  answers: Record<string, unknown> = {},
  {
    workflowId = 'virtualmachine/team/web',
    own = settings(),
    started = [],
  }: { workflowId?: string; own?: VirtualMachineSettings | null; started?: unknown[] } = {},
) {
  const given = { ...all, ...answers };
  const request = async ({ path }: { path: string }): Promise<unknown> => {
    const answer = given[path.split('/').slice(-2).join('/')];
    if (answer instanceof Error) throw answer;
    if (answer === undefined)
      throw refusalFailure(
        404,
        JSON.stringify({ kind: 'Status', message: 'not found', details: { name: 'x' } }),
        `GET ${path}`,
      );
    return answer;
  };
  return createVirtualMachineObjectActivities({
    client: openObjects({ request } as unknown as Kubernetes),
    settings: own,
    imageCacheNamespace: 'drover-system',
    hashSecret,
    signalWithStart: async (...args) => void started.push(args),
    stopGate: async () => undefined,
    audit: { record: async () => undefined },
    clock: systemClock,
    scope: () => ({
      signal: new AbortController().signal,
      deadlineMs: Infinity,
      heartbeatDetails: undefined,
      run: { workflowId, runId: 'r' },
      heartbeat: () => undefined,
      scheduledMs: 0,
      waitedMs: 0,
      warn: () => undefined,
    }),
  });
}
const key = { namespace: 'team', name: 'web' };
const objectsOf = async (
  answers: Record<string, unknown> = {},
  own = settings({ fastDeploy: null, groups: false }),
) => {
  const read = await activities(answers, { own }).readVirtualMachine(key);
  if (read.kind !== 'observed') throw new Error('it was not read');
  return read.observed.objects;
};
const vm = (spec: object, more: object = {}) => ({
  'virtualmachines/web': sampleVirtualMachine({ spec, metadata: more }),
});

test('a kind that is off is left alone, and says which setting that is', async () => {
  expect(await activities({}, { own: null }).readVirtualMachine(key)).toEqual({
    kind: 'nothing',
    message: expect.stringContaining('modes.VirtualMachine'),
  });
});

test('a run under another id hands over to the VM’s own', async () => {
  const started: unknown[] = [];
  expect(
    await activities({}, { workflowId: 'by-hand', started }).readVirtualMachine({ ...key, startedBy: 'somebody' }),
  ).toEqual({ kind: 'handedOver', message: 'Run virtualmachine/team/web drives team/web' });
  expect(started).toEqual([[key, 'somebody']]);
});

test('nonsense is refused before anything else', async () => {
  await expect(activities({}, { own: null }).readVirtualMachine({ namespace: '', name: '' })).rejects.toMatchObject({
    type: 'InvalidInput',
  });
});

test('who starts it by hand may ask for less than the settings, not for more', async () => {
  expect(await activities().readVirtualMachine({ ...key, mode: 'observe' })).toMatchObject({
    settings: { mode: 'observe' },
  });
  expect(
    await activities({}, { own: settings({ mode: 'observe' }) }).readVirtualMachine({ ...key, mode: 'act' }),
  ).toMatchObject({ settings: { mode: 'observe' } });
});

test('a VirtualMachine that is not there', async () => {
  expect(await activities({ 'virtualmachines/web': undefined }).readVirtualMachine(key)).toMatchObject({
    kind: 'observed',
    desired: null,
    observed: { recorded: {}, objects: { class: null, bootstrap: null } },
  });
});

test('only a VirtualMachine that cannot be read is a failure', async () => {
  const forbidden = refusalFailure(403, '', 'GET /x');
  await expect(activities({ 'virtualmachines/web': forbidden }).readVirtualMachine(key)).rejects.toMatchObject({
    type: 'KubernetesForbidden',
  });
  const malformed = { ...sampleVirtualMachine(), spec: { powerState: 'Broken' } };
  await expect(activities({ 'virtualmachines/web': malformed }).readVirtualMachine(key)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringContaining('spec.powerState'),
  });
  expect(
    await objectsOf({
      'virtualmachineclasses/small': forbidden,
      'virtualmachineimages/vmi-1': forbidden,
      'storageclasses/fast': forbidden,
    }),
  ).toMatchObject({ class: { kind: 'forbidden' }, image: { kind: 'forbidden' }, storageClass: { kind: 'forbidden' } });
});

test('everything that it names, in one look', async () => {
  expect(await objectsOf()).toEqual({
    class: {
      kind: 'found',
      value: expect.objectContaining({
        name: 'small',
        compute: expect.objectContaining({
          numCPUs: 2,
          memoryMB: 4_096,
          cpuAllocation: { reservation: 500, limit: -1 },
        }),
      }),
    },
    image: {
      kind: 'found',
      value: expect.objectContaining({
        kind: 'VirtualMachineImage',
        providerItemId: '0f6f-item',
        cacheName: imageCacheName('0f6f-item'),
      }),
    },
    resourcePolicy: null,
    storageClass: { kind: 'found', value: { profileId: 'profile-1' } },
    bootstrap: { kind: 'found', value: expect.objectContaining({ isDefault: true }) },
    isos: {},
    networks: [],
    imageCache: null,
    group: null,
    snapshots: { inProgress: null, problem: null },
    volumes: null,
  });
});

const facts: [why: string, answers: Record<string, unknown>, facts: object][] = [
  ['nothing is named', vm({}), { class: null, image: null, resourcePolicy: null, storageClass: null }],
  ['a kind that is no image', vm({ image: { kind: 'ConfigMap', name: 'c' } }), { image: null }],
  [
    'nothing of it is there',
    vm({ className: 'x', imageName: 'x', storageClass: 'x', reserved: { resourcePolicyName: 'x' } }),
    {
      class: { kind: 'notFound' },
      image: { kind: 'notFound' },
      storageClass: { kind: 'notFound' },
      resourcePolicy: { kind: 'notFound' },
    },
  ],
  [
    'a StorageClass without a policy',
    { 'storageclasses/fast': { metadata, parameters: { type: 'thin' } } },
    { storageClass: { kind: 'invalid', message: expect.stringContaining('storagePolicyID') } },
  ],
  [
    'a class without a size',
    { 'virtualmachineclasses/small': { apiVersion, kind: 'VirtualMachineClass', metadata } },
    { class: { kind: 'invalid' } },
  ],
  [
    'an ISO that is ready',
    vm({ hardware: { cdrom: [{ name: 'cd1', image: { kind: 'ClusterVirtualMachineImage', name: 'iso-1' } }] } }),
    { isos: { cd1: 'iso-item' } },
  ],
  [
    'an ISO that is not',
    {
      ...vm({
        hardware: {
          cdrom: [
            { name: 'cd1', image: { kind: 'VirtualMachineImage', name: 'vmi-1' } },
            { name: 'cd2', image: { kind: 'VirtualMachineImage', name: 'x' } },
          ],
        },
      }),
      'virtualmachineimages/vmi-1': image('VirtualMachineImage', [ready('False')]),
    },
    {
      isos: { cd1: null, cd2: null },
      lackingIsos: {
        cd1: { reason: expect.any(String) },
        cd2: { reason: 'NotFound', message: 'There is no VirtualMachineImage x' },
      },
    },
  ],
  [
    'networks in their order',
    vm({ network: { interfaces: [{ name: 'eth1', network: { name: 'blue' } }, { name: 'eth0' }] } }),
    {
      networks: [
        { name: 'eth1', network: 'blue' },
        { name: 'eth0', network: null },
      ],
    },
  ],
  ['a group, while groups are off', vm({ groupName: 'g' }), { group: null }],
];
test.each(facts)('%s', async (_why, answers, expected) => {
  expect(await objectsOf(answers)).toMatchObject(expected);
});

test('a group that is not there, or whose kind is not', async () => {
  const own = settings({ groups: true });
  expect(await objectsOf(vm({ groupName: 'g' }), own)).toMatchObject({ group: { found: false } });
  expect(
    await objectsOf(
      { ...vm({ groupName: 'g' }), 'virtualmachinegroups/g': refusalFailure(404, '404 page not found', 'GET /x') },
      own,
    ),
  ).toMatchObject({ group: { found: false, linked: false, placement: null, unknownKind: true } });
});

test('fast deploy where it can be: the image cache is read until the VM is made', async () => {
  const own = settings({ fastDeploy: 'auto' });
  const name = imageCacheName('0f6f-item');
  const silent = { [`virtualmachineimagecaches/${name}`]: { metadata, spec: { providerID: '0f6f-item' } } };
  expect(await objectsOf(silent, own)).toMatchObject({
    imageCache: {
      kind: 'found',
      value: { silentSinceMs: Date.parse('2026-01-01T00:00:00Z'), hardwareReady: false, locations: [] },
    },
  });
  const unserved = { [`virtualmachineimagecaches/${name}`]: refusalFailure(404, '404 page not found', 'GET /x') };
  expect(await objectsOf(unserved, own)).toMatchObject({ imageCache: { kind: 'notFound', unknownKind: true } });
  const made = (more: object = {}) => ({
    'virtualmachines/web': sampleVirtualMachine({
      spec: { imageName: 'vmi-1' },
      status: { uniqueID: 'vm-1' },
      metadata: more,
    }),
  });
  expect(await objectsOf({ ...silent, ...made() }, own)).toMatchObject({ imageCache: null });
  const asks = made({ annotations: { 'vmoperator.vmware.com/fast-deploy': 'direct' } });
  expect(await objectsOf({ ...silent, ...asks }, own)).toMatchObject({ imageCache: { kind: 'found' } });
});

test('the image cache that it waits for, else that of its image', async () => {
  const own = settings({ fastDeploy: 'linked' });
  const cache = {
    metadata,
    spec: { providerID: '0f6f-item', locations: [] },
    status: {
      conditions: [{ ...ready('True'), type: 'VirtualMachineImageCacheHardwareReady' }],
      locations: [
        { datacenterID: 'dc', datastoreID: 'ds', profileID: 'p', conditions: [ready('True')] },
        { datacenterID: 'dc', datastoreID: 'ds-2', profileID: 'p' },
      ],
    },
  };
  const name = imageCacheName('0f6f-item');
  expect(await objectsOf({ [`virtualmachineimagecaches/${name}`]: cache }, own)).toMatchObject({
    imageCache: {
      kind: 'found',
      value: {
        hardwareReady: true,
        locations: [
          { datacenterId: 'dc', datastoreId: 'ds', profileId: 'p', ready: true },
          { datastoreId: 'ds-2', ready: null },
        ],
      },
    },
  });
  const waiting = vm({ imageName: 'vmi-1' }, { labels: { 'vmicache.vmoperator.vmware.com/name': 'vmi-other' } });
  expect(
    await objectsOf(
      { ...waiting, 'virtualmachineimagecaches/vmi-other': refusalFailure(404, '404 page not found', 'GET /x') },
      own,
    ),
  ).toMatchObject({ imageCache: { kind: 'notFound', message: expect.stringContaining('vmi-other') } });
});

test('the name of an image cache', () => {
  expect(imageCacheName('a-b')).toBe(imageCacheName('ab'));
  expect(imageCacheName('ab')).toBe('vmi-da23614e02469a0d7');
});
