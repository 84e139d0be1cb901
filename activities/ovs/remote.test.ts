import { addressOf, nameOf, remoteOf } from './remote.ts';

const rows: [template: string, host: string, protocol: string, name: string, port: number, shown: string][] = [
  ['ssl:{host}:6640', 'node-1', 'ssl', 'node-1', 6640, 'ssl:node-1:6640'],
  [
    'ssl:{host}.compute.example:6640',
    'node-1',
    'ssl',
    'node-1.compute.example',
    6640,
    'ssl:node-1.compute.example:6640',
  ],
  ['tcp:127.0.0.1:16640', 'node-1', 'tcp', '127.0.0.1', 16640, 'tcp:127.0.0.1:16640'],
  ['tcp:[::1]:6640', 'node-1', 'tcp', '::1', 6640, 'tcp:[::1]:6640'],
  ['ssl:{host}:6640', 'fd00::1', 'ssl', 'fd00::1', 6640, 'ssl:[fd00::1]:6640'],
];
test.each(rows)('%s of %s', (template, host, protocol, name, port, shown) => {
  const remote = remoteOf(addressOf(template, host));
  expect(remote).toEqual({ protocol, host: name, port });
  expect(nameOf(remote)).toBe(shown);
});

test.each([
  '',
  '{host}',
  'unix:/run/openvswitch/db.sock',
  'ptcp:6640',
  'ssl:{host}',
  'ssl::6640',
  'tcp:{host}:0',
  'tcp:{host}:65536',
  'tcp:{host}:6640:',
  'tcp:a b:6640',
  'tcp:::1:6640',
])('%s is InvalidConfiguration', (template) => {
  expect(() => remoteOf(addressOf(template, 'node-1'))).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration' }),
  );
});
