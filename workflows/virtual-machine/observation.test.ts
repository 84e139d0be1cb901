import {
  observationRequestOf,
  type ObservedObjects,
  type VcenterObservation,
} from '../../contracts/virtual-machine/activities.ts';
import { composeObservation } from './observation.ts';
import type { DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import {
  cachedOf,
  classOf,
  desiredOf,
  placedAt,
  prerequisitesOf,
  vmOf,
} from '../../test/fixtures/workflows/virtual-machine.ts';

const { class: _, storageClass: __, resourcePolicy: ___, ...others } = prerequisitesOf();

const objects: ObservedObjects = {
  ...others,
  class: {
    kind: 'found',
    value: classOf({
      compute: {
        numCPUs: 2,
        memoryMB: 4_096,
        cpuAllocation: { reservation: 500, limit: 1_500 },
        memoryAllocation: { reservation: 0, limit: -1 },
      },
      extraConfig: { 'class.key': '1' },
    }),
  },
  resourcePolicy: null,
  storageClass: { kind: 'found', value: { profileId: 'profile-1' } },
  networks: [{ name: 'eth0', network: 'net-a' }],
  imageCache: null,
  group: null,
  snapshots: { inProgress: null, problem: null },
  volumes: null,
};

const facts: VcenterObservation = {
  managerId: '',
  cluster: null,
  candidates: [],
  vm: null,
  stateDigest: null,
  network: null,
  probe: null,
  isos: {},
  placement: { kind: 'placed', at: { ...placedAt, cpuMHz: 2_100 } },
  storage: { hasDatastore: true, encrypted: true },
};

const allocationIn = (told: VcenterObservation) => {
  const { class: found } = composeObservation({}, objects, told).prerequisites;
  return found?.kind === 'found' ? found.value.compute.cpuAllocation : null;
};

test('a class asks for cores: they become MHz of the hosts where the VM goes', () => {
  expect(allocationIn(facts)).toEqual({ reservation: 1_050, limit: 3_150 });
});

test('or of those where it is', () => {
  expect(allocationIn({ ...facts, vm: vmOf({ cpuMHz: 3_000 }) })).toEqual({ reservation: 1_500, limit: 4_500 });
});

test('no limit stays none', () => {
  const unlimited = { ...objects, class: { kind: 'found' as const, value: classOf() } };
  expect(composeObservation({}, unlimited, facts).prerequisites.class).toMatchObject({
    value: { compute: { cpuAllocation: { limit: -1 } } },
  });
});

test('a storage class has a profile by Kubernetes, and datastores by vCenter', () => {
  expect(composeObservation({}, objects, facts).prerequisites.storageClass).toEqual({
    kind: 'found',
    value: { profileId: 'profile-1', hasDatastore: true, encrypted: true },
  });
  expect(composeObservation({}, objects, null).prerequisites.storageClass).toMatchObject({
    value: { hasDatastore: false },
  });
});

test.each(['notFound', 'forbidden'] as const)('what is %s stays so', (is) => {
  const missing = { kind: is, message: 'no' };
  expect(
    composeObservation({}, { ...objects, class: missing, storageClass: missing }, facts).prerequisites,
  ).toMatchObject({ class: missing, storageClass: missing });
});

test('why a drive has no ISO is said by Kubernetes of its image, and by vCenter of its file', () => {
  const ofImage = { reason: 'NotFound', message: 'no image' };
  const ofFile = { reason: 'NotReady', message: 'no file' };
  const composed = composeObservation(
    {},
    { ...objects, isos: { a: null, b: 'item-b' }, lackingIsos: { a: ofImage } },
    { ...facts, isos: { a: null, b: null }, lackingIsos: { b: ofFile } },
  );
  expect(composed.prerequisites).toMatchObject({
    isos: { a: null, b: null },
    lackingIsos: { a: ofImage, b: ofFile },
  });
});

test('vCenter is asked about the VM by everything that it may be found by', () => {
  const desired = desiredOf({ instanceUuid: 'uuid-1', zone: 'zone-a', clusterModule: 'web' });
  expect(
    observationRequestOf(
      desired,
      { uniqueID: 'vm-7' },
      {
        ...objects,
        resourcePolicy: {
          kind: 'found',
          value: {
            name: 'p',
            deleting: false,
            folder: 'child',
            resourcePool: null,
            modules: { web: { c1: 'm1' }, db: { c1: 'm2' } },
          },
        },
      },
    ),
  ).toEqual({
    object: { namespace: desired.namespace, name: desired.name, uid: desired.uid },
    vmName: desired.name,
    guestInfo: [],
    uniqueId: 'vm-7',
    recordedUuid: null,
    isBeingMade: false,
    madeDisks: ['disk-0'],
    chosenDatastore: null,
    cachedOn: [],
    mayBeMade: true,
    instanceUuid: 'uuid-1',
    zone: 'zone-a',
    folder: 'child',
    resourcePool: null,
    modules: { c1: 'm1' },
    profileId: 'profile-1',
    networks: [{ name: 'eth0', network: 'net-a' }],
    isos: {},
    extraConfigKeys: ['class.key'],
  });
});

const copies = { datacenter: 'datacenter-1', datastore: 'datastore-3' };
const cachedThere = cachedOf();
test.each<[what: string, desired: Partial<DesiredVirtualMachine>, objects: Partial<ObservedObjects>, asked: object]>([
  ['without fast deploy, none', { copiesAt: copies }, { imageCache: null }, { chosenDatastore: null, cachedOn: [] }],
  ['where its image is cached', {}, {}, { chosenDatastore: null, cachedOn: ['datastore-1'] }],
  [
    'where its files were asked for',
    { imageCache: { name: 'c', location: 'datacenter-1,datastore-2,profile-1' } },
    {},
    { chosenDatastore: 'datastore-2' },
  ],
  ['where they were copied', { copiesAt: copies }, {}, { chosenDatastore: 'datastore-3' }],
  ['not where it is being cached', {}, { imageCache: cachedOf({ ready: null }) }, { cachedOn: [] }],
  [
    'nor under another storage policy',
    {},
    { storageClass: { kind: 'found', value: { profileId: 'p-2' } } },
    { cachedOn: [] },
  ],
])('the place of fast deploy: %s', (_, more, given, asked) => {
  const storageClass = { kind: 'found' as const, value: { profileId: 'profile-1' } };
  expect(
    observationRequestOf(desiredOf(more), {}, { ...objects, storageClass, imageCache: cachedThere, ...given }),
  ).toMatchObject(asked);
});

test.each([
  ['no create has begun', {}, null, false],
  ['a create has begun', {}, '2026-01-01T00:00:00Z', true],
  ['it has a VM', { uniqueID: 'vm-7' }, null, true],
])('a VM with its metadata may be there, or not: %s', (_, recorded, creatingSince, mayBeMade) => {
  expect(observationRequestOf(desiredOf({ creatingSince }), recorded, objects)).toMatchObject({ mayBeMade });
});

test.each([
  ['its own', 'c1', { web: 'm1', db: null }],
  ['another one', 'c2', { web: 'm2', db: 'm3' }],
  ['one without modules', 'c3', { web: null, db: null }],
  ['not known yet', null, { web: 'm1', db: 'm3' }],
])('the cluster of a policy’s modules is %s', (_, cluster, modules) => {
  const resourcePolicy = {
    kind: 'found' as const,
    value: {
      name: 'p',
      deleting: false,
      folder: null,
      resourcePool: null,
      modules: { web: { c1: 'm1', c2: 'm2' }, db: { c2: 'm3' } },
    },
  };
  expect(
    composeObservation({}, { ...objects, resourcePolicy }, { ...facts, cluster }).prerequisites.resourcePolicy,
  ).toMatchObject({ value: { modules } });
});

test.each([
  ['a VM without a place', {}, 'it waits'],
  ['one that has a place', { placement: { kind: 'placed' as const, at: placedAt } }, undefined],
  ['one that is there', { vm: vmOf() }, undefined],
])('what of a policy is not made concerns %s', (_, more, unmade) => {
  const value = { name: 'p', deleting: false, folder: 'f', resourcePool: null, modules: {}, unmade: 'it waits' };
  const resourcePolicy = { kind: 'found' as const, value };
  const { prerequisites } = composeObservation(
    {},
    { ...objects, resourcePolicy },
    { ...facts, vm: null, placement: { kind: 'notReady', message: 'folder f' }, ...more },
  );
  const found = prerequisites.resourcePolicy;
  expect(found?.kind === 'found' && found.value.unmade).toBe(unmade);
});

const group = {
  found: true,
  linked: true,
  placement: { zone: 'zone-a', resourcePool: 'resgroup-9', datastore: 'datastore-9', host: 'host-9' },
};

test.each([
  [
    'in its zone: folder, datacenter and MHz are those of the zone',
    facts.placement,
    { ...placedAt, cpuMHz: 2_100, ...group.placement },
  ],
  ['in another zone', { kind: 'placed' as const, at: { ...placedAt, zone: 'zone-b' } }, null],
  ['in one that cannot be reached', { kind: 'notReady' as const, message: 'no' }, null],
])('a group has placed it %s', (_, placement, expected) => {
  expect(composeObservation({}, { ...objects, group }, { ...facts, placement }).group).toEqual({
    found: true,
    linked: true,
    placement: expected,
  });
  expect(observationRequestOf(desiredOf({ zone: null }), {}, { ...objects, group }).zone).toBe('zone-a');
});

test('settings of a card are asked for whatever number it has', () => {
  const networkCards = [{ name: 'eth0', type: 'VMXNet3', macAddress: null, properties: { ctxPerDev: '3' } }];
  const { extraConfigKeys } = observationRequestOf(desiredOf({ networkCards }), {}, objects);
  expect(extraConfigKeys).toEqual(expect.arrayContaining(['ethernet0.ctxPerDev', 'ethernet9.ctxPerDev']));
});
