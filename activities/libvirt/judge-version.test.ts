import { judgeVersion } from './judge-version.ts';
import { versionText } from './operations.ts';

test.each([
  ['9.0.0', '9.0.0', true],
  ['9.0.0', '8.10.5', true],
  ['10.0.0', '9.9.9', true],
  ['9.0.0', '9', true],
  ['9.0.0', '9.0.1', false],
  ['9.0.0', '10', false],
  ['9.10.0', '9.9.0', true],
  ['unknown', '9.0.0', false],
  ['', '9.0.0', false],
])('%s where at least %s is expected: %s', (version, minimum, isEnough) => {
  expect(judgeVersion(version, minimum)).toEqual({
    isEnough,
    expectation: `libvirt ${minimum} or newer`,
    seen: `libvirt ${version}`,
  });
});

test.each([
  [9_000_000n, '9.0.0'],
  [11_003_002n, '11.3.2'],
  [0n, '0.0.0'],
  [18_446_744_073_709_551_615n, '18446744073709.551.615'],
])('%s is %s', (number, text) => expect(versionText(number)).toBe(text));
