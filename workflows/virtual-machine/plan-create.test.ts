import type { ImageCacheFacts } from '../../contracts/virtual-machine-observation.ts';
import { planCreate } from './plan-create.ts';
import type { Given } from './sample.ts';
import { classOf, contextOf, inShort, placedAt, prerequisitesOf, uid } from './sample.ts';

const image = (more: object) => ({ image: { is: 'found' as const, value: { kind: 'VirtualMachineImage', name: 'vmi-1', ready: { status: 'True' as const, reason: 'True', message: '' }, providerKind: 'ContentLibraryItem', providerItemId: 'item-1', providerVersion: '1', type: 'OVF', cacheName: 'vmi-cache', ...more } } });
const group = (more: object = {}) => ({ group: { found: true, linked: true, placement: placedAt, ...more } });
const fast = { settings: { fastDeploy: 'linked' as const } };
const cached = (ready: boolean | null): { imageCache: { is: 'found'; value: ImageCacheFacts } } => ({ imageCache: { is: 'found', value: { hardwareReady: true, locations: [{ datacenterId: 'datacenter-1', datastoreId: 'datastore-1', profileId: 'profile-1', ready, message: 'm' }] } } });
const make = 'patchVirtualMachine, createVirtualMachine';

const rows: [why: string, given: Given, does: string][] = [
  ['GetArgs: all is there', {}, make],
  ['GetArgs: something is missing', { prerequisites: { class: { is: 'notFound', message: '' } } }, 'wait WaitingForPrerequisites'],
  ['GetArgs: there is no room', { observed: { placement: { is: 'notReady', message: 'no room' } } }, 'wait WaitingForPrerequisites'],
  ['a member of a group waits for the group', { desired: { group: 'g', zone: null } }, 'wait WaitingForGroup'],
  ['and for being listed', { desired: { group: 'g', zone: null }, observed: group({ linked: false }) }, 'wait WaitingForGroup'],
  ['and for its place', { desired: { group: 'g', zone: null }, observed: group({ placement: null }) }, 'wait WaitingForGroup'],
  ['and goes there', { desired: { group: 'g', zone: null }, observed: group() }, make],
  ['one whose zone is known does not wait', { desired: { group: 'g' } }, make],
  ['nor does any where groups are switched off', { desired: { group: 'g', zone: null }, settings: { groups: false } }, make],
  ['Concurrent creates allowed No', { observed: { turn: { create: false, destroy: true, taken: null } } }, 'wait TooManyCreates'],
  ['Fast Deploy Yes, VMICacheReady No: it needs no turn yet', { ...fast, observed: { turn: { create: false, destroy: true, taken: null } } }, 'ensureImageCache, patchVirtualMachine'],
  ['what is missing comes before its turn', { observed: { turn: { create: false, destroy: true, taken: null } }, prerequisites: { storageClass: { is: 'notFound', message: '' } } }, 'wait WaitingForPrerequisites'],
  ['Fast Deploy Yes, VMICacheReady No: it asks for the files', { ...fast }, 'ensureImageCache, patchVirtualMachine'],
  ['Fast Deploy Yes, VMICacheReady No: they are on their way', { ...fast, observed: cached(null) }, 'ensureImageCache, patchVirtualMachine'],
  ['Fast Deploy Yes, they cannot be cached', { ...fast, observed: cached(false) }, 'stop ImageCacheFailed'],
  ['Fast Deploy Yes, VMICacheReady Yes', { ...fast, observed: cached(true) }, make],
  ['an item of another type', { prerequisites: image({ type: 'VMTX' }) }, 'stop NotSupported'],
];

test.each(rows)('Create: %s', (_why, given, does) => {
  expect(inShort(planCreate(contextOf({ vm: null, ...given })))).toBe(does);
});

const sources: [why: string, given: Given, source: object][] = [
  ['Fast Deploy No: from the content library', {}, { from: 'contentLibraryItem', itemId: 'item-1' }],
  ['an inventory template', { prerequisites: image({ providerItemId: 'vm-7', type: 'VM', providerKind: 'VirtualMachine' }) }, { from: 'template', moId: 'vm-7' }],
  ['an ISO', { prerequisites: image({ type: 'ISO' }) }, { from: 'nothing' }],
  ['an ISO is never cached', { ...fast, prerequisites: image({ type: 'ISO' }) }, { from: 'nothing' }],
  ['CheckMode linked', { ...fast }, { from: 'cachedDisks', itemId: 'item-1', how: 'linked' }],
  ['CheckMode direct', { settings: { fastDeploy: 'direct' } }, { from: 'cachedDisks', itemId: 'item-1', how: 'direct' }],
  ['the VM’s own mode comes first', { ...fast, desired: { fastDeploy: 'direct' } }, { from: 'cachedDisks', itemId: 'item-1', how: 'direct' }],
  ['and any other word switches it off', { ...fast, desired: { fastDeploy: 'off' } }, { from: 'contentLibraryItem', itemId: 'item-1' }],
  ['it is off where the feature is, whatever the VM says', { desired: { fastDeploy: 'direct' } }, { from: 'contentLibraryItem', itemId: 'item-1' }],
  ['instance storage switches it off', { ...fast, prerequisites: { class: { is: 'found', value: classOf({ instanceStorage: true }) } } }, { from: 'contentLibraryItem', itemId: 'item-1' }],
  ['encrypted storage cannot be linked', { ...fast, prerequisites: { storageClass: { is: 'found', value: { profileId: 'profile-1', hasDatastore: true, encrypted: true } } } }, { from: 'cachedDisks', itemId: 'item-1', how: 'direct' }],
  ['nor with a device that is passed through', { ...fast, prerequisites: { class: { is: 'found', value: classOf({ passthrough: true }) } } }, { from: 'cachedDisks', itemId: 'item-1', how: 'direct' }],
];

test.each(sources)('where the disks come from: %s', (_why, given, source) => {
  const outcome = planCreate(contextOf({ vm: null, ...given, observed: cached(true) }));
  expect(outcome.is === 'act' ? outcome.steps.flatMap((step) => (step.do === 'createVirtualMachine' ? [step.create.source] : [])) : []).toEqual([source]);
});

test('the call says all: mark, UUIDs, size, cards; and its zone is noted first', () => {
  const outcome = planCreate(contextOf({ vm: null, desired: { zone: null, instanceUuid: null, biosUuid: null, config: { ...contextOf().desired.config, extraConfig: { 'a.b': '1' } } }, prerequisites: prerequisitesOf() }));
  const [notes, create] = outcome.is === 'act' ? outcome.steps : [];
  expect(notes).toMatchObject({ patches: [{ labels: { 'topology.kubernetes.io/zone': 'zone-a' }, annotations: { 'vmoperator.vmware.com/last-resized-vm-class': '{"Name":"small","UID":"class-1","Generation":1}' } }] });
  expect(create).toMatchObject({
    do: 'createVirtualMachine',
    blocking: false,
    create: {
      name: 'web',
      instanceUuid: uid,
      uuid: uid,
      at: placedAt,
      config: {
        numCPUs: 2,
        memoryMB: 4_096,
        extraConfig: [{ key: 'a.b', value: '1' }, { key: 'vmservice.extraconfig.managedKeys', value: 'a.b' }, { key: 'vmservice.namespacedName', value: 'team/web' }, { key: 'drover.uid', value: uid }],
        deviceChange: [{ operation: 'add', device: 'networkCard', card: { key: null, type: 'VMXNet3', macAddress: null, backing: 'network-1' } }],
      },
    },
  });
});

test('CheckAsyncMode No: the call is waited for before anything else', () => {
  const outcome = planCreate(contextOf({ vm: null, settings: { asyncCreate: false } }));
  expect(outcome.is === 'act' ? outcome.steps.at(-1) : null).toMatchObject({ blocking: true });
});
