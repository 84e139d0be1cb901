import { type Pod, agentsAmong } from './agent-pods.ts';

const taint = 'kvm.cloud.sap/offboarding';
const pod = (tolerations?: Pod['spec']['tolerations'], phase = 'Running'): Pod => ({
  metadata: { namespace: 'monsoon3', name: 'nova-compute' },
  spec: { ...(tolerations && { tolerations }) },
  status: { phase },
});

const rows: [why: string, pod: Pod, isAgent: boolean][] = [
  ['one without tolerations', pod(), true],
  ['one that is still pending', pod([], 'Pending'), true],
  ['one that has ended', pod([], 'Succeeded'), false],
  ['one that has failed', pod([], 'Failed'), false],
  ['one that tolerates everything', pod([{ operator: 'Exists' }]), false],
  ['one that tolerates the taint', pod([{ key: taint, operator: 'Exists', effect: 'NoExecute' }]), false],
  ['one that tolerates the taint by its empty value', pod([{ key: taint }]), false],
  ['one that tolerates it with another value', pod([{ key: taint, value: 'x' }]), true],
  ['one that tolerates it for a while', pod([{ key: taint, operator: 'Exists', tolerationSeconds: 300 }]), true],
  [
    'the first toleration that fits counts',
    pod([
      { key: taint, operator: 'Exists' },
      { operator: 'Exists', tolerationSeconds: 300 },
    ]),
    false,
  ],
  ['one that tolerates another effect', pod([{ key: taint, operator: 'Exists', effect: 'NoSchedule' }]), true],
  [
    'one that tolerates another taint',
    pod([{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }]),
    true,
  ],
  ['one with an unknown operator', pod([{ key: taint, operator: 'Lt' }]), true],
];

test.each(rows)('%s', (_why, given, isAgent) => {
  expect(agentsAmong([given])).toEqual(isAgent ? ['monsoon3/nova-compute'] : []);
});

test('agents come in the order of their names', () => {
  const named = (name: string): Pod => ({ ...pod(), metadata: { namespace: 'n', name } });
  expect(agentsAmong([named('b'), named('a')])).toEqual(['n/a', 'n/b']);
});
