import type { CachedFile } from '../../../contracts/virtual-machine/cached-files.ts';
import type { ObservedImage } from '../../../contracts/virtual-machine/observation.ts';
import { judgeFiles } from './cached-files.ts';
import { fastDeployOf, planCreate } from './create.ts';
import {
  beginMs,
  cachedOf,
  classOf,
  contextOf,
  desiredOf,
  hardwareOf,
  imageOf,
  inShort,
  minute,
  placedAt,
  prerequisitesOf,
  uid,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';

const image = (more: Partial<ObservedImage>) => ({ image: { kind: 'found' as const, value: imageOf(more) } });
const group = (more: object = {}) => ({ group: { found: true, linked: true, placement: placedAt, ...more } });
const fast = { settings: { fastDeploy: 'linked' as const } };
const cached = (ready: boolean | null) => ({ imageCache: cachedOf({ ready }) });
const larger = { config: { ...desiredOf().config, bootDiskBytes: 2 * 1_024 ** 3 } };
const auto = { settings: { fastDeploy: 'auto' as const } };
const noCache = { imageCache: { kind: 'notFound' as const, message: 'm' } };
const unserved = { imageCache: { kind: 'notFound' as const, message: 'm', unknownKind: true as const } };
const silentSince = (ms: number) => ({
  kind: 'found' as const,
  value: { hardwareReady: false, silentSinceMs: ms, locations: [] },
});
const askedAt = (minutes: number): string => new Date(beginMs + minutes * minute).toISOString();
const make = 'createVirtualMachine';

const rows: [why: string, given: Given, does: string][] = [
  ['GetArgs: all is there', {}, make],
  [
    'GetArgs: something is missing',
    { prerequisites: { class: { kind: 'notFound', message: '' } } },
    'wait WaitingForPrerequisites',
  ],
  [
    'GetArgs: a drive has no ISO, and none is made without it',
    { desired: { cdroms: [{ name: 'cd1', connected: true, allowGuestControl: true }] } },
    'wait WaitingForPrerequisites',
  ],
  [
    'GetArgs: there is no room',
    { observed: { placement: { kind: 'notReady', message: 'no room' } } },
    'wait WaitingForPrerequisites',
  ],
  ['a member of a group waits for the group', { desired: { group: 'g', zone: null } }, 'wait WaitingForGroup'],
  [
    'and for being listed',
    { desired: { group: 'g', zone: null }, observed: group({ linked: false }) },
    'wait WaitingForGroup',
  ],
  [
    'and for its place',
    { desired: { group: 'g', zone: null }, observed: group({ placement: null }) },
    'wait WaitingForGroup',
  ],
  ['and goes there', { desired: { group: 'g', zone: null }, observed: group() }, make],
  ['one whose zone is known does not wait', { desired: { group: 'g' } }, make],
  [
    'nor does any where groups are switched off',
    { desired: { group: 'g', zone: null }, settings: { groups: false } },
    make,
  ],
  ['Fast Deploy Yes, VMICacheReady No: it asks for the files', { ...fast }, 'ensureImageCache, patchVirtualMachine'],
  [
    'Fast Deploy Yes, VMICacheReady No: they are on their way',
    { ...fast, observed: cached(null) },
    'ensureImageCache, patchVirtualMachine',
  ],
  ['Fast Deploy Yes, they cannot be cached', { ...fast, observed: cached(false) }, 'requeue ImageCacheFailed'],
  ['Fast Deploy Yes, VMICacheReady Yes, CheckMode linked', { ...fast, observed: cached(true) }, make],
  [
    'CheckMode direct: each disk is copied, and kept when it is whole',
    { settings: { fastDeploy: 'direct' }, observed: cached(true) },
    'patchVirtualMachine, copyDisk, keepDisk, createVirtualMachine',
  ],
  [
    'and the NVRAM',
    {
      ...fast,
      observed: {
        imageCache: cachedOf({
          more: [
            { path: '[fast] cache/web.NVRAM', kind: 'other' },
            { path: '[fast] cache/web.mf', kind: 'other' },
          ],
        }),
      },
    },
    'patchVirtualMachine, copyOther, createVirtualMachine',
  ],
  [
    'what was copied elsewhere goes first',
    {
      ...fast,
      desired: { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-9' } },
      observed: cached(true),
    },
    'removeFolder, patchVirtualMachine',
  ],
  [
    'what was copied there before, not noted of which files, is gone on with',
    {
      ...fast,
      desired: { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1' } },
      observed: cached(true),
    },
    make,
  ],
  [
    'what was copied of another version of the image goes first: a VM has disks of one',
    {
      settings: { fastDeploy: 'direct' },
      desired: { copiesAt: { datacenter: 'datacenter-1', datastore: 'datastore-1', sources: '1:0' } },
      observed: cached(true),
    },
    'removeFolder, patchVirtualMachine',
  ],
  [
    'a linked disk cannot be larger than its parent',
    { ...fast, desired: larger, observed: cached(true) },
    'stop NotSupported',
  ],
  ['before its files are asked for', { ...fast, desired: larger }, 'stop NotSupported'],
  [
    'a copy can',
    { settings: { fastDeploy: 'direct' }, desired: larger, observed: cached(true) },
    'patchVirtualMachine, copyDisk, keepDisk, createVirtualMachine',
  ],
  [
    'Fast Deploy where it can be: it asks for the files',
    { ...auto, observed: noCache },
    'ensureImageCache, patchVirtualMachine',
  ],
  [
    'and has copies of them, never links',
    { ...auto, observed: cached(true) },
    'patchVirtualMachine, copyDisk, keepDisk, createVirtualMachine',
  ],
  ['where the kind is not served, its item is deployed', { ...auto, observed: unserved }, make],
  ['where it may not be read', { ...auto, observed: { imageCache: { kind: 'forbidden', message: 'm' } } }, make],
  ['where its files cannot be cached', { ...auto, observed: cached(false) }, make],
  [
    'where they are cached as a first-class disk',
    { ...auto, observed: { imageCache: cachedOf({ more: [{ path: 'f-1', kind: 'managedDisk' }] }) } },
    make,
  ],
  [
    'where other files are cached than the image has disks',
    { ...auto, observed: { imageCache: cachedOf({ files: 2 }) } },
    make,
  ],
  [
    'where its datastore has no folders of files',
    { ...auto, observed: { ...noCache, placement: { kind: 'placed', at: { ...placedAt, noFolders: true } } } },
    make,
  ],
  [
    'where no controller has said a word of its image',
    { ...auto, observed: { imageCache: silentSince(beginMs - 3 * minute) } },
    make,
  ],
  [
    'unless that is not long ago',
    { ...auto, observed: { imageCache: silentSince(beginMs - 2 * minute) } },
    'ensureImageCache, patchVirtualMachine',
  ],
  [
    'where nothing came of it in time',
    { ...auto, desired: { imageCacheAskedAt: askedAt(-3) }, observed: cached(null) },
    make,
  ],
  [
    'a VM that asks for it has no other way',
    { ...auto, desired: { fastDeploy: 'direct' }, observed: cached(false) },
    'requeue ImageCacheFailed',
  ],
  ['a VM that refuses it', { ...auto, desired: { fastDeploy: 'off' }, observed: cached(true) }, make],
  [
    'where there are no groups at all, none is waited for',
    {
      desired: { group: 'g', zone: null },
      observed: { group: { found: false, linked: false, placement: null, unknownKind: true } },
    },
    make,
  ],
  [
    'the spec asks for what drover does not do',
    { desired: { refused: ['spec.affinity: drover does not do that'] } },
    'stop NotSupported',
  ],
  [
    'and so does its class',
    { prerequisites: { class: { kind: 'found', value: classOf({ refused: ['spec.reservedSlots: not'] }) } } },
    'wait WaitingForPrerequisites',
  ],
  [
    'its storage would have to be encrypted',
    {
      prerequisites: {
        storageClass: { kind: 'found', value: { profileId: 'profile-1', hasDatastore: true, encrypted: true } },
      },
    },
    'wait WaitingForPrerequisites',
  ],
  ['an item of another type', { prerequisites: image({ type: 'VMTX' }) }, 'stop NotSupported'],
];

test.each(rows)('Create: %s', (_why, given, does) => {
  expect(inShort(planCreate(contextOf({ vm: null, ...given })))).toBe(does);
});

const sources: [why: string, given: Given, source: object][] = [
  ['Fast Deploy No: from the content library', {}, { kind: 'contentLibraryItem', itemId: 'item-1' }],
  [
    'an inventory template',
    { prerequisites: image({ providerItemId: 'vm-7', type: 'VM', providerKind: 'VirtualMachine' }) },
    { kind: 'template', moId: 'vm-7' },
  ],
  ['an ISO', { prerequisites: image({ type: 'ISO' }) }, { kind: 'nothing' }],
  ['an ISO is never cached', { ...fast, prerequisites: image({ type: 'ISO' }) }, { kind: 'nothing' }],
  ['CheckMode linked', { ...fast }, { kind: 'cachedDisks', itemId: 'item-1', mode: 'linked' }],
  [
    'CheckMode direct',
    { settings: { fastDeploy: 'direct' } },
    { kind: 'cachedDisks', itemId: 'item-1', mode: 'direct' },
  ],
  [
    'the VM’s own mode comes first',
    { ...fast, desired: { fastDeploy: 'direct' } },
    { kind: 'cachedDisks', itemId: 'item-1', mode: 'direct' },
  ],
  [
    'and any other value switches it off',
    { ...fast, desired: { fastDeploy: 'off' } },
    { kind: 'contentLibraryItem', itemId: 'item-1' },
  ],
  [
    'it is off where the feature is, whatever the VM says',
    { desired: { fastDeploy: 'direct' } },
    { kind: 'contentLibraryItem', itemId: 'item-1' },
  ],
  [
    'instance storage switches it off',
    { ...fast, desired: { instanceStorage: { host: { id: 'host-1', node: 'esx-1.lab' }, isBound: true } } },
    { kind: 'contentLibraryItem', itemId: 'item-1' },
  ],
  [
    'disks that shall be allocated whole cannot be linked',
    { ...fast, desired: { config: { ...contextOf().desired.config, provisioning: 'thick' } } },
    { kind: 'cachedDisks', itemId: 'item-1', mode: 'direct' },
  ],
  [
    'nor with a device that is passed through',
    { ...fast, prerequisites: { class: { kind: 'found', value: classOf({ passthrough: true }) } } },
    { kind: 'cachedDisks', itemId: 'item-1', mode: 'direct' },
  ],
];

test.each(sources)('where the disks come from: %s', (_why, given, source) => {
  const outcome = planCreate(contextOf({ vm: null, ...given, observed: cached(true) }));
  expect(
    outcome.kind === 'execute'
      ? outcome.steps.flatMap((step) => (step.kind === 'createVirtualMachine' ? [step.create.source] : []))
      : [],
  ).toMatchObject([source]);
});

test.each([
  ['a profile of SPBM', '0b8fdd53-1111-4111-8111-111111111111', '0b8fdd53-1111-4111-8111-111111111111'],
  ['a word of the settings', 'gold', undefined],
])('the VM is tagged with %s, where it is one', (_what, profileId, storageProfileId) => {
  const outcome = planCreate(
    contextOf({
      vm: null,
      prerequisites: { storageClass: { kind: 'found', value: { profileId, hasDatastore: true, encrypted: false } } },
    }),
  );
  const [create] = outcome.kind === 'execute' ? outcome.steps : [];
  expect(create?.kind === 'createVirtualMachine' ? create.create.storageProfileId : null).toBe(storageProfileId);
});

test('a VM that waited for cached files in vain says so, and is called waiting no longer', () => {
  const outcome = planCreate(
    contextOf({
      vm: null,
      ...auto,
      desired: {
        imageCache: { name: 'vmi-cache', location: 'datacenter-1,datastore-1,profile-1' },
        imageCacheAskedAt: askedAt(-3),
      },
      observed: cached(null),
    }),
  );
  expect(outcome).toMatchObject({
    steps: [
      {
        summary: 'Make VM web from item item-1, as nothing has cached its files within 300 s',
        notes: [
          {
            labels: { 'vmicache.vmoperator.vmware.com/name': null },
            annotations: { 'vmicache.vmoperator.vmware.com/location': null },
          },
        ],
      },
    ],
  });
});

test('since when files are waited for is noted with the question, once', () => {
  const notedOf = (desired: NonNullable<Given['desired']>) => {
    const outcome = planCreate(contextOf({ vm: null, ...auto, desired, observed: noCache }));
    return outcome.kind === 'execute' ? outcome.steps.at(-1) : null;
  };
  const asked = { 'drover.dev/image-cache-asked': expect.any(String) as string };
  expect(notedOf({})).toMatchObject({ patches: [{ annotations: asked }] });
  expect(notedOf({ imageCacheAskedAt: askedAt(1) })).toMatchObject({
    patches: [{ annotations: expect.not.objectContaining(asked) as object }],
  });
});

test('encrypted storage cannot be linked', () => {
  const storageClass = {
    kind: 'found',
    value: { profileId: 'profile-1', hasDatastore: true, encrypted: true },
  } as const;
  expect(fastDeployOf(contextOf({ vm: null, ...fast, prerequisites: { storageClass } }))).toBe('direct');
});

test('the call says all: metadata, UUIDs, size, cards; and its zone is noted first', () => {
  const outcome = planCreate(
    contextOf({
      vm: null,
      desired: {
        zone: null,
        instanceUuid: null,
        biosUuid: null,
        config: { ...contextOf().desired.config, extraConfig: { 'a.b': '1' } },
      },
      prerequisites: prerequisitesOf(),
    }),
  );
  const [create] = outcome.kind === 'execute' ? outcome.steps : [];
  expect(create).toMatchObject({
    notes: [
      {
        labels: { 'topology.kubernetes.io/zone': 'zone-a' },
        annotations: {
          'vmoperator.vmware.com/last-resized-vm-class': '{"Name":"small","UID":"class-1","Generation":1}',
        },
      },
    ],
  });
  expect(create).toMatchObject({
    kind: 'createVirtualMachine',
    blocking: false,
    create: {
      name: 'web',
      instanceUuid: uid,
      uuid: uid,
      at: placedAt,
      config: {
        numCPUs: 2,
        memoryMB: 4_096,
        extraConfig: [
          { key: 'a.b', value: '1' },
          { key: 'vmservice.extraconfig.managedKeys', value: 'a.b' },
          { key: 'vmservice.namespacedName', value: 'team/web' },
          { key: 'drover.uid', value: uid },
        ],
        deviceChange: [
          {
            operation: 'add',
            device: 'networkCard',
            card: { key: null, type: 'VMXNet3', macAddress: null, backing: 'network-1' },
          },
        ],
      },
    },
  });
});

test('CheckAsyncMode No: the call is waited for before anything else', () => {
  const outcome = planCreate(contextOf({ vm: null, settings: { asyncCreate: false } }));
  expect(outcome.kind === 'execute' ? outcome.steps.at(-1) : null).toMatchObject({ blocking: true });
});

const other: CachedFile = { path: '[fast] cache/a.nvram', kind: 'other' };
const refusals: [
  why: string,
  given: { mode?: 'direct' | 'linked'; disks?: number; files?: CachedFile[]; sized?: boolean },
  problem: RegExp | null,
][] = [
  ['one disk, one file', {}, null],
  ['nothing is cached', { files: [other] }, /No disk of image vmi-1 is cached/u],
  ['a first-class disk', { files: [{ path: 'f-1', kind: 'managedDisk' }] }, /first-class disk/u],
  ['more disks than files', { disks: 2 }, /has 2 disks in its status, and 1 are cached/u],
  ['linked, of unknown size', { mode: 'linked', sized: false }, /status\.disks\[\]\.limit/u],
  ['direct, of unknown size', { mode: 'direct', sized: false }, null],
  ['linked, and the image lists no disks', { mode: 'linked', disks: 0 }, /status\.disks/u],
  ['direct, and the image lists no disks', { disks: 0 }, null],
];

test.each(refusals)(
  'what can be made of cached files: %s',
  (
    _why,
    { mode = 'direct', disks = 1, files = [{ path: '[fast] cache/a.vmdk', kind: 'disk' }], sized = true },
    problem,
  ) => {
    const hardware = hardwareOf(disks);
    const judged = judgeFiles(
      { kind: 'cachedDisks', itemId: 'item-1', mode },
      imageOf({
        hardware: {
          ...hardware,
          disks: hardware.disks.map((disk) => ({ ...disk, capacityBytes: sized ? disk.capacityBytes : null })),
        },
      }),
      files,
    );
    if (problem === null) expect(judged).toMatchObject({ mode, disks: ['[fast] cache/a.vmdk'] });
    else expect(judged).toEqual({ problem: expect.stringMatching(problem) as string });
  },
);

test('what was copied of the same files is gone on with', () => {
  const given: Given = { vm: null, settings: { fastDeploy: 'direct' }, observed: cached(true) };
  const outcome = planCreate(contextOf(given));
  const [note] = outcome.kind === 'execute' ? outcome.steps : [];
  const copies = note?.kind === 'patchVirtualMachine' ? note.patches[0]?.annotations?.['drover.dev/copies'] : undefined;
  const [datacenter = '', datastore = '', sources = ''] = copies?.split(',') ?? [];
  const again = contextOf({ ...given, desired: { copiesAt: { datacenter, datastore, sources } } });
  expect(inShort(planCreate(again))).toBe('patchVirtualMachine, copyDisk, keepDisk, createVirtualMachine');
});

test('where files are copied to is noted before any is; each operation names the object’s own folder', () => {
  const outcome = planCreate(contextOf({ vm: null, settings: { fastDeploy: 'direct' }, observed: cached(true) }));
  const [notes, copy] = outcome.kind === 'execute' ? outcome.steps : [];
  const noted = expect.stringMatching(/^datacenter-1,datastore-1,\d+:[\da-f]+$/u) as string;
  expect(notes).toMatchObject({ patches: [{ annotations: { 'drover.dev/copies': noted } }] });
  expect(copy).toMatchObject({
    place: { datacenter: 'datacenter-1', datastore: 'datastore-1', folder: uid },
    operation: { kind: 'copyDisk', from: '[fast] cache/disk-0.vmdk', to: 'disk-0.vmdk' },
  });
});

test.each([
  ['that waits for a change', { atNextPowerOn: null }, undefined],
  ['whose latch is still set', { atNextPowerOn: true }, undefined],
  ['whose latch was reset', { atNextPowerOn: false }, { bootstrap: { sysprep: { customizeAtNextPowerOn: true } } }],
])('a VM that is made anew is set up anew: one %s', (_, more, spec) => {
  const bootstrap = { kind: 'Sysprep' as const, disabled: false, instanceId: null, ...more };
  const outcome = planCreate(
    contextOf({
      vm: null,
      desired: { bootstrap, bootstrapHashes: { config: 'h1', custom: 'c1' }, firstBootDone: true },
    }),
  );
  const [create] = outcome.kind === 'execute' ? outcome.steps : [];
  const [notes] = create?.kind === 'createVirtualMachine' ? create.notes : [];
  expect(notes?.annotations).toMatchObject({
    'virtualmachine.vmoperator.vmware.com/first-boot-done': null,
    'vmoperator.vmware.com/bootstrap-hash-configspec': null,
    'vmoperator.vmware.com/bootstrap-hash-customspec': null,
  });
  expect(notes?.spec).toEqual(spec);
});

test('the first time there is nothing to forget', () => {
  const outcome = planCreate(contextOf({ vm: null, desired: { firstBootDone: false } }));
  const [create] = outcome.kind === 'execute' ? outcome.steps : [];
  const [notes] = create?.kind === 'createVirtualMachine' ? create.notes : [];
  expect(Object.keys(notes?.annotations ?? {})).toEqual([
    'drover.dev/creating',
    'vmoperator.vmware.com/last-resized-vm-class',
  ]);
});
