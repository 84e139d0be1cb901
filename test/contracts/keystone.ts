import { createNovaClient } from '../../activities/nova/client.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import { systemClock } from '../../runtime/clock.ts';
import { labClock } from '../../lab/clock.ts';
import type { CloudName } from '../../lab/openstack/handle.ts';
import { createInstance } from '../../lab/openstack/seed.ts';
import type { OpenStackSettings } from '../../runtime/config/openstack-settings.ts';
import { until } from '../flows/until.ts';
import type { ContractTest } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;

/** What drover takes for granted of Keystone, and of how the other services treat its tokens. */
export function describeKeystone(test: ContractTest): void {
  for (const cloud of ['lab', 'lab-password'] as const) {
    test(`the credential of ${cloud} logs in and sees the services`, async ({ connect, settings }) => {
      const session = connect(settings(cloud));
      expect(await session.identity(never)).toMatchObject({
        user: 'drover',
        project: 'admin',
        roles: expect.arrayContaining(['admin']),
      });
      expect(await createNovaClient(session).computeServices(never)).toHaveLength(6);
    });
  }

  const wrong: [cloud: CloudName, change: (settings: OpenStackSettings) => OpenStackSettings][] = [
    [
      'lab',
      (settings) => ({
        ...settings,
        credential: {
          method: 'application_credential',
          id: 'id' in settings.credential ? settings.credential.id : '',
          secret: 'not the secret',
        },
      }),
    ],
    [
      'lab-password',
      (settings) =>
        settings.credential.method === 'password'
          ? { ...settings, credential: { ...settings.credential, password: 'not the password' } }
          : settings,
    ],
  ];
  for (const [cloud, change] of wrong) {
    test(`a wrong secret of ${cloud} is the credential’s fault, and is not in the failure`, async ({
      connect,
      settings,
    }) => {
      const refused = await createNovaClient(connect(change(settings(cloud))))
        .computeServices(never)
        .catch((error: unknown) => error);
      const reason = /answered 401 to the login: The request you have made requires authentication\. \(request req-/u;
      expect(refused).toMatchObject({
        type: 'CredentialRefused',
        nonRetryable: true,
        message: expect.stringMatching(reason),
      });
      expect(JSON.stringify(refused)).not.toMatch(/not the (secret|password)/u);
    });
  }

  test('an application credential that Keystone does not know is answered with 404', async ({ connect, settings }) => {
    const unknown = {
      ...settings(),
      credential: { method: 'application_credential', id: '0'.repeat(32), secret: 'x' },
    } as const;
    await expect(connect(unknown).token(never)).rejects.toMatchObject({
      type: 'InvalidConfiguration',
      message: expect.stringMatching(/404 .*Could not find Application Credential/u),
    });
  });

  test('a region that the catalog does not have is named, with those it has', async ({ connect, settings }) => {
    await expect(
      createNovaClient(connect({ ...settings(), region: 'Atlantis' })).computeServices(never),
    ).rejects.toMatchObject({
      type: 'EndpointNotFound',
      message: expect.stringMatching(/type compute in region Atlantis; it has public in RegionOne/u),
    });
  });

  test('a member may not do it, and gets nothing that looks like an answer', async ({ connect, settings, admin }) => {
    const server = await createInstance(admin, { name: 'seen-by-member', host: 'node-1' });
    const session = connect(settings('lab-member'));
    const member = createNovaClient(session);
    const refused = { type: 'NotPermitted', nonRetryable: true };
    await expect(member.computeServices(never)).rejects.toMatchObject(refused);
    await expect(member.hypervisors(never)).rejects.toMatchObject(refused);
    await expect(member.aggregates(never)).rejects.toMatchObject(refused);
    await expect(member.servers({ host: 'node-1' }, never)).rejects.toMatchObject(refused);
    await expect(member.migrationsCopying(never)).rejects.toMatchObject(refused);
    await expect(member.liveMigrate(server.id, { host: null }, never)).rejects.toMatchObject(refused);
    await expect(member.server(server.id, never)).rejects.toMatchObject({
      type: 'HostAttributeMissing',
      nonRetryable: true,
    });
    await expect(createPlacementClient(session).resourceProviders({}, never)).rejects.toMatchObject(refused);
  });

  test('a token that was revoked is replaced, and the request sent once more', async ({
    connect,
    settings,
    apiCalls,
  }) => {
    const session = connect(settings('lab-password'));
    const token = await session.token(never);
    const url = new URL(`${settings().authUrl}/auth/tokens`);
    const revoked = await session.http.send(
      { service: 'Keystone', method: 'DELETE', url, headers: { 'x-auth-token': token, 'x-subject-token': token } },
      never,
    );
    expect(revoked.status).toBe(204);
    const sinceMs = labClock().now();
    expect(await createNovaClient(session).aggregates(never)).toEqual([]);
    expect(await session.token(never)).not.toBe(token);
    const asked = apiCalls('nova', sinceMs).filter(
      ({ path, userAgent }) => path.endsWith('/os-aggregates') && userAgent === 'drover',
    );
    expect(asked.map(({ status }) => status)).toEqual([401, 200]);
  });

  test('one token serves all until shortly before it expires', async ({ connect, settings, apiCalls }) => {
    const time = { now: 0 };
    const session = connect(settings(), stoppedAt(time));
    const client = createNovaClient(session);
    const sinceMs = labClock().now();
    const logins = () =>
      apiCalls('keystone', sinceMs).filter(({ method, userAgent }) => method === 'POST' && userAgent === 'drover')
        .length;
    await Promise.all([client.computeServices(never), client.aggregates(never), client.hypervisors(never)]);
    expect(logins()).toBe(1);
    time.now = 3_600_000 - 30_000;
    await client.aggregates(never);
    expect(logins()).toBe(2);
  });
}

/** A clock that only the test moves. */
const stoppedAt = (time: { now: number }): Clock => ({
  ...systemClock,
  now: () => time.now,
  monotonicMs: () => time.now,
});

/** @param test on a counterpart whose tokens live for six seconds */
export function describeExpiry(test: ContractTest): void {
  test('a token that has expired is noticed by the 401 where the clock did not say so, and replaced', async ({
    connect,
    settings,
  }) => {
    const session = connect(settings(), stoppedAt({ now: 0 }));
    const client = createNovaClient(session);
    const token = await session.token(never);
    const url = new URL(`${await session.endpoint('compute', never)}/os-aggregates`);
    const ask = () =>
      session.http.send({ service: 'Nova', method: 'GET', url, headers: { 'x-auth-token': token } }, never);
    await until('the token to expire', deadlineMs, async () => ((await ask()).status === 401 ? true : 'still good'));
    expect(await client.computeServices(never)).not.toEqual([]);
    expect(await session.token(never)).not.toBe(token);
    expect(await createPlacementClient(session).resourceProviders({}, never)).not.toEqual([]);
  });
}
