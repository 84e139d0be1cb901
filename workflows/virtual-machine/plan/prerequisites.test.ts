import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { ObservedImage, Prerequisites } from '../../../contracts/virtual-machine/observation.ts';
import { judgePrerequisites, obstacleOf } from './prerequisites.ts';
import { classOf, desiredOf, imageOf, prerequisitesOf } from '../../../test/fixtures/workflows/virtual-machine.ts';

const image = (more: Partial<ObservedImage>): Pick<Prerequisites, 'image'> => ({
  image: { kind: 'found', value: imageOf(more) },
});
const policy = (more: object): Pick<Prerequisites, 'resourcePolicy'> => ({
  resourcePolicy: {
    kind: 'found',
    value: { name: 'p', deleting: false, folder: null, resourcePool: null, modules: {}, ...more },
  },
});
const storage = (hasDatastore: boolean, encrypted = false): Pick<Prerequisites, 'storageClass'> => ({
  storageClass: { kind: 'found', value: { profileId: 'p', hasDatastore, encrypted } },
});
const secrets = (...missingKeys: string[]): Pick<Prerequisites, 'bootstrap'> => ({
  bootstrap: { kind: 'found', value: { missingKeys, configHash: null, customHash: null, isDefault: false } },
});
const not = (kind: 'notFound' | 'forbidden' | 'invalid' | 'internalError' | 'failed') => ({
  kind,
  message: 'its message',
});

const drive = { cdroms: [{ name: 'cd1', connected: true, allowGuestControl: true }] };

type Row = [
  why: string,
  given: Partial<Prerequisites>,
  type: string,
  said: string,
  desired?: Partial<DesiredVirtualMachine>,
];
const rows: Row[] = [
  ['a class', {}, 'VirtualMachineClassReady', 'True True'],
  ['a class that is missing', { class: not('notFound') }, 'VirtualMachineClassReady', 'False NotFound'],
  ['a class that may not be read', { class: not('forbidden') }, 'VirtualMachineClassReady', 'False Forbidden'],
  ['a class that is nonsense', { class: not('invalid') }, 'VirtualMachineClassReady', 'False Invalid'],
  ['kube-apiserver in trouble', { class: not('internalError') }, 'VirtualMachineClassReady', 'False InternalError'],
  ['any other answer', { class: not('failed') }, 'VirtualMachineClassReady', 'False GetError'],
  [
    'a class of devices that drover does not make',
    {
      class: { kind: 'found', value: classOf({ refused: ['spec.reservedSlots: drover does not use reserved slots'] }) },
    },
    'VirtualMachineClassReady',
    'False NotSupported',
  ],
  ['storage that is encrypted', storage(true, true), 'VirtualMachineStorageReady', 'False NotSupported'],
  ['a classless VM', { class: null }, 'VirtualMachineClassReady', 'none', { className: null }],
  ['an image', {}, 'VirtualMachineImageReady', 'True True'],
  ['no image', { image: null }, 'VirtualMachineImageReady', 'False NotSet', { image: null }],
  [
    'an image of another kind',
    {},
    'VirtualMachineImageReady',
    'False UnknownKind',
    { image: { kind: 'ConfigMap', name: 'x' } },
  ],
  ['an image that is missing', { image: not('notFound') }, 'VirtualMachineImageReady', 'False NotFound'],
  ['an image that says nothing', image({ ready: null }), 'VirtualMachineImageReady', 'False Unknown'],
  [
    'an image that is not ready, with its own message',
    image({ ready: { status: 'False', reason: 'ProviderNotReady', message: 'm' } }),
    'VirtualMachineImageReady',
    'False ProviderNotReady',
  ],
  [
    'an image that is not ready, without a message',
    image({ ready: { status: 'False', reason: '', message: 'm' } }),
    'VirtualMachineImageReady',
    'False NotReady',
  ],
  ['an image from elsewhere', image({ providerKind: 'Registry' }), 'VirtualMachineImageReady', 'False NotSupported'],
  ['an image without an item', image({ providerItemId: null }), 'VirtualMachineImageReady', 'False NotReady'],
  ['no policy', {}, 'VirtualMachineConditionVMSetResourcePolicyReady', 'none'],
  ['a policy', policy({}), 'VirtualMachineConditionVMSetResourcePolicyReady', 'True True'],
  [
    'a policy on its way out',
    policy({ deleting: true }),
    'VirtualMachineConditionVMSetResourcePolicyReady',
    'False NotReady',
  ],
  [
    'a policy that is not made',
    policy({ unmade: 'a user has cancelled its run' }),
    'VirtualMachineConditionVMSetResourcePolicyReady',
    'False NotReady',
  ],
  [
    'a policy whose module is not made',
    policy({ modules: { web: null } }),
    'VirtualMachineConditionVMSetResourcePolicyReady',
    'False NotReady',
    { clusterModule: 'web' },
  ],
  [
    'a policy with its module',
    policy({ modules: { web: 'uuid' } }),
    'VirtualMachineConditionVMSetResourcePolicyReady',
    'True True',
    { clusterModule: 'web' },
  ],
  ['no bootstrap', {}, 'VirtualMachineBootstrapReady', 'none'],
  ['Secrets of the bootstrap', secrets(), 'VirtualMachineBootstrapReady', 'True True'],
  ['a Secret that is missing', { bootstrap: not('notFound') }, 'VirtualMachineBootstrapReady', 'False NotFound'],
  ['a key that is missing', secrets('s/user-data'), 'VirtualMachineBootstrapReady', 'False RequiredKeyNotFound'],
  ['storage', {}, 'VirtualMachineStorageReady', 'True True'],
  [
    'no storage class',
    { storageClass: null },
    'VirtualMachineStorageReady',
    'False StorageClassRequired',
    { storageClass: null },
  ],
  [
    'a storage class that is missing',
    { storageClass: not('notFound') },
    'VirtualMachineStorageReady',
    'False NotFound',
  ],
  [
    'a storage class of a policy that vCenter does not have',
    {
      storageClass: {
        kind: 'found',
        value: { profileId: 'p', hasDatastore: true, encrypted: false, unknownProfile: true },
      },
    },
    'VirtualMachineStorageReady',
    'False StoragePolicyNotFound',
  ],
  ['a storage class that no datastore has', storage(false), 'VirtualMachineStorageReady', 'False DatastoreNotFound'],
  ['a network', {}, 'VirtualMachineNetworkReady', 'True True'],
  [
    'a network that is not ready',
    { network: { interfaces: [{ name: 'eth0', backing: null, message: 'no port' }] } },
    'VirtualMachineNetworkReady',
    'False NotReady',
  ],
  ['a network that was not read', { network: null }, 'VirtualMachineNetworkReady', 'False NotReady'],
  ['no network at all', { network: null }, 'VirtualMachineNetworkReady', 'none', { networkDisabled: true }],
  ['no cards', { network: null }, 'VirtualMachineNetworkReady', 'none', { networkCards: [] }],
  ['drives with their ISOs', { isos: { cd1: '[ds] a.iso' } }, 'VirtualMachineHardwareCDROMVerified', 'none', drive],
  [
    'a drive whose image is not ready',
    { isos: { cd1: null } },
    'VirtualMachineHardwareCDROMVerified',
    'False NotReady',
    drive,
  ],
  [
    'a drive whose image is missing',
    { isos: { cd1: null }, lackingIsos: { cd1: { reason: 'NotFound', message: 'm' } } },
    'VirtualMachineHardwareCDROMVerified',
    'False NotFound',
    drive,
  ],
];

test.each(rows)('Get create arguments: %s', (_why, given, type, message, desired = {}) => {
  const judged = judgePrerequisites(desiredOf(desired), prerequisitesOf(given)).find((one) => one.type === type);
  expect(judged?.condition === null ? 'none' : `${judged?.condition?.status} ${judged?.condition?.reason}`).toBe(
    message,
  );
});

test('all that is missing is said at once, and nothing is missing where all is there', () => {
  const judged = judgePrerequisites(
    desiredOf(),
    prerequisitesOf({ class: not('notFound'), storageClass: not('forbidden') }),
  );
  expect(obstacleOf(judged)).toEqual({
    reason: 'NotFound',
    message: 'VirtualMachineClassReady (NotFound): its message. VirtualMachineStorageReady (Forbidden): its message',
  });
  expect(obstacleOf(judgePrerequisites(desiredOf(), prerequisitesOf()))).toBeNull();
});
