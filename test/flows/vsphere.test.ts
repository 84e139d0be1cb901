import { readFileSync } from 'node:fs';

import { Agent, request } from 'undici';
import { z } from 'zod';

import { deployItem } from '../../activities/vsphere/rest/deploy.ts';
import { folderRef, poolRef, vmRef } from '../../activities/vsphere/wire/values.ts';
import { typesThatDrifted } from '../../lab/vsphere/write-types.ts';
import { makeCertificate } from '../loopback-certificate.ts';
import { startScriptedService } from '../scripted-service.ts';
import { failureOf, makeVm, never } from '../contracts/vsphere-context.ts';
import { openVsphereWorld, startTimeoutMs, type VsphereWorld } from './vsphere-world.ts';

let world: VsphereWorld;

const ids = z.array(z.string());

beforeAll(async () => {
  world = await openVsphereWorld();
}, startTimeoutMs);
afterAll(() => world?.close());
beforeEach(() => world.control.reset());

let attempts = 0;
/** What is made stays in vCenter: another attempt takes another name. */
beforeEach(() => void (attempts += 1));

const read = (gateway: ReturnType<VsphereWorld['gateway']>) => gateway.read(world.ids.template, never);

test(
  'what is checked in is what the selection and govmomi make',
  async () => {
    expect(await typesThatDrifted()).toEqual([]);
  },
  startTimeoutMs,
);

test('one login for all concurrent callers, and a logout at the end', async () => {
  const vim = world.connect();
  await Promise.all(
    Array.from({ length: 20 }, () =>
      vim.call('FindByInventoryPath', { type: 'SearchIndex', value: 'SearchIndex' }, { inventoryPath: '/DC0' }, never),
    ),
  );
  expect(await world.requests('Login')).toHaveLength(1);
  const [login] = await world.requests('Login');
  expect(login).toMatchObject({ hasSession: false, soapAction: 'urn:vim25/8.0.1.0' });
  await vim.close();
  expect(await world.requests('Logout')).toEqual([expect.objectContaining({ hasSession: true, status: 200 })]);
});

test('sessions that another user has ended are renewed once, and no caller fails', async () => {
  const gateway = world.gateway();
  await read(gateway);
  await world.control.endSessions();
  await world.control.clearRequests();
  const results = await Promise.all(Array.from({ length: 20 }, () => read(gateway)));
  expect(results.every((vm) => vm?.name === 'DC0_C0_RP0_VM0')).toBe(true);
  expect(await world.requests('Login')).toHaveLength(1);
});

test('a session that ends between two pages fails the read, which is tried again from its beginning', async () => {
  const gateway = world.gateway();
  const activities = world.activities(gateway);
  for (let more = 0; more < 3; more += 1) await makeVm(activities, world.newVm(`paged-${more}`));
  const vim = world.connect();
  const { propertyCollector } = await vim.content(never);
  const spec = {
    propSet: [{ type: 'VirtualMachine', pathSet: ['name'] }],
    objectSet: [
      {
        obj: { type: 'Folder', value: world.ids.folder },
        skip: true,
        selectSet: [{ $type: 'TraversalSpec', type: 'Folder', path: 'childEntity' }],
      },
    ],
  };
  const page = await vim.call(
    'RetrievePropertiesEx',
    propertyCollector,
    { specSet: [spec], options: { maxObjects: 2 } },
    never,
  );
  expect(page?.objects).toHaveLength(2);
  const next = await vim.call('ContinueRetrievePropertiesEx', propertyCollector, { token: page?.token ?? '' }, never);
  expect(next.objects?.length).toBeGreaterThan(0);
  const again = await vim.call(
    'RetrievePropertiesEx',
    propertyCollector,
    { specSet: [spec], options: { maxObjects: 2 } },
    never,
  );
  await world.control.endSessions();
  expect(
    await failureOf(
      vim.call('ContinueRetrievePropertiesEx', propertyCollector, { token: again?.token ?? '' }, never, {
        sameSession: await vim.content(never),
      }),
    ),
  ).toMatchObject({ type: 'VsphereUnavailable', nonRetryable: false });
});

test('a read of a VM is one call with explicit paths', async () => {
  const gateway = world.gateway();
  await read(gateway);
  await world.control.clearRequests();
  await read(gateway);
  const requests = await world.control.requests();
  expect(requests.map(({ method }) => method)).toEqual(['RetrievePropertiesEx']);
  expect(requests[0]?.body).not.toContain('<all>true');
});

test('the lab refuses elements out of order, as a vCenter does', async () => {
  const order = (first: string, second: string): string =>
    `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><FindByInventoryPath xmlns="urn:vim25">${first}${second}</FindByInventoryPath></soapenv:Body></soapenv:Envelope>`;
  const self = '<_this type="SearchIndex">SearchIndex</_this>';
  const path = '<inventoryPath>/DC0</inventoryPath>';
  await expect(
    world
      .connect()
      .call('FindByInventoryPath', { type: 'SearchIndex', value: 'SearchIndex' }, { inventoryPath: '/DC0' }, never),
  ).resolves.toMatchObject({ type: 'Datacenter' });
  const answer = await sendRaw(order(path, self));
  expect(answer).toContain('InvalidRequest');
  expect(answer).toContain('_this comes after inventoryPath');
});

/** As a client that knows nothing of the schema. */
async function sendRaw(body: string): Promise<string> {
  const dispatcher = new Agent({ connect: { ca: readFileSync(world.handle.caFile, 'utf8') } });
  try {
    return await (await request(`${world.handle.url}/sdk`, { dispatcher, method: 'POST', body })).body.text();
  } finally {
    await dispatcher.close();
  }
}

describe('the identity of vCenter', () => {
  test('a thumbprint is enough, and takes the one certificate only', async () => {
    expect(await read(world.gateway({ ca: null, thumbprint: world.handle.thumbprint }))).toMatchObject({
      name: 'DC0_C0_RP0_VM0',
    });
    expect(await failureOf(read(world.gateway({ ca: null, thumbprint: 'ab'.repeat(32) })))).toMatchObject({
      type: 'CertificateNotTrusted',
      nonRetryable: true,
      message: expect.stringContaining(`its certificate has the thumbprint ${world.handle.thumbprint}`),
    });
  });

  test('a vCenter with an unknown certificate is not connected to', async () => {
    await world.control.clearRequests();
    expect(await failureOf(read(world.gateway({ ca: null })))).toMatchObject({
      type: 'CertificateNotTrusted',
      message: expect.stringContaining('vsphere.vcenters.lab.caFile'),
    });
    expect(await world.control.requests()).toEqual([]);
  });

  test('another vCenter at the same address does not get the password', async () => {
    const certificate = makeCertificate();
    const impostor = await startScriptedService(() => ({ json: {} }), certificate);
    try {
      expect(await failureOf(read(world.gateway({ url: impostor.url })))).toMatchObject({
        type: 'CertificateNotTrusted',
      });
      expect(
        await failureOf(read(world.gateway({ url: impostor.url, ca: null, thumbprint: world.handle.thumbprint }))),
      ).toMatchObject({ type: 'CertificateNotTrusted' });
      expect(impostor.received).toEqual([]);
    } finally {
      await impostor.close();
    }
  });
});

describe('the credentials of drover', () => {
  test('a wrong password is said so once, not tried again for a minute, and not shown', async () => {
    const gateway = world.gateway({
      credential: () => Promise.resolve({ username: world.handle.username, password: 'not-the-password' }),
    });
    for (let time = 0; time < 5; time += 1) {
      const failure = await failureOf(read(gateway));
      expect(failure).toMatchObject({
        type: 'VsphereCredentialRefused',
        nonRetryable: true,
        message: expect.stringContaining('InvalidLogin'),
      });
      expect(JSON.stringify(failure)).not.toContain('not-the-password');
    }
    expect(await world.requests('Login')).toHaveLength(1);
  });

  test('a rotated password is taken from its file, at once', async () => {
    let password = readFileSync(world.handle.passwordFile, 'utf8');
    const gateway = world.gateway({ credential: () => Promise.resolve({ username: world.handle.username, password }) });
    await read(gateway);
    await world.control.changePassword('another-password');
    await world.control.endSessions();
    expect(await failureOf(read(gateway))).toMatchObject({ type: 'VsphereCredentialRefused' });
    password = 'another-password';
    expect(await read(gateway)).toMatchObject({ name: 'DC0_C0_RP0_VM0' });
  });
});

describe('when the answer does not come', () => {
  // More than an answer takes that comes.
  const limited = { timeouts: { connectMs: 10_000, headersMs: 5_000, bodyMs: 5_000 } };
  const rows: [what: string, strike: Parameters<VsphereWorld['control']['inject']>[0], words: RegExp][] = [
    ['the connection is cut', { does: 'cut' }, /the connection was cut/u],
    ['vCenter hangs', { does: 'hang' }, /no answer within 5 s/u],
    ['a proxy says 503', { does: 'status', status: 503 }, /answered 503 to RetrievePropertiesEx, and no SOAP/u],
    ['a proxy says 429', { does: 'status', status: 429 }, /answered 429/u],
  ];
  test.each(rows)('%s: once, and retryable', async (_, fault, message) => {
    const gateway = world.gateway({}, limited);
    await read(gateway);
    await world.control.inject({ method: 'RetrievePropertiesEx', ...fault });
    expect(await failureOf(read(gateway))).toMatchObject({
      type: 'VsphereUnavailable',
      nonRetryable: false,
      message: expect.stringMatching(message),
    });
    expect(await read(gateway)).not.toBeNull();
  });

  test('another status is no vCenter', async () => {
    const gateway = world.gateway();
    await read(gateway);
    await world.control.inject({ does: 'status', status: 404 });
    expect(await failureOf(read(gateway))).toMatchObject({ type: 'AnswerMalformed' });
  });

  test('a call and all that it waits for has an end', async () => {
    const vim = world.connect({ budget: { calls: 1, callsPerSecond: 1_000, tasks: 1 } }, { callMs: 5_000 });
    await vim.content(never);
    await world.control.inject({ does: 'hang', count: 2 });
    const calls = [0, 1].map(() =>
      failureOf(
        vim.call(
          'FindByInventoryPath',
          { type: 'SearchIndex', value: 'SearchIndex' },
          { inventoryPath: '/DC0' },
          never,
        ),
      ),
    );
    for (const call of calls)
      expect(await call).toMatchObject({
        type: 'VsphereUnavailable',
        message: expect.stringContaining('was not done within 5 s'),
      });
  });

  test('a cancel ends a call at once, and a login that others wait for goes on', async () => {
    const gateway = world.gateway();
    await world.control.inject({ method: 'Login', does: 'delay', delayMs: 400 });
    const stop = new AbortController();
    const given = failureOf(gateway.read(world.ids.template, stop.signal));
    const kept = read(gateway);
    const reason = new Error('cancelled');
    stop.abort(reason);
    expect(await given).toBe(reason);
    expect(await kept).toMatchObject({ name: 'DC0_C0_RP0_VM0' });
    expect(await world.requests('Login')).toHaveLength(1);
  });
});

test('no more tasks of a worker at once than its budget allows; those that have ended make room, whichever call awaited them', async () => {
  const gateway = world.gateway({ budget: { calls: 8, callsPerSecond: 1_000, tasks: 2 } });
  await world.control.delayTasks({ CloneVm: 300 });
  const clone = (name: string) =>
    gateway.submit(
      'CloneVM_Task',
      vmRef(world.ids.template),
      {
        folder: folderRef(world.ids.folder),
        name,
        spec: { location: { pool: poolRef(world.ids.pool) }, template: false, powerOn: false },
      },
      never,
    );
  const submitted = await Promise.all(Array.from({ length: 6 }, (_, number) => clone(`budget-${attempts}-${number}`)));
  expect(new Set(submitted).size).toBe(6);
  const clones = (await world.control.requests())
    .map(({ method, body }) =>
      method === 'CloneVM_Task'
        ? 'clone'
        : method === 'RetrievePropertiesEx' && body.includes('info.state')
          ? 'read'
          : null,
    )
    .filter((what) => what !== null);
  // Of the first three, the third waited for a read.
  expect(clones.slice(0, 3)).toEqual(['clone', 'clone', 'read']);
  for (const taskId of submitted)
    await world.activities(gateway).awaitTask({ taskId, purpose: { kind: 'change', vmId: world.ids.template } });
});

test('what vCenter does not allow fails with the name of the missing privilege', async () => {
  const gateway = world.gateway();
  await world.control.fail({
    method: 'PowerOffVM_Task',
    fault: 'NoPermission',
    fields: { privilegeId: 'VirtualMachine.Interact.PowerOff' },
  });
  expect(await failureOf(gateway.submit('PowerOffVM_Task', vmRef(world.ids.template), {}, never))).toMatchObject({
    type: 'VsphereNotPermitted',
    nonRetryable: true,
    message: expect.stringContaining('VirtualMachine.Interact.PowerOff'),
  });
});

test('the lab refuses a configuration out of order, as a vCenter does', async () => {
  const xml = Buffer.from(
    '<obj xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><memoryMB>1</memoryMB><numCPUs>1</numCPUs></obj>',
  ).toString('base64');
  const body = {
    deployment_spec: { name: 'untidy', vm_config_spec: { provider: 'XML', xml } },
    target: { resource_pool_id: world.ids.pool },
  };
  const { ovf } = await world.witness.makeLibrary(`untidy-${attempts}`);
  expect(await failureOf(deployItem(world.rest, ovf, body, 'untidy', never))).toMatchObject({
    type: 'RequestRefused',
    message: expect.stringContaining('numCPUs comes after memoryMB'),
  });
});

test('a session of REST that vCenter has ended is renewed once', async () => {
  await world.rest.call({ method: 'GET', path: '/com/vmware/content/library' }, ids, never);
  await world.control.endSessions();
  await world.control.clearRequests();
  expect(await world.rest.call({ method: 'GET', path: '/com/vmware/content/library' }, ids, never)).toEqual(
    expect.any(Array),
  );
  expect((await world.control.requests()).map(({ method, status }) => [method, status])).toEqual([
    ['GET /com/vmware/content/library', 401],
    ['POST /com/vmware/cis/session', 200],
    ['GET /com/vmware/content/library', 200],
  ]);
});
