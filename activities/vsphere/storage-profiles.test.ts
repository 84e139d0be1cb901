import { failureCode } from '../../runtime/failure.ts';
import { systemClock } from '../../runtime/clock.ts';
import { openVcenter } from './client.ts';
import type { SoapRequest } from './http.ts';

const envelope = (body: string): string =>
  `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>${body}</Body></Envelope>`;
const response = (method: string, value: string): string =>
  envelope(`<${method}Response xmlns="urn:pbm">${value}</${method}Response>`);
const fault = (type: string): string =>
  envelope(
    `<Fault><faultcode>ServerFaultCode</faultcode><faultstring>no</faultstring><detail><Fault xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"/></detail></Fault>`,
  );
const content = response(
  'PbmRetrieveServiceContent',
  '<returnval><sessionManager type="PbmSessionManager">S</sessionManager><profileManager type="PbmProfileProfileManager">the-manager</profileManager></returnval>',
);
const listed = (...ids: string[]): string =>
  response('PbmQueryProfile', ids.map((id) => `<returnval><uniqueId>${id}</uniqueId></returnval>`).join(''));
const vim = (method: string, value: string): string =>
  envelope(`<${method}Response xmlns="urn:vim25">${value}</${method}Response>`);
const login = vim(
  'Login',
  '<returnval><key>k</key><userName>u</userName><fullName>u</fullName><loginTime>2026-01-01T00:00:00Z</loginTime><lastActiveTime>2026-01-01T00:00:00Z</lastActiveTime><locale>en</locale><messageLocale>en</messageLocale></returnval>',
);
const about =
  '<returnval><rootFolder type="Folder">f</rootFolder><propertyCollector type="PropertyCollector">p</propertyCollector><about><name>n</name><fullName>n</fullName><vendor>v</vendor><version>8</version><build>b</build><osType>o</osType><productLineId>vpx</productLineId><apiType>VirtualCenter</apiType><apiVersion>8.0.3.0</apiVersion></about><sessionManager type="SessionManager">SessionManager</sessionManager></returnval>';

type Answer = [status: number, text: string];

/** A vCenter that gives these answers to the calls of SPBM, in their order, and the last one again. */
function opened(...answers: Answer[]) {
  const sent: SoapRequest[] = [];
  let logins = 0;
  const http = {
    send: (request: SoapRequest) => {
      const of = (status: number, text: string) =>
        Promise.resolve({ status, text, cookie: `vmware_soap_session="session-${logins}"`, requestId: '' as const });
      if (request.method === 'RetrieveServiceContent') return of(200, vim('RetrieveServiceContent', about));
      if (request.method === 'Login') logins += 1;
      if (request.service !== 'pbm') return of(200, login);
      sent.push(request);
      return of(...((answers.length > 1 ? answers.shift() : answers[0]) ?? [404, '']));
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
  return { sent, read: () => vcenter.storageProfiles(new AbortController().signal), logins: () => logins };
}

test.each<[what: string, answers: Answer[], is: string[] | null]>([
  [
    'the ids of all',
    [
      [200, content],
      [200, listed('a', 'b')],
    ],
    ['a', 'b'],
  ],
  ['nothing where no SPBM is served', [[404, '<html>']], null],
  [
    'nothing where the user may not ask',
    [
      [200, content],
      [500, fault('NoPermission')],
    ],
    null,
  ],
  [
    'nothing where none is shown: vCenter brings some along',
    [
      [200, content],
      [200, listed()],
    ],
    null,
  ],
])('it gives %s', async (_, answers, is) => expect(await opened(...answers).read()).toEqual(is));

test.each<[what: string, answers: Answer[], code: string]>([
  ['it is away', [[503, 'no healthy upstream']], 'VsphereUnavailable'],
  ['it fails without SOAP', [[500, 'oops']], 'VsphereUnavailable'],
  ['a page answers', [[200, '<html/>']], 'AnswerMalformed'],
  ['it is no SPBM', [[200, response('PbmRetrieveServiceContent', '<returnval/>')]], 'AnswerMalformed'],
  [
    'a profile has no id',
    [
      [200, content],
      [200, response('PbmQueryProfile', '<returnval/>')],
    ],
    'AnswerMalformed',
  ],
  [
    'it refuses the session',
    [
      [200, content],
      [500, fault('NotAuthenticated')],
    ],
    'VsphereCredentialRefused',
  ],
])('it fails where %s', async (_, answers, code) => {
  const failed = await opened(...answers)
    .read()
    .catch((error: unknown) => error);
  expect(failureCode(failed)).toBe(code);
});

test('it asks with the session of vim25, in header and envelope, and never renews it', async () => {
  const { sent, read, logins } = opened(
    [200, content],
    [500, fault('NotAuthenticated')],
    [200, content],
    [200, listed('a')],
  );
  await read().catch(() => undefined);
  expect(await read()).toEqual(['a']);
  expect(logins()).toBe(1);
  expect(sent.map(({ method, cookie }) => [method, cookie])).toEqual(
    ['PbmRetrieveServiceContent', 'PbmQueryProfile', 'PbmRetrieveServiceContent', 'PbmQueryProfile'].map((method) => [
      method,
      'vmware_soap_session="session-1"',
    ]),
  );
  const body = sent.at(-1)?.body ?? '';
  expect(body).toContain('<vcSessionCookie>session-1</vcSessionCookie>');
  expect(body).toContain('<PbmQueryProfile xmlns="urn:pbm"><_this type="PbmProfileProfileManager">the-manager</_this>');
});
