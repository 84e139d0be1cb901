import type { ClassDevice } from '../../../contracts/virtual-machine/class-devices.ts';
import type { PciDevice } from '../../../contracts/virtual-machine/config.ts';
import {
  classOf,
  contextOf,
  hardwareOf,
  imageOf,
  vmContextOf,
  type Given,
} from '../../../test/fixtures/workflows/virtual-machine.ts';
import { describeVm } from '../conditions.ts';
import { diffClassDevices } from './class-devices.ts';
import { planConfig } from './config.ts';
import { planCreate } from './create.ts';

const a: ClassDevice = { kind: 'vgpu', profile: 'a' };
const b: ClassDevice = { kind: 'vgpu', profile: 'b' };
const has = (...devices: (ClassDevice | null)[]): PciDevice[] =>
  devices.map((device, index) => ({ key: 13_000 + index, device }));
const add = (pciDevice: ClassDevice) => ({ operation: 'add', device: 'pciDevice', pciDevice });
const remove = (key: number) => ({ operation: 'remove', device: 'pciDevice', key });

test.each<[why: string, wanted: ClassDevice[], current: PciDevice[], changes: object[]]>([
  ['those of the class are there', [a, b], has(b, a), []],
  ['one is missing', [a, b], has(a), [add(b)]],
  ['two of one kind are two', [a, a], has(a), [add(a)]],
  ['one that the class does not have goes', [b], has(a, b), [remove(13_000)]],
  ['one that no class could name stays', [], has(null), []],
])('devices of the class: %s', (_why, wanted, current, changes) => {
  expect(diffClassDevices(wanted, current)).toEqual(changes);
});

const gpus = { class: { kind: 'found' as const, value: classOf({ devices: [a], hasPciDevices: true }) } };

function created(given: Given) {
  const outcome = planCreate(contextOf({ vm: null, ...given }));
  const [create] = outcome.kind === 'execute' ? outcome.steps : [];
  if (create?.kind !== 'createVirtualMachine') throw new Error('it is not made');
  return create.create;
}

test('a VM is made with the devices of its class, and with room for their memory', () => {
  const { config, hardwareVersion } = created({ prerequisites: gpus });
  expect(config.deviceChange?.at(-1)).toEqual(add(a));
  expect(config.extraConfig).toEqual(
    expect.arrayContaining([
      { key: 'pciPassthru.use64bitMMIO', value: 'TRUE' },
      { key: 'pciPassthru.64bitMMIOSizeGB', value: '512' },
    ]),
  );
  expect(hardwareVersion).toBeUndefined();
});

test.each([
  ['64', ['64']],
  ['0', []],
])('of the size that the VM says: %s', (mmioSizeGB, sizes) => {
  const { config } = created({ desired: { mmioSizeGB }, prerequisites: gpus });
  expect(config.extraConfig?.flatMap(({ key, value }) => (key.endsWith('SizeGB') ? [value] : []))).toEqual(sizes);
});

test('an image that is too old for such devices is made with newer hardware', () => {
  const image = (version: number) => ({
    image: { kind: 'found' as const, value: imageOf({ hardware: hardwareOf(1, { version }) }) },
  });
  expect(created({ prerequisites: { ...gpus, ...image(15) } }).hardwareVersion).toBe(17);
  expect(created({ prerequisites: { ...gpus, ...image(19) } }).hardwareVersion).toBeUndefined();
  expect(created({ prerequisites: image(15) }).hardwareVersion).toBeUndefined();
});

test('a device that the class promises and the VM does not have is said', () => {
  expect(describeVm(vmContextOf({ prerequisites: gpus }))['VirtualMachineComputeConfigSynced']).toMatchObject({
    status: 'False',
    reason: 'ComputeConfigMismatch',
    message: expect.stringContaining('vGPU a') as string,
  });
  expect(
    describeVm(vmContextOf({ prerequisites: gpus, config: { pciDevices: has(a) } }))[
      'VirtualMachineComputeConfigSynced'
    ],
  ).toMatchObject({ status: 'True' });
});

test.each<[why: string, given: Given, changes: object[] | undefined]>([
  ['off', { vm: { powerState: 'poweredOff' } }, [remove(13_000), add(a)]],
  ['on', {}, undefined],
  ['by size only', { vm: { powerState: 'poweredOff' }, settings: { resize: 'size' } }, undefined],
])('another class brings its own devices: %s', (_why, given, changes) => {
  const outcome = planConfig(
    vmContextOf({
      desired: { className: 'large', powerState: 'PoweredOff' },
      prerequisites: {
        class: {
          kind: 'found',
          value: classOf({ name: 'large', uid: 'class-2', devices: [a], hasPciDevices: true }),
        },
      },
      config: { pciDevices: has(b) },
      ...given,
    }),
  );
  const [step] = outcome.kind === 'execute' ? outcome.steps : [];
  expect(step?.kind === 'reconfigure' ? step.spec.deviceChange : undefined).toEqual(changes);
});
