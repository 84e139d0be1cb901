import { createServer, type AddressInfo } from 'node:net';

import { systemClock } from '../../runtime/clock.ts';
import { isForbidden, openPortProber } from './probe-port.ts';

const never = new AbortController().signal;
const probe = openPortProber({ clock: systemClock, isForbiddenAddress: () => false });

test.each<[address: string, forbidden: boolean]>([
  ['192.0.2.10', false],
  ['10.0.0.1', false],
  ['2001:db8::1', false],
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['169.254.169.254', true],
  ['0.0.0.0', true],
  ['224.0.0.1', true],
  ['255.255.255.255', true],
  ['::1', true],
  ['::', true],
  ['fe80::1', true],
  ['ff02::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:192.0.2.10', false],
  ['no address', true],
])('%s is the worker’s own, or of no guest: %s', (address, forbidden) => {
  expect(isForbidden(address)).toBe(forbidden);
});

test('a port that listens, and the same one closed', async () => {
  const server = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const target = { host: '127.0.0.1', port, timeoutMs: 5_000 };
  expect(await probe(target, never)).toEqual({ passed: true, message: '' });
  expect(await openPortProber({ clock: systemClock })(target, never)).toEqual({
    passed: false,
    message: expect.stringContaining('no guest has such an address'),
  });
  await new Promise((resolve) => void server.close(resolve));
  expect(await probe(target, never)).toEqual({
    passed: false,
    message: `127.0.0.1:${port} from this worker: ECONNREFUSED`,
  });
});

test('a name that there is not', async () => {
  expect(await probe({ host: 'no-such-host.invalid', port: 1, timeoutMs: 5_000 }, never)).toMatchObject({
    passed: false,
  });
});

test('a name whose server is silent is asked for no longer than the probe lasts', async () => {
  const given = Promise.withResolvers<AbortSignal>();
  const silent = openPortProber({
    clock: systemClock,
    resolveName: (_name, signal) => {
      given.resolve(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
    },
  });
  const answer = await silent({ host: 'slow.test', port: 1, timeoutMs: 20 }, never);
  expect(answer).toEqual({ passed: false, message: 'slow.test:1 from this worker: no answer within 0.02 s' });
  expect((await given.promise).aborted).toBe(true);
});

test('the address of a name is judged as one that is given', async () => {
  const local = openPortProber({ clock: systemClock, resolveName: async () => '127.0.0.1' });
  expect(await local({ host: 'local.test', port: 1, timeoutMs: 5_000 }, never)).toMatchObject({
    message: expect.stringContaining('no guest has such an address'),
  });
});

test('a cancel ends it at once, and it is no answer', async () => {
  const cancelled = AbortSignal.abort(new Error('cancelled'));
  await expect(probe({ host: '192.0.2.1', port: 1, timeoutMs: 5_000 }, cancelled)).rejects.toThrow('cancelled');
});
