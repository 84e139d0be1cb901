import { desiredOf, vmContextOf, type Given } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { describeVm } from '../conditions.ts';
import { diffConfig } from './config.ts';
import { diffNuma } from './numa.ts';

const rows: [
  why: string,
  nodes: number | null,
  numCPUs: number,
  coresPerSocket: number | null,
  current: number,
  hardwareVersion: number,
  isOff: boolean,
  is: string,
][] = [
  ['the spec says nothing', null, 8, null, 4, 21, true, '-'],
  ['they are so', 2, 8, 4, 4, 21, true, '-'],
  ['while it is off', 2, 8, 4, 0, 21, true, 'set 4'],
  ['it waits while the VM is on', 2, 8, 4, 0, 21, false, 'waits'],
  ['vSphere shall decide', 0, 8, null, 4, 21, true, 'set 0'],
  ['and does', 0, 8, null, 0, 21, true, '-'],
  ['the hardware is too old', 2, 8, 4, 0, 19, true, 'hardware version 20'],
  ['and does not matter where nothing is asked', 0, 8, null, 0, 13, true, '-'],
  ['CPUs that cannot be divided', 3, 8, 4, 0, 21, true, 'cannot be divided'],
  ['nodes that cut sockets', 2, 12, 4, 0, 21, true, 'does not fit sockets'],
  ['nodes of several sockets, and sockets of several nodes', 2, 16, 4, 0, 21, true, 'set 8'],
  ['the other way round', 8, 16, 4, 0, 21, true, 'set 2'],
];
test.each(rows)('NUMA nodes: %s', (_why, vnumaNodeCount, numCPUs, coresPerSocket, current, version, isOff, is) => {
  const { spec, whenOff, unmet } = diffNuma(
    { vnumaNodeCount, coresPerSocket },
    numCPUs,
    { coresPerNumaNode: current, hardwareVersion: version },
    isOff,
  );
  const said = [
    ...('coresPerNumaNode' in spec ? [`set ${String(spec.coresPerNumaNode)}`] : []),
    ...(whenOff.length > 0 ? ['waits'] : []),
    ...unmet,
  ].join();
  expect(is === '-' ? said : said.includes(is) || said).toBe(is === '-' ? '' : true);
});

const given = (vnumaNodeCount: number, more: Given = {}): Given => ({
  desired: {
    powerState: 'PoweredOff',
    config: { ...desiredOf().config, vnumaNodeCount, coresPerSocket: 1 },
    size: { ...desiredOf().size, cpus: 8 },
  },
  vm: { powerState: 'poweredOff' },
  ...more,
});

test('nodes are those of the CPUs that the VM gets in the same change', () => {
  expect(diffConfig(vmContextOf(given(2))).spec).toMatchObject({ numCPUs: 8, coresPerNumaNode: 4 });
});

test('what stands in the way is said, and nothing is tried', () => {
  const context = vmContextOf(given(2, { config: { numCPUs: 8, hardwareVersion: 15 } }));
  expect(diffConfig(context).spec).toBeNull();
  expect(describeVm(context)['VirtualMachineComputeConfigSynced']).toMatchObject({
    status: 'False',
    reason: 'PrerequisiteNotMet',
    message: expect.stringContaining('minHardwareVersion to 20') as string,
  });
});
