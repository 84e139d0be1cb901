import { decodeEvent } from './domain-events.ts';
import { eventMessages } from './wire/procedures.ts';
import { encode, MalformedMessage } from './wire/xdr.ts';

const domain = { name: 'vm-1', uuid: '8a3b1c5e-0000-4000-8000-000000000001', id: 7 };
const plain = { name: domain.name, uuid: domain.uuid };

test.each([
  [0, 0, { type: 'defined' }],
  [1, 0, { type: 'undefined' }],
  [2, 0, { type: 'started' }],
  [3, 2, { type: 'suspended', detail: 'io-error' }],
  [3, 99, { type: 'suspended', detail: 'unknown' }],
  [4, 0, { type: 'resumed' }],
  [5, 1, { type: 'stopped', detail: 'destroyed' }],
  [5, 5, { type: 'stopped', detail: 'failed' }],
  [5, 99, { type: 'stopped', detail: 'unknown' }],
  [6, 0, { type: 'shutting-down' }],
  [7, 0, { type: 'suspended-by-guest' }],
  [8, 0, { type: 'crashed' }],
  [99, 0, { type: 'unknown' }],
  [-1, 0, { type: 'unknown' }],
])('lifecycle %d, %d', (event, detail, expected) => {
  const { number, message } = eventMessages.lifecycle;
  expect(decodeEvent(number, encode(message, { callbackId: 0, domain, event, detail }))).toEqual({
    domain: plain,
    ...expected,
  });
});

test('a reboot, a watchdog, an I/O error', () => {
  const { reboot, watchdog, ioError } = eventMessages;
  expect(decodeEvent(reboot.number, encode(reboot.message, { callbackId: 1, domain }))).toEqual({
    domain: plain,
    type: 'rebooted',
  });
  expect(decodeEvent(watchdog.number, encode(watchdog.message, { callbackId: 2, domain, action: 2 }))).toEqual({
    domain: plain,
    type: 'watchdog',
    action: 'reset',
  });
  expect(decodeEvent(watchdog.number, encode(watchdog.message, { callbackId: 2, domain, action: 20 }))).toMatchObject({
    action: 'unknown',
  });
  const told = { sourcePath: 'vms/volume-1', device: 'virtio-disk0', reason: 'enospc' };
  expect(decodeEvent(ioError.number, encode(ioError.message, { callbackId: 3, domain, action: 1, ...told }))).toEqual({
    domain: plain,
    type: 'io-error',
    action: 'pause',
    ...told,
  });
});

test('other messages belong to no guest; a cut one is malformed', () => {
  expect(decodeEvent(226, Buffer.alloc(4))).toBeNull();
  expect(() => decodeEvent(eventMessages.lifecycle.number, Buffer.alloc(8))).toThrow(MalformedMessage);
});
