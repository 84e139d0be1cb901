import { endpointIn } from './catalog.ts';

const catalog = (url: string) => [
  { type: 'compute', endpoints: [{ interface: 'public', region_id: 'RegionOne', url }] },
];
const find = (url: string) => endpointIn(catalog(url), 'compute', 'RegionOne', 'public');

test.each(['http://nova/v2.1', 'https://nova.example:8774/v2.1/%(tenant_id)s', 'http://[::1]:8774'])(
  '%s is an endpoint',
  (url) => expect(find(url)).toBe(url),
);

test.each([
  '',
  'nova',
  '//nova/v2.1',
  'file:///etc/passwd',
  'http://',
  'http://nova\u0000',
  'http://nova /v2.1',
  `http://nova/${'/'.repeat(3_000)}x`,
])('%j is none', (url) => {
  expect(() => find(url)).toThrow(
    expect.objectContaining({
      type: 'EndpointNotFound',
      message: expect.stringMatching(/no usable public endpoint of type compute in region RegionOne/u),
    }),
  );
});
