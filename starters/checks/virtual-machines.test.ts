import type { VirtualMachineSettings } from '../../contracts/virtual-machine/lifecycle.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { checkConversion, checkSwitches, judgeConversion } from './virtual-machines.ts';

const { signal } = new AbortController();
const serving = (...plurals: string[]): Kubernetes =>
  ({
    request: () => Promise.resolve({ resources: plurals.map((name) => ({ name })) }),
  }) as unknown as Kubernetes;
const all = ['virtualmachineimagecaches', 'virtualmachinegroups'];

const rows: [
  given: Pick<VirtualMachineSettings, 'fastDeploy' | 'groups'>,
  served: string[],
  findings: [status: string, message: RegExp][],
][] = [
  [
    { fastDeploy: 'auto', groups: true },
    [],
    [
      ['ok', /deployed from their items/u],
      ['ok', /no VirtualMachineGroups/u],
    ],
  ],
  [
    { fastDeploy: 'auto', groups: true },
    all,
    [
      ['ok', /cached in time/u],
      ['ok', /^on$/u],
    ],
  ],
  [
    { fastDeploy: 'linked', groups: false },
    [],
    [
      ['fail', /no VirtualMachineImageCaches/u],
      ['ok', /switched off/u],
    ],
  ],
  [
    { fastDeploy: 'linked', groups: false },
    all,
    [
      ['ok', /on \(linked\)/u],
      ['ok', /switched off/u],
    ],
  ],
  [
    { fastDeploy: null, groups: true },
    all,
    [
      ['ok', /switched off/u],
      ['ok', /^on$/u],
    ],
  ],
];
test.each(rows)('%j where %j are served', async (given, served, findings) => {
  expect(await checkSwitches(serving(...served), given, signal)).toEqual(
    findings.map(([status, message]) =>
      expect.objectContaining({ status, message: expect.stringMatching(message) as string }),
    ),
  );
});

const webhook = (...storedVersions: string[]) => ({
  spec: {
    conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: { namespace: 'vmop', name: 'hook' } } } },
  },
  status: { storedVersions },
});

test('older versions that only the replaced operator converts', async () => {
  expect(judgeConversion(webhook('v1alpha6'), 'act')).toMatchObject([
    {
      status: 'warn',
      message: expect.stringContaining('vmop/hook'),
      advice: expect.stringMatching(/kubectl patch crd NAME --type merge .*deploy\/crds\/vmoperator\.vmware\.com_/u),
    },
  ]);
  expect(judgeConversion(webhook('v1alpha5', 'v1alpha6'), 'act')).toMatchObject([
    { status: 'warn', advice: expect.stringContaining('status.storedVersions') },
  ]);
  // It is there still.
  expect(judgeConversion(webhook('v1alpha6'), 'observe')).toEqual([]);
  expect(judgeConversion({ spec: { conversion: { strategy: 'None' } } }, 'act')).toEqual([]);
  const kubernetes = { request: () => Promise.resolve(webhook('v1alpha6')) } as unknown as Kubernetes;
  expect(await checkConversion(kubernetes, 'act', signal)).toHaveLength(1);
});
