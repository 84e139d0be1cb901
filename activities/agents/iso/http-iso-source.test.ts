import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, utimesSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { etagOf, type IsoServer, type IsoServerOptions, startIsoServer } from '../../../lab/iso/server.ts';
import { makeSmallIso } from '../../../lab/iso/small-iso.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { redactText } from '../../../runtime/redaction.ts';
import { makeCertificate } from '../../../test/loopback-certificate.ts';
import { openHttpIsoSource, validatorOf } from './http-iso-source.ts';
import type { DownloadedIso, IsoSource, IsoSourceSettings } from './iso-source.ts';

const never = new AbortController().signal;
const image = makeSmallIso('first', 3_000_000);
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3NjR9.c2lnbmF0dXJlLW9mLWl0';

const open: { close(): Promise<void> }[] = [];
const root = mkdtempSync(join(tmpdir(), 'drover-iso-test-'));
const directory = join(root, 'isos');
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function serve(options: Partial<IsoServerOptions> = {}): Promise<IsoServer> {
  const server = await startIsoServer({ image, ...options });
  open.push(server);
  return server;
}

function openSource(server: IsoServer, change: Partial<IsoSourceSettings> = {}): IsoSource {
  const source = openHttpIsoSource(
    { hosts: [new URL(server.url).host], ca: null, directory, maxBytes: 8 * 2 ** 20, timeoutMs: 20_000, ...change },
    { clock: systemClock, timeouts: { connectMs: 2_000, headersMs: 2_000, bodyMs: 300 } },
  );
  open.push(source);
  return source;
}

const urlOf = (server: IsoServer): string => `${server.url}/images/1/full.iso?image_token=${token}`;
const get = (server: IsoServer, source: IsoSource, etag: string | null = null): Promise<DownloadedIso> =>
  source.download({ url: urlOf(server), etag }, never);

/** As it is on the disk; it is removed. */
async function contentOf(downloaded: DownloadedIso) {
  if (downloaded.kind === 'unchanged') throw new Error('nothing was downloaded');
  const { iso, etag } = downloaded;
  const bytes = await buffer(iso.open());
  await iso.remove();
  return { sha256: iso.sha256, sizeBytes: iso.sizeBytes, onDisk: sha(bytes), etag };
}
const whole = { sha256: sha(image), sizeBytes: image.length, onDisk: sha(image) };
const failureOf = (downloading: Promise<unknown>): Promise<{ type: string; message: string }> =>
  downloading.then(
    () => Promise.reject(new Error('it was downloaded')),
    (error: { type: string; message: string }) => error,
  );

test('an ISO is hashed on its way to the disk, from where it goes when it is removed', async () => {
  const server = await serve();
  expect(await contentOf(await get(server, openSource(server)))).toEqual({ ...whole, etag: etagOf(image) });
  expect(readdirSync(directory)).toEqual([]);
});

test('one that the server still has is not sent again', async () => {
  const server = await serve();
  const source = openSource(server);
  expect(await get(server, source, etagOf(image))).toEqual({ kind: 'unchanged' });
  const next = makeSmallIso('second', 3_000_000);
  server.setImage(next);
  expect(await contentOf(await get(server, source, etagOf(image)))).toMatchObject({ sha256: sha(next) });
  expect(readdirSync(directory)).toEqual([]);
});

test.each(['etag', 'lastModified'] as const)(
  'a connection that is cut is taken up again, by the %s',
  async (validator) => {
    const server = await serve({ validator });
    server.inject({ does: 'cut', afterBytes: 1_000_000 }, { does: 'cut', afterBytes: 700_000 });
    expect(await contentOf(await get(server, openSource(server)))).toMatchObject(whole);
    expect(server.requests.map(({ range }) => range !== null)).toEqual([false, true, true]);
  },
);

test('so is one that stops in the middle', async () => {
  const server = await serve();
  server.inject({ does: 'stall', afterBytes: 1_000_000 });
  expect(await contentOf(await get(server, openSource(server)))).toMatchObject(whole);
  expect(server.requests[1]).toMatchObject({ range: expect.stringMatching(/^bytes=\d+-$/u), ifRange: etagOf(image) });
});

test.each(['weak', 'none'] as const)(
  'where the version is %s, it is downloaded from its beginning',
  async (validator) => {
    const server = await serve({ validator });
    server.inject({ does: 'cut', afterBytes: 1_000_000 });
    expect(await contentOf(await get(server, openSource(server)))).toEqual({ ...whole, etag: null });
    expect(server.requests.map(({ range }) => range)).toEqual([null, null]);
  },
);

test('one that has become another one meanwhile is no mixture of both', async () => {
  const server = await serve();
  const next = makeSmallIso('second', 3_000_000);
  server.inject({ does: 'cut', afterBytes: 1_000_000 });
  const downloading = get(server, openSource(server));
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  server.setImage(next);
  expect(await contentOf(await downloading)).toMatchObject({ sha256: sha(next), onDisk: sha(next) });
});

test.each([
  [{ does: 'status', status: 500 }, 'IsoUnavailable', 'answered 500'],
  [{ does: 'status', status: 403 }, 'IsoUnavailable', 'its token has expired'],
  [{ does: 'page' }, 'IsoRefused', 'is no disc image'],
  [{ does: 'flood' }, 'IsoRefused', 'has more than the 8388608 bytes'],
  [{ does: 'lie', length: 20_000_000 }, 'IsoRefused', 'has 20000000 bytes'],
  [{ does: 'redirect', location: 'http://169.254.169.254/latest' }, 'IsoRefused', 'is at 169.254.169.254'],
  [{ does: 'redirect', location: 'file:///etc/passwd' }, 'IsoRefused', 'is one of file:'],
] as const)('an answer of the kind %j is a failure', async (fault, type, words) => {
  const server = await serve();
  server.inject(fault);
  const failure = await failureOf(get(server, openSource(server)));
  expect(failure).toMatchObject({ type, message: expect.stringContaining(words) });
  expect(readdirSync(directory)).toEqual([]);
});

test('no failure shows the token of a URL, nor does a redirect', async () => {
  const server = await serve();
  server.inject({ does: 'status', status: 500 }, { does: 'redirect', location: `http://other.test/${token}` });
  for (let index = 0; index < 2; index += 1) {
    const failure = await failureOf(get(server, openSource(server)));
    expect(JSON.stringify([failure.message, failure])).not.toContain(token);
  }
});

test('the token is hidden wherever it turns up meanwhile', async () => {
  const server = await serve();
  server.inject({ does: 'stall', afterBytes: 1_000 });
  const downloading = get(server, openSource(server));
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(redactText(`GET ${urlOf(server)}`)).not.toContain(token);
  await contentOf(await downloading);
});

test('one that is cut without end is given up', async () => {
  const server = await serve();
  server.inject(...Array.from({ length: 9 }, () => ({ does: 'cut', afterBytes: 0 }) as const));
  expect(await failureOf(get(server, openSource(server)))).toMatchObject({
    type: 'IsoUnavailable',
    message: expect.stringContaining('the connection was cut'),
  });
  expect(server.requests.length).toBeLessThanOrEqual(4);
});

test('a length that is more than what comes is a connection that was cut', async () => {
  const server = await serve();
  server.inject({ does: 'lie', length: image.length + 1_000 });
  // Asked for the rest, the server has none: it was never as long.
  expect(await contentOf(await get(server, openSource(server)))).toMatchObject(whole);
});

test('a redirect to an allowed host is followed, in the end', async () => {
  const target = await serve();
  const server = await serve();
  server.inject({ does: 'redirect', location: `${target.url}/real.iso` });
  const source = openSource(server, { hosts: [server, target].map(({ url }) => new URL(url).host) });
  expect(await contentOf(await get(server, source))).toMatchObject(whole);
  expect(target.requests).toHaveLength(1);
});

test('redirects without end are refused', async () => {
  const server = await serve();
  server.inject(...Array.from({ length: 9 }, () => ({ does: 'redirect', location: '/again' }) as const));
  expect(await failureOf(get(server, openSource(server)))).toMatchObject({
    type: 'IsoRefused',
    message: expect.stringContaining('redirects more than 3 times'),
  });
});

test('it ends in its time', async () => {
  const server = await serve({ validator: 'none' });
  server.inject(...Array.from({ length: 50 }, () => ({ does: 'stall', afterBytes: 1_000 }) as const));
  expect(await failureOf(get(server, openSource(server, { timeoutMs: 700 })))).toMatchObject({
    type: 'IsoUnavailable',
  });
  expect(readdirSync(directory)).toEqual([]);
});

test('one at a time, and one that is given up leaves nothing behind', async () => {
  const server = await serve();
  const source = openSource(server);
  server.inject({ does: 'stall', afterBytes: 1_000 });
  const controller = new AbortController();
  const first = failureOf(source.download({ url: urlOf(server), etag: null }, controller.signal));
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const second = get(server, source);
  expect(readdirSync(directory)).toHaveLength(1);
  controller.abort(new Error('the activity was cancelled'));
  expect(await first).toMatchObject({ message: 'the activity was cancelled' });
  expect(await contentOf(await second)).toMatchObject(whole);
  expect(readdirSync(directory)).toEqual([]);
});

test('what a worker that is gone has left is removed, and nothing else', async () => {
  const server = await serve();
  mkdirSync(directory, { recursive: true });
  const old = new Date(Date.now() - 3_600_000);
  for (const name of ['drover-iso-old', 'drover-iso-young', 'other-old']) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'disc.iso'), 'x');
    if (name.endsWith('old')) utimesSync(join(directory, name), old, old);
  }
  await contentOf(await get(server, openSource(server)));
  expect(readdirSync(directory).toSorted()).toEqual(['drover-iso-young', 'other-old']);
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
});

test('a directory that cannot be written is said so', async () => {
  const server = await serve();
  writeFileSync(join(root, 'file'), '');
  expect(await failureOf(get(server, openSource(server, { directory: join(root, 'file') })))).toMatchObject({
    type: 'IsoUnavailable',
    message: expect.stringContaining('agentPools.iso.directory'),
  });
});

test('a certificate of a CA that the settings do not name is not trusted; one that they name is', async () => {
  const certificate = makeCertificate();
  const server = await serve({ tls: { key: certificate.key, cert: certificate.cert } });
  expect(await failureOf(get(server, openSource(server)))).toMatchObject({ type: 'CertificateNotTrusted' });
  expect(await contentOf(await get(server, openSource(server, { ca: certificate.cert })))).toMatchObject(whole);
});

test.each([
  [{ etag: '"a"' }, '"a"'],
  [{ etag: 'W/"a"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', date: 'Fri, 02 Jan 2026 00:00:00 GMT' }, null],
  [{ etag: 'odd' }, null],
  [
    { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', date: 'Fri, 02 Jan 2026 00:00:00 GMT' },
    'Thu, 01 Jan 2026 00:00:00 GMT',
  ],
  [{ 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT', date: 'Thu, 01 Jan 2026 00:00:59 GMT' }, null],
  [{ 'last-modified': 'long ago', date: 'now' }, null],
  [{ 'last-modified': 'a\r\nX-Injected: 1', date: 'Thu, 01 Jan 2026 00:00:00 GMT' }, null],
  [{ 'last-modified': '2026-01-01', date: 'Fri, 02 Jan 2026 00:00:00 GMT' }, null],
  [{}, null],
])('headers %j name the version %s', (headers, validator) => {
  expect(validatorOf(headers as Record<string, string>)).toBe(validator);
});
