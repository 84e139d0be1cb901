import { X509Certificate } from 'node:crypto';

import { makeCertificate } from '../../test/loopback-certificate.ts';
import { startScriptedService, type Reply } from '../../test/scripted-service.ts';
import { openHttp, type HttpOptions, type TransportFailure } from './http.ts';

const never = new AbortController().signal;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serve(reply: Reply, tls?: { key: string; cert: string }): Promise<string> {
  const service = await startScriptedService(() => reply, tls);
  open.push(service);
  return service.url;
}

class Failed extends Error {
  readonly fault: TransportFailure;

  constructor(fault: TransportFailure) {
    super(fault.words);
    this.fault = fault;
  }
}

function get(url: string, tls: HttpOptions['tls'] = {}, overdue?: AbortSignal) {
  const client = openHttp({
    connections: 1,
    largestAnswerBytes: 1_000,
    timeouts: { connectMs: 4_000, headersMs: 10_000, bodyMs: 10_000 },
    tls,
    trust: 'the settings',
  });
  open.push(client);
  return client.send(
    {
      call: { system: 'vsphere', verb: 'GET /' },
      method: 'GET',
      url: new URL(url),
      headers: {},
      ...(overdue !== undefined && { overdue }),
      failure: (fault) => new Failed(fault),
    },
    never,
  );
}

test('of many headers of one name, cookies stay apart', async () => {
  const url = await serve({ headers: { 'Set-Cookie': ['a=1; Path=/', 'b=2'], Location: '/x' }, json: { a: 1 } });
  expect(await get(url)).toMatchObject({
    status: 200,
    text: '{"a":1}',
    cookies: ['a=1; Path=/', 'b=2'],
    headers: { location: '/x' },
    requestId: '',
  });
});

test('an answer that is too large is none', async () => {
  const url = await serve({ json: 'x'.repeat(2_000) });
  await expect(get(url)).rejects.toMatchObject({ fault: { malformed: true } });
});

test('one that is overdue is a failure like others', async () => {
  const url = await serve('silent');
  await expect(get(url, {}, AbortSignal.abort(new Error('too long')))).rejects.toBeInstanceOf(Failed);
});

test('a certificate is trusted by its CA or by its thumbprint, and by nothing else', async () => {
  const tls = makeCertificate();
  const url = await serve({ json: {} }, tls);
  const thumbprint = new X509Certificate(tls.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  expect(await get(url, { ca: tls.cert })).toMatchObject({ status: 200 });
  expect(await get(url, { thumbprint })).toMatchObject({ status: 200 });
  await expect(get(url)).rejects.toMatchObject({
    fault: { certificate: true, words: expect.stringMatching(/not trusted; check the settings/u) },
  });
  await expect(get(url, { thumbprint: '0'.repeat(64) })).rejects.toMatchObject({
    fault: { certificate: true, words: expect.stringContaining(`has the thumbprint ${thumbprint}`) },
  });
});
