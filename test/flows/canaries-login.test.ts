import type { Failure } from './canary-world.ts';
import { applicationAuth, canaries, expectReported, openCanaryWorld, passwordAuth } from './canary-world.ts';
import { limitMs } from './world-base.ts';

/** As in canaries.test.ts, where Keystone repeats what it was sent. Outages of Keystone are waited for. */

let world: Awaited<ReturnType<typeof openCanaryWorld>>;
beforeAll(async () => {
  world = await openCanaryWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);

const failures: [what: string, failure: Failure][] = [
  [
    'a wrong password, repeated in the refusal',
    {
      auth: passwordAuth,
      at: 'login',
      echo: (sent) => ({ status: 401, json: { error: { code: 401, message: `refused: ${sent}` } } }),
      code: 'CredentialRefused',
    },
  ],
  [
    'a wrong application credential, repeated in a page',
    {
      auth: applicationAuth,
      at: 'login',
      echo: (sent) => ({ status: 500, text: `<html><pre>${sent}</pre></html>` }),
      code: 'KeystoneUnavailable',
    },
  ],
  [
    'a login whose answer is broken',
    {
      auth: applicationAuth,
      at: 'login',
      echo: (sent) => ({ status: 201, headers: { 'x-subject-token': canaries.token }, text: `{"token": ${sent}` }),
      code: 'AnswerMalformed',
    },
  ],
];

test.each(failures)(
  '%s: every output shows the reason, and no secret',
  async (_, failure) => {
    expectReported(await world.showFailure(failure), failure);
  },
  limitMs,
);
