import { virtualMachineFinalizers } from '../../../contracts/virtual-machine/metadata.ts';
import { planNormal } from './normal.ts';
import {
  beginMs,
  cachedOf,
  contextOf,
  inShort,
  minute,
  uid,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';
import { wait } from './context.ts';

const fast = { fastDeploy: 'linked' as const };
const waiting = { imageCache: { name: 'vmi', location: 'datacenter-1,datastore-1,profile-1' } };
const auto = { fastDeploy: 'auto' as const };
const asked = (minutes: number) => ({ imageCacheAskedAt: new Date(beginMs + minutes * minute).toISOString() });
const cache = (ready: boolean) => ({ imageCache: cachedOf({ ready }) });

const rows: [why: string, given: Given, does: string][] = [
  ['CheckPause Yes: nothing is observed', { desired: { paused: true, finalizers: [] } }, 'stop Paused'],
  ['in another vCenter nothing is done', { desired: { managerId: 'older' } }, 'stop VcenterChanged'],
  [
    'nor is one that comes from another taken charge of',
    { vm: null, desired: { managerId: 'older', finalizers: [] } },
    'stop VcenterChanged',
  ],
  ['CheckFinalizer No: it is added', { desired: { finalizers: [] } }, 'patchVirtualMachine'],
  [
    'the deprecated one is not enough',
    { desired: { finalizers: [virtualMachineFinalizers.deprecated] } },
    'patchVirtualMachine',
  ],
  ['and is taken off', { desired: { finalizers: Object.values(virtualMachineFinalizers) } }, 'patchVirtualMachine'],
  ['`now` becomes a time', { desired: { nextRestartTime: 'now' } }, 'patchVirtualMachine'],
  ['CheckFastDeploy No: the provider is called', {}, 'wait Provider'],
  ['CheckFastDeploy No: a label of before holds nothing up', { desired: waiting }, 'wait Provider'],
  ['CheckFastDeploy No for this VM', { desired: { ...waiting, fastDeploy: 'off' }, settings: fast }, 'wait Provider'],
  ['CheckVMICache Yes: no label, the provider is called', { settings: fast }, 'wait Provider'],
  [
    'CheckVMICache No: it waits for the cache',
    { desired: waiting, settings: fast, observed: cache(false) },
    'wait WaitingForImageCache',
  ],
  ['CheckFastDeploy where it can be: nothing is cached here', { desired: waiting, settings: auto }, 'wait Provider'],
  [
    'since when another operator has waited is not known',
    { desired: waiting, settings: auto, observed: { imageCache: cachedOf({ ready: null }) } },
    'patchVirtualMachine',
  ],
  [
    'it waits for a while',
    { desired: { ...waiting, ...asked(0) }, settings: auto, observed: { imageCache: cachedOf({ ready: null }) } },
    'wait WaitingForImageCache',
  ],
  [
    'and no longer',
    { desired: { ...waiting, ...asked(-3) }, settings: auto, observed: { imageCache: cachedOf({ ready: null }) } },
    'wait Provider',
  ],
  [
    'CheckVMICache Yes: the label goes first',
    { desired: waiting, settings: fast, observed: cache(true) },
    'patchVirtualMachine',
  ],
];

test.each(rows)('ReconcileNormal: %s', (_why, given, does) => {
  expect(inShort(planNormal(contextOf(given), () => wait('Provider', 'nothing')))).toBe(does);
});

test.each([
  ['CheckAsync Yes', true],
  ['CheckAsync No', false],
])('ReconcileNormal: %s: the provider’s answer is what comes of it', (_why, asyncCreate) => {
  expect(inShort(planNormal(contextOf({ vm: null, settings: { asyncCreate } })))).toBe('createVirtualMachine');
});

test('a wait for cached files that no user asked for ends by itself, and says when', () => {
  const outcome = planNormal(
    contextOf({
      desired: { ...waiting, ...asked(0) },
      settings: auto,
      observed: { imageCache: cachedOf({ ready: null }) },
    }),
  );
  expect(outcome).toMatchObject({
    untilMs: beginMs + 5 * minute,
    message: expect.stringContaining('from 2026-01-01T00:05:00.000Z on it is made without it') as string,
  });
});

test('with the finalizer comes what webhooks would have filled in, and that it is new', () => {
  const outcome = planNormal(
    contextOf({
      vm: null,
      desired: {
        finalizers: [],
        instanceUuid: null,
        biosUuid: null,
        managerId: null,
        bootstrap: { kind: 'CloudInit', disabled: false, atNextPowerOn: null, instanceId: null },
      },
    }),
  );
  expect(outcome).toMatchObject({
    steps: [
      {
        kind: 'createVirtualMachine',
        notes: [
          {
            addFinalizers: [virtualMachineFinalizers.current],
            spec: { instanceUUID: uid, biosUUID: uid, bootstrap: { cloudInit: { instanceID: uid } } },
            annotations: {
              'vmoperator.vmware.com/manager-id': 'vc-uuid',
              'vmoperator.vmware.com/upgraded-to-schema-version': 'v1alpha6',
            },
          },
          {},
        ],
      },
    ],
  });
});

test('what can be made at once is noted in the same call, after the finalizer', () => {
  const outcome = planNormal(contextOf({ vm: null, desired: { finalizers: [], managerId: null } }));
  expect(inShort(outcome)).toBe('createVirtualMachine');
  expect(outcome).toMatchObject({
    steps: [
      {
        notes: [
          { addFinalizers: [virtualMachineFinalizers.current] },
          { annotations: { 'drover.dev/creating': expect.any(String) } },
        ],
      },
    ],
  });
});

test('an object whose VM is there is not called new: its upgrade is a step of its own', () => {
  const outcome = planNormal(contextOf({ desired: { finalizers: [] } }));
  expect(
    outcome.kind === 'execute' && outcome.steps[0]?.kind === 'patchVirtualMachine' ? outcome.steps[0].patches : [],
  ).toEqual([{ addFinalizers: [virtualMachineFinalizers.current] }]);
});
