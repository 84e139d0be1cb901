import { failureCode } from '../../runtime/failure.ts';
import { type Answer, openScriptedVcenter, soapEnvelope } from '../../test/fixtures/activities/scripted-vcenter.ts';

const response = (method: string, value: string): string =>
  soapEnvelope(`<${method}Response xmlns="urn:pbm">${value}</${method}Response>`);
const fault = (type: string): string =>
  soapEnvelope(
    `<Fault><faultcode>ServerFaultCode</faultcode><faultstring>no</faultstring><detail><Fault xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"/></detail></Fault>`,
  );
const content = response(
  'PbmRetrieveServiceContent',
  '<returnval><sessionManager type="PbmSessionManager">S</sessionManager><profileManager type="PbmProfileProfileManager">the-manager</profileManager></returnval>',
);
const listed = (...ids: string[]): string =>
  response('PbmQueryProfile', ids.map((id) => `<returnval><uniqueId>${id}</uniqueId></returnval>`).join(''));
/** A vCenter that gives these answers to the calls of SPBM, in their order, and the last one again. */
function opened(...answers: Answer[]) {
  const { vcenter, ...its } = openScriptedVcenter(...answers);
  return { ...its, read: () => vcenter.storageProfiles(new AbortController().signal) };
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
