import { deployment, judgeDeployment } from './deploy.ts';

const failed = (error: object) => ({ succeeded: false, error: { errors: [error] } });
const rows: [what: string, answer: object, code: string, words: string][] = [
  [
    'a descriptor that is wrong',
    failed({ category: 'VALIDATION', issues: [{ message: { default_message: 'line 3' } }] }),
    'RequestRefused',
    'line 3',
  ],
  [
    'a parameter that is wrong',
    failed({ category: 'INPUT', name: 'default_datastore_id', message: { default_message: 'no such datastore' } }),
    'RequestRefused',
    'no such datastore',
  ],
  [
    'no room',
    failed({
      category: 'SERVER',
      error: {
        '@class': 'com.vmware.vapi.std.errors.unable_to_allocate_resource',
        messages: [{ default_message: 'full' }],
      },
    }),
    'VsphereResourcesExhausted',
    'full',
  ],
  [
    'a name that is taken',
    failed({ category: 'SERVER', error: { '@class': 'com.vmware.vapi.std.errors.already_exists', messages: [] } }),
    'VirtualMachineNameTaken',
    'it does not say why',
  ],
  [
    'anything else',
    failed({
      category: 'SERVER',
      error: { '@class': 'com.vmware.vapi.std.errors.error', messages: [{ default_message: 'oh' }] },
    }),
    'VsphereFailed',
    'oh',
  ],
  ['nothing at all', { succeeded: false }, 'VsphereFailed', 'it does not say why'],
  [
    'several VMs',
    { succeeded: true, resource_id: { type: 'VirtualApp', id: 'resgroup-v1' } },
    'RequestRefused',
    'resgroup-v1',
  ],
];
test.each(rows)('%s', (_, answer, type, words) => {
  expect(() => judgeDeployment('prod', 'item-1', deployment.parse(answer))).toThrow(
    expect.objectContaining({ type, message: expect.stringContaining(words) }),
  );
});

test('a VM', () =>
  expect(
    judgeDeployment(
      'prod',
      'item-1',
      deployment.parse({ succeeded: true, resource_id: { type: 'VirtualMachine', id: 'vm-7' } }),
    ),
  ).toBe('vm-7'));
