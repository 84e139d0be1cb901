import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releasePorts, reservePorts } from './ports.ts';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'drover-ports-'))));
afterEach(() => rmSync(root, { recursive: true }));

const signal = new AbortController().signal;
const part = (name: string) => {
  const dir = join(root, name);
  mkdirSync(dir, { recursive: true });
  return { dir, cacheDir: join(root, 'cache'), signal };
};

test('ports are distinct, outside the range of outgoing connections, and the same the next time', async () => {
  const first = await reservePorts(part('a'), ['grpc', 'http', 'ui']);
  expect(new Set(Object.values(first)).size).toBe(3);
  for (const port of Object.values(first)) expect(port >= 20_000 && port < 30_000).toBe(true);
  releasePorts(part('a'));
  expect(await reservePorts(part('a'), ['ui', 'grpc'])).toEqual({ ui: first.ui, grpc: first.grpc });
});

test('a port that another process listens on by now is replaced', async () => {
  const { grpc } = await reservePorts(part('a'), ['grpc']);
  releasePorts(part('a'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(grpc, '127.0.0.1', resolve));
  expect((await reservePorts(part('a'), ['grpc'])).grpc).not.toBe(grpc);
  server.close();
});

test('two labs that ask at the same time get different ports', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `port-${index}`);
  const [a, b] = await Promise.all([reservePorts(part('a'), names), reservePorts(part('b'), names)]);
  expect(new Set([...Object.values(a), ...Object.values(b)]).size).toBe(40);
});

describe('a port another part had reserved', () => {
  const dead = { pid: 1, startTime: 'long ago' };
  const reserveAs = (dir: string, port: number, by: object) =>
    writeFileSync(join(root, 'cache', 'ports', `${port}.json`), JSON.stringify({ dir, by }));

  test.each([
    ['is free when its process died before the part was up', false, true],
    ['is taken while that part is up', true, false],
  ])('%s', async (_, up, free) => {
    const mine = part('mine');
    const { grpc } = await reservePorts(mine, ['grpc']);
    const other = part('other');
    if (up) writeFileSync(join(other.dir, 'handle.json'), '{}');
    reserveAs(other.dir, grpc, dead);
    expect((await reservePorts(mine, ['grpc'])).grpc === grpc).toBe(free);
  });
});
