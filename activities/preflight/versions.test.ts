import { isOlder } from './versions.ts';

test.each([
  ['9.2.0', '10.0.0', true],
  ['10.0.0', '9.2.0', false],
  ['10.0.0', '10.0.0', false],
  ['10.0', '10.0.1', true],
  ['10.0.0', '10', false],
  ['unknown', '10.0.0', null],
  ['10.0.0', '', null],
  ['10.0.0-rc1', '10.0.0', null],
])('%s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});
