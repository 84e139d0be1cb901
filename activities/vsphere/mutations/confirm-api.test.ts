import type { Tools } from '../dependencies.ts';
import { confirmApi, isAtLeast } from './confirm-api.ts';

test.each([
  ['9.1.0.0', '9.1.0.0', true],
  ['9.1', '9.1.0.0', true],
  ['10.0.0.0', '9.1.0.0', true],
  ['8.0.3.0', '8.0.2.0', true],
  ['8.0.1.0', '8.0.2.0', false],
  ['9.0.0.0', '9.1.0.0', false],
  ['', '8.0.2.0', false],
  ['nonsense', '8.0.2.0', false],
])('%s knows what came with %s: %s', (version, needed, is) => expect(isAtLeast(version, needed)).toBe(is));

const tools = (version: string) =>
  ({
    gateway: { vcenter: 'lab', apiVersion: () => Promise.resolve(version) },
    scope: { signal: new AbortController().signal },
  }) as unknown as Tools;
const needed = { version: '9.1.0.0', vcenter: '9.1', what: 'tags' };

test('what every vCenter knows is asked in the oldest API', async () => {
  expect(await confirmApi(tools('8.0.1.0'), null)).toEqual({});
});

test('what came later is asked in the API that it came with', async () => {
  expect(await confirmApi(tools('10.0.0.0'), needed)).toEqual({ apiVersion: '9.1.0.0' });
});

test('an older vCenter is not asked', async () => {
  await expect(confirmApi(tools('8.0.3.0'), needed)).rejects.toMatchObject({
    type: 'InvalidObject',
    message: expect.stringContaining('vCenter lab does not know tags: that came with 9.1, and its API is 8.0.3.0'),
  });
});
