import { createFrameReader, decodeMessage, encodeCall, encodePing, encodePong } from './message.ts';
import { MalformedMessage } from './xdr.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('a call as the daemon reads it', () => {
  expect(encodeCall('connectOpen', { name: 'qemu:///system', flags: 0 }, 3)).toEqual(
    hex(
      '00000038 20008086 00000001 00000001 00000000 00000003 00000000 00000001 0000000e 71656d753a2f2f2f73797374656d 0000 00000000',
    ),
  );
  expect(encodePing()).toEqual(hex('0000001c 6b656570 00000001 00000001 00000002 00000000 00000000'));
  expect(encodePong()).toEqual(hex('0000001c 6b656570 00000001 00000002 00000002 00000000 00000000'));
});

test('frames come whole, however the stream is cut', () => {
  const first = encodeCall('connectGetCapabilities', {}, 1);
  const second = encodeCall('storagePoolLookupByName', { name: 'a-pool' }, 2);
  const stream = Buffer.concat([first, second, first]);
  for (let size = 1; size <= stream.length; size += 1) {
    const read = createFrameReader();
    const frames: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) frames.push(...read(stream.subarray(at, at + size)));
    expect(frames).toEqual([first.subarray(4), second.subarray(4), first.subarray(4)]);
  }
});

test.each([
  ['none at all', '00000000'],
  ['shorter than a header', '0000001b'],
  ['more than libvirt ever sends', '02000005'],
  ['text', Buffer.from('HTTP').toString('hex')],
])('a length that is %s is malformed', (_, bytes) => {
  expect(() => createFrameReader()(hex(bytes))).toThrow(MalformedMessage);
});

test.each([
  [
    'a reply',
    '20008086 00000001 00000009 00000001 00000007 00000000 0000002a',
    { is: 'reply', procedure: 9, serial: 7, isError: false, payload: hex('0000002a') },
  ],
  [
    'an error',
    '20008086 00000001 00000009 00000001 00000007 00000001',
    { is: 'reply', procedure: 9, serial: 7, isError: true, payload: hex('') },
  ],
  [
    'an event',
    '20008086 00000001 0000013e 00000002 00000000 00000000',
    { is: 'event', procedure: 318, payload: hex('') },
  ],
  ['a ping', '6b656570 00000001 00000001 00000002 00000000 00000000', { is: 'ping' }],
  ['a pong', '6b656570 00000001 00000002 00000002 00000000 00000000', { is: 'other' }],
])('%s', (_, bytes, message) => expect(decodeMessage(hex(bytes))).toEqual(message));

test.each([
  ['half a header', '20008086 00000001 00000009'],
  ['another program', '12345678 00000001 00000009 00000001 00000007 00000000'],
  ['a call', '20008086 00000001 00000009 00000000 00000007 00000000'],
  ['a stream', '20008086 00000001 00000009 00000003 00000007 00000000'],
  ['a status that no reply has', '20008086 00000001 00000009 00000001 00000007 00000002'],
])('%s is malformed', (_, bytes) => {
  expect(() => decodeMessage(hex(bytes))).toThrow(MalformedMessage);
});
