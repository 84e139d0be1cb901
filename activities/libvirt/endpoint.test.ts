import { failureCode } from '../../runtime/failure.ts';
import { endpointOf } from './endpoint.ts';

test.each([
  ['qemu+tcp://{host}/system', 'node-1', { transport: 'tcp', host: 'node-1', port: 16_509, uri: 'qemu:///system' }],
  ['qemu+tls://{host}/system', '10.0.0.1', { transport: 'tls', host: '10.0.0.1', port: 16_514, uri: 'qemu:///system' }],
  ['ch+tcp://{host}/system', 'node-1', { transport: 'tcp', host: 'node-1', port: 16_509, uri: 'ch:///system' }],
  [
    'ch+tls://{host}.example.org:1234/system',
    'node-1',
    { transport: 'tls', host: 'node-1.example.org', port: 1_234, uri: 'ch:///system' },
  ],
  [
    'qemu+tcp://{host}/session',
    '2001:db8::1',
    { transport: 'tcp', host: '2001:db8::1', port: 16_509, uri: 'qemu:///session' },
  ],
  ['qemu+tcp://[::1]:2/system', 'node-1', { transport: 'tcp', host: '::1', port: 2, uri: 'qemu:///system' }],
])('%s of %s', (template, host, endpoint) => expect(endpointOf(template, host)).toEqual(endpoint));

test.each([
  ['qemu+ssh://{host}/system', 'node-1'],
  ['qemu:///system', 'node-1'],
  ['qemu+tcp://{host}', 'node-1'],
  ['qemu+tcp://{host}:0/system', 'node-1'],
  ['qemu+tcp://{host}:65536/system', 'node-1'],
  ['qemu+tcp://{host}/system?no_verify=1', 'node-1'],
  ['qemu+tcp://{host}/system', ''],
  ['qemu+tcp://{host}/system', 'node-1/../x'],
  ['qemu+tcp://{host}/system', 'user@node-1'],
  ['', 'node-1'],
])('%s of %s is refused', (template, host) => {
  let code;
  try {
    endpointOf(template, host);
  } catch (error) {
    code = failureCode(error);
  }
  expect(code).toBe('InvalidConfiguration');
});
