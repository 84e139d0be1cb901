import { getEventListeners } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { systemClock } from '../clock.ts';
import { connectClient, limited, openClient, readTemporalSettings, unreachable } from './temporal.ts';

const directory = mkdtempSync(join(tmpdir(), 'drover-temporal-'));
const file = join(directory, 'temporal.toml');
writeFileSync(
  file,
  '[profile.default]\naddress = "file:1"\nnamespace = "from-file"\n[profile.cloud]\naddress = "cloud:2"\napi_key = "a-long-api-key"\n[profile.cloud.tls]\nserver_name = "cloud"\n',
);
chmodSync(file, 0o600);
afterAll(() => rmSync(directory, { recursive: true }));

/** No file of the person who runs the tests may count. */
const nowhere = { TEMPORAL_CONFIG_FILE: join(directory, 'missing.toml') };

type Row = [why: string, env: NodeJS.ProcessEnv, address: string, namespace: string];
const rows: Row[] = [
  ['nothing set: the CLI’s defaults', nowhere, '127.0.0.1:7233', 'default'],
  ['variables', { ...nowhere, TEMPORAL_ADDRESS: 'host:3', TEMPORAL_NAMESPACE: 'ns' }, 'host:3', 'ns'],
  ['the default profile of the file', { TEMPORAL_CONFIG_FILE: file }, 'file:1', 'from-file'],
  ['variables win over the file', { TEMPORAL_CONFIG_FILE: file, TEMPORAL_ADDRESS: 'host:3' }, 'host:3', 'from-file'],
  ['a named profile', { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'cloud' }, 'cloud:2', 'default'],
];

test.each(rows)('settings: %s', (_why, env, address, namespace) => {
  const settings = readTemporalSettings(env);
  expect(settings).toMatchObject({ address, namespace, connection: { address } });
});

test('TLS, server name and API key of a profile reach the connection', () => {
  expect(readTemporalSettings({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'cloud' }).connection).toMatchObject({
    apiKey: 'a-long-api-key',
    tls: { serverNameOverride: 'cloud' },
  });
});

test('what is not set is missing, not undefined: the connections tell the two apart', () => {
  expect(Object.values(readTemporalSettings(nowhere).connection)).not.toContain(undefined);
});

const broken = join(directory, 'broken.toml');
writeFileSync(broken, '[profile.default\n');
test.each([
  ['an unknown profile', { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'nobody' }, /nobody/],
  ['a file that is no TOML', { TEMPORAL_CONFIG_FILE: broken }, /cannot be read/],
])('bad settings say so: %s', (_why, env, words) => {
  expect(() => readTemporalSettings(env)).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration', message: expect.stringMatching(words) }),
  );
});

test.each([
  ['an API key without its closing quote', 'api_key = "a-secret', 'line 3, column'],
  ['a private key without its end', '[profile.default.tls]\nclient_key_data = """\na-secret\n', 'line 4, column'],
  ['a mistake on the line below', 'api_key = "a-secret"\nnamespace = "', 'line 4, column'],
])('a broken file is not quoted, only where it is broken is said: %s', (_why, lines, place) => {
  writeFileSync(broken, `[profile.default]\naddress = "file:1"\n${lines}\n`);
  let failure: unknown;
  try {
    readTemporalSettings({ TEMPORAL_CONFIG_FILE: broken });
  } catch (error) {
    failure = error;
  }
  expect(failure).toMatchObject({ type: 'InvalidConfiguration', message: expect.stringContaining(place) });
  expect(inspect(failure, { depth: null })).not.toContain('a-secret');
});

const listen = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );

test.each([
  ['no server listens', false, /ECONNREFUSED/],
  ['a server listens and never answers', true, /no answer in time/],
])('an unreachable Temporal is named, within the time-out: %s', async (_why, keepsListening, words) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.resume()));
  const port = await listen(server);
  if (!keepsListening) await new Promise((done) => server.close(done));
  const failure = await connectClient(readTemporalSettings({ ...nowhere, TEMPORAL_ADDRESS: `127.0.0.1:${port}` }), {
    timeoutMs: 3_000,
    clock: systemClock,
  }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ type: 'TemporalUnavailable', message: expect.stringContaining(`127.0.0.1:${port}`) });
  expect(failure).toMatchObject({ message: expect.stringMatching(words) });
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('an abort ends the attempt at once', async () => {
  const settings = readTemporalSettings({ ...nowhere, TEMPORAL_ADDRESS: '127.0.0.1:1' });
  await expect(
    connectClient(settings, { timeoutMs: 60_000, clock: systemClock, abort: AbortSignal.abort() }),
  ).rejects.toMatchObject({ type: 'TemporalUnavailable' });
});

/** A gRPC server that answers each request with an empty message, unless it is `mute`. */
async function startGrpcServer() {
  const held: ServerHttp2Stream[] = [];
  const waiting: (() => void)[] = [];
  const server = createHttp2Server();
  const state = { mute: false };
  server.on('stream', (stream, { ':path': path }) => {
    stream.on('error', () => undefined);
    if (state.mute && path?.endsWith('/GetSystemInfo') === false) {
      held.push(stream);
      for (const wake of waiting.splice(0)) wake();
      return;
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );
  return {
    address: `127.0.0.1:${port}`,
    mute: () => void (state.mute = true),
    /** Until a request is held that gets no answer. */
    held: () => new Promise<void>((resolve) => (held.length > 0 ? resolve() : void waiting.push(resolve))),
    close: () => new Promise((done) => server.close(done)),
  };
}

test('a signal that outlives its calls keeps nothing of them, and still ends the one under way', async () => {
  const server = await startGrpcServer();
  const client = openClient(readTemporalSettings({ ...nowhere, TEMPORAL_ADDRESS: server.address }));
  const abort = new AbortController();
  const limits = { timeoutMs: 60_000, clock: systemClock, abort: abort.signal };
  const describe = () => limited(client, limits, () => client.workflowService.describeNamespace({ namespace: 'n' }));
  for (let calls = 0; calls < 100; calls += 1) await describe();
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);

  server.mute();
  const underWay = describe();
  await server.held();
  abort.abort();
  await expect(underWay).rejects.toMatchObject({ code: 1 });
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  await client.connection.close();
  await server.close();
});

test('a failure that is not gRPC’s is told in its own words', () => {
  expect(unreachable({ address: 'a:1', namespace: 'n' }, new Error('no route')).message).toContain('no route');
});
