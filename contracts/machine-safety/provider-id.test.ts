import { isSameProviderId, providerIdKey, readProviderId, writeProviderId } from './provider-id.ts';

const uuid = '4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11';

test.each([
  [`vsphere://eu-1/${uuid}`, { provider: 'vsphere', region: 'eu-1', id: uuid }],
  [`vsphere:///${uuid}`, { provider: 'vsphere', region: '', id: uuid }],
  [`openstack:///RegionOne/${uuid}`, { provider: 'openstack', region: 'RegionOne', id: uuid }],
  [`vsphere://eu-1/${uuid.toUpperCase()}`, { provider: 'vsphere', region: 'eu-1', id: uuid }],
  [`aws:///eu-1/${uuid}`, null],
  ['vsphere://eu-1/', null],
  ['vsphere://eu-1', null],
  [`vsphere://eu-1/a/${uuid}`, null],
  [`openstack://RegionOne/${uuid}`, null],
  ['', null],
])('%s', (text, expected) => {
  expect(readProviderId(text)).toEqual(expected);
});

test('what is written is read again', () => {
  for (const provider of ['vsphere', 'openstack'] as const) {
    const id = { provider, region: 'eu-1', id: uuid };
    expect(readProviderId(writeProviderId(id))).toEqual(id);
  }
});

test.each([
  [`vsphere://eu-1/${uuid}`, `vsphere://eu-1/${uuid.toUpperCase()}`, true],
  [`vsphere://eu-1/${uuid}`, `vsphere://eu-2/${uuid}`, true],
  [`vsphere://eu-1/${uuid}`, `openstack:///eu-1/${uuid}`, false],
  [`vsphere://eu-1/${uuid}`, '', false],
  ['aws:///one', 'aws:///one', true],
  ['aws:///one', 'aws:///ONE', false],
])('%s and %s name one VM: %s', (one, other, same) => {
  expect(isSameProviderId(one, other)).toBe(same);
  expect(providerIdKey(one) === providerIdKey(other)).toBe(same);
});
