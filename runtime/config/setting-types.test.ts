import { splitHostPort } from './setting-types.ts';

test.each<[text: string, parts: ReturnType<typeof splitHostPort>]>([
  ['images.example:8443', { host: 'images.example', port: 8443 }],
  ['images.example', { host: 'images.example', port: null }],
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['[2001:db8::1]:65535', { host: '2001:db8::1', port: 65_535 }],
  ['[2001:db8::1]', { host: '2001:db8::1', port: null }],
  ['127.0.0.1:65536', null],
  ['127.0.0.1:', null],
  ['2001:db8::1', null],
  ['[node-1]:80', null],
  [':80', null],
  ['a b:80', null],
])('%s', (text, parts) => {
  expect(splitHostPort(text)).toEqual(parts);
});
