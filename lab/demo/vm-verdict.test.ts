import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import type { WitnessedVm } from '../vsphere/vm-fixture.ts';
import type { ObservedVm } from './vm-verdict.ts';
import { judgeVmStep } from './vm-verdict.ts';
import type { ExpectedVm } from './vm-steps.ts';
import { typed, vmSteps } from './vm-steps.ts';

const uid = '8f0b3c1e-0000-4000-8000-000000000001';

const witnessed = (change: Partial<WitnessedVm> = {}): WitnessedVm => ({
  powerState: 'poweredOn',
  cpus: 2,
  memoryMiB: 2_048,
  instanceUuid: uid,
  metadata: { 'drover.uid': uid },
  ...change,
});

const condition = (type: string, status: string, observedGeneration: number) => ({
  type,
  status,
  reason: status === 'True' ? 'Reconciled' : 'Updating',
  message: 'why',
  observedGeneration,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const object = ({
  powerState = 'PoweredOn',
  lifecycle = 'True',
  observed = 3,
  waits = 'False',
  attached = true,
}: {
  powerState?: string;
  lifecycle?: string;
  observed?: number;
  waits?: string;
  attached?: boolean;
} = {}): VirtualMachine =>
  ({
    metadata: { name: 'web', namespace: 'demo', uid, generation: 3 },
    status: {
      powerState,
      volumes: [{ name: 'data', type: 'Managed', attached }],
      conditions: [condition('Lifecycle', lifecycle, observed), condition('ComputeConfigSynced', waits, 3)],
    },
  }) as unknown as VirtualMachine;

const there: ExpectedVm = { powerState: 'poweredOn', cpus: 2, memoryMiB: 2_048 };
const observed = (change: Partial<ObservedVm> = {}): ObservedVm => ({
  object: object(),
  witnessed: witnessed(),
  inFolder: ['/DC0/vm/demo/web'],
  volumes: ['[LocalDS_0] fcd/1.vmdk'],
  files: ['1.vmdk'],
  ...change,
});
const gone: ObservedVm = { object: null, witnessed: null, inFolder: [], volumes: [], files: ['1.vmdk'] };

test.each<[string, ExpectedVm | null, ObservedVm, RegExp | null]>([
  ['all is as asked', there, observed(), null],
  ['and the condition says what waits', { ...there, waits: 'ComputeConfigSynced' }, observed(), null],
  ['it is gone', null, gone, null],

  ['govc sees no VM, whatever the object says', there, observed({ witnessed: null }), /sees no such VM/u],
  [
    'govc sees it off, whatever the object says',
    there,
    observed({ witnessed: witnessed({ powerState: 'poweredOff' }) }),
    /power by govc is poweredOff, not poweredOn/u,
  ],
  ['another number of CPUs', there, observed({ witnessed: witnessed({ cpus: 1 }) }), /CPUs by govc is 1, not 2/u],
  ['other memory', there, observed({ witnessed: witnessed({ memoryMiB: 1_024 }) }), /memory in MiB by govc is 1024/u],
  [
    'another VM of that name',
    there,
    observed({ witnessed: witnessed({ instanceUuid: 'other' }) }),
    /instance UUID by govc is other/u,
  ],
  [
    'without drover’s metadata',
    there,
    observed({ witnessed: witnessed({ metadata: {} }) }),
    /metadata by govc is undefined/u,
  ],
  [
    'two VMs were made',
    there,
    observed({ inFolder: ['/DC0/vm/demo/web', '/DC0/vm/demo/web-2'] }),
    /2 VMs in the folder/u,
  ],
  [
    'the object says otherwise than govc',
    there,
    observed({ object: object({ powerState: 'PoweredOff' }) }),
    /power by the object is poweredoff/u,
  ],
  [
    'the object does not say that it is reconciled',
    there,
    observed({ object: object({ lifecycle: 'Unknown' }) }),
    /the object says Updating: why/u,
  ],
  [
    'it said so of an earlier spec',
    there,
    observed({ object: object({ observed: 2 }) }),
    /the object says Reconciled/u,
  ],
  ['the object is gone', there, observed({ object: null }), /the object is not there/u],
  [
    'nothing says what waits',
    { ...there, waits: 'ComputeConfigSynced' },
    observed({ object: object({ waits: 'True' }) }),
    /condition ComputeConfigSynced is True, not False/u,
  ],
  ['its volume is not attached', there, observed({ volumes: [] }), /volumes by govc is 0, not 1/u],
  [
    'the object says so of its volume',
    there,
    observed({ object: object({ attached: false }) }),
    /volume by the object is false/u,
  ],
  ['the volume went with the VM', null, { ...gone, files: [] }, /the volume outlives its VM/u],
  ['the object stays', null, { ...gone, object: object() }, /object is still there/u],
  ['the VM stays', null, { ...gone, witnessed: witnessed() }, /govc still sees the VM, poweredOn/u],
  [
    'something else is left in the folder',
    null,
    { ...gone, inFolder: ['/DC0/vm/demo/web-2'] },
    /finds .*web-2 in the folder/u,
  ],
])('%s', (_, expected, was, wrong) => {
  const judged = judgeVmStep({ action: 'changed', expected }, was);
  expect(judged).toHaveLength(wrong === null ? 0 : 1);
  if (wrong !== null) expect(judged[0]).toMatch(new RegExp(`^changed: .*${wrong.source}`, 'u'));
});

test('each stage differs from the one before in what govc sees or in what waits', () => {
  const expectations = vmSteps.map(({ expected }) => JSON.stringify(expected));
  expect(expectations.slice(1).filter((one, index) => one === expectations[index])).toEqual([]);
  expect(expectations.at(-1)).toBe('null');
});

test('what kubectl is asked can be pasted into a shell', () => {
  expect(typed(['patch', 'vm', 'web', '--type=merge', '-p', '{"spec":{"powerState":"PoweredOn"}}'])).toBe(
    `patch vm web --type=merge -p '{"spec":{"powerState":"PoweredOn"}}'`,
  );
});
