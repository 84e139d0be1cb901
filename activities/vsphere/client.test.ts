import { systemClock } from '../../runtime/clock.ts';
import { openVcenter } from './client.ts';
import type { SoapRequest } from './http.ts';
import { readProperties } from './properties.ts';

const envelope = (method: string, value: string): string =>
  `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><${method}Response xmlns="urn:vim25">${value}</${method}Response></Body></Envelope>`;
const about =
  '<returnval><rootFolder type="Folder">f</rootFolder><propertyCollector type="PropertyCollector">p</propertyCollector><about><name>n</name><fullName>n</fullName><vendor>v</vendor><version>8</version><build>b</build><osType>o</osType><productLineId>vpx</productLineId><apiType>VirtualCenter</apiType><apiVersion>8.0.3.0</apiVersion></about><sessionManager type="SessionManager">SessionManager</sessionManager></returnval>';
const session =
  '<returnval><key>k</key><userName>u</userName><fullName>u</fullName><loginTime>2026-01-01T00:00:00Z</loginTime><lastActiveTime>2026-01-01T00:00:00Z</lastActiveTime><locale>en</locale><messageLocale>en</messageLocale></returnval>';
const retrieved = (what: string): string =>
  envelope(
    'RetrievePropertiesEx',
    `<returnval><objects><obj type="VirtualMachine">vm-1</obj>${what}</objects></returnval>`,
  );
const named = retrieved(
  '<propSet><name>name</name><val xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xsi:type="xsd:string">web</val></propSet>',
);
const missing = (type: string): string =>
  retrieved(
    `<missingSet><path>name</path><fault><fault xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"><object type="VirtualMachine">vm-1</object><privilegeId>System.View</privilegeId></fault><localizedMessage>no</localizedMessage></fault></missingSet>`,
  );

/** A vCenter that gives these answers to questions for properties, in their order, and the last one again. */
function opened(...answers: string[]) {
  let logins = 0;
  const cookies: (string | null)[] = [];
  const http = {
    send: ({ method, cookie }: SoapRequest) => {
      const of = (text: string) =>
        Promise.resolve({ status: 200, text, cookie: `session-${logins}`, requestId: '' as const });
      if (method === 'RetrieveServiceContent') return of(envelope(method, about));
      if (method === 'Login') {
        logins += 1;
        return of(envelope(method, session));
      }
      cookies.push(cookie);
      return of((answers.length > 1 ? answers.shift() : answers[0]) ?? '');
    },
    close: () => Promise.resolve(),
  };
  const settings = {
    name: 'prod',
    url: 'https://vcenter',
    credential: () => Promise.resolve({ username: 'u', password: 'the-password' }),
    ca: null,
    thumbprint: null,
    budget: { calls: 8, callsPerSecond: 1_000, tasks: 8 },
    places: { zones: {}, storagePolicies: {}, networks: {} },
  };
  const vcenter = openVcenter(settings, { clock: systemClock, http });
  const refs = [{ type: 'VirtualMachine', value: 'vm-1' }];
  return { cookies, read: () => readProperties(vcenter, refs, ['name'], new AbortController().signal) };
}

test('a session that has ended, as each property says, is renewed', async () => {
  const { cookies, read } = opened(missing('NotAuthenticated'), named);
  await expect(read()).resolves.toMatchObject([{ properties: { name: 'web' } }]);
  expect(cookies).toEqual(['session-1', 'session-2']);
});

test('once: then it is the credential', async () => {
  const { cookies, read } = opened(missing('NotAuthenticated'));
  await expect(read()).rejects.toMatchObject({ type: 'VsphereCredentialRefused' });
  expect(cookies).toHaveLength(2);
});

test('a privilege that is missing is no end of a session', async () => {
  const { cookies, read } = opened(missing('NoPermission'));
  await expect(read()).rejects.toMatchObject({ type: 'VsphereNotPermitted' });
  expect(cookies).toHaveLength(1);
});
