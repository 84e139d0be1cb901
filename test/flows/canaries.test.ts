import type { Failure } from './canary-world.ts';
import { applicationAuth, expectReported, openCanaryWorld, passwordAuth, shownSecrets } from './canary-world.ts';
import { limitMs } from './world-base.ts';

/**
 * Canaries in every credential, and a Nova that repeats whatever it was sent in everything it answers. What drover
 * writes of that — histories, logs, statuses, events, audit, metrics, outputs, arguments — holds none of them.
 */

let world: Awaited<ReturnType<typeof openCanaryWorld>>;
beforeAll(async () => {
  world = await openCanaryWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);

const refusal: Failure = {
  auth: passwordAuth,
  at: 'nova',
  echo: (sent) => ({ status: 403, json: { forbidden: { code: 403, message: `Policy does not allow ${sent}` } } }),
  code: 'NotPermitted',
};
const nonsense: Failure = {
  auth: applicationAuth,
  at: 'nova',
  echo: (sent) => ({ status: 200, text: sent }),
  code: 'AnswerMalformed',
};

test.each([
  ['a token that Nova repeats in a refusal', refusal],
  ['a token that Nova repeats in nonsense', nonsense],
])(
  '%s: every output shows the reason, and no secret',
  async (_, failure) => {
    expectReported(await world.showFailure(failure), failure);
  },
  limitMs,
);

/** Last, as what it writes stays in the lab's logs and histories. */
test(
  'without redaction the same search finds the canaries: it can fail',
  async () => {
    // The one whose answer has no quotes, which are written in another way at each level.
    const snapshot = await world.showFailure(refusal, {
      NODE_OPTIONS: `--import=${new URL('../without-redaction.ts', import.meta.url).href}`,
    });
    const found = shownSecrets(snapshot).join('\n');
    expect(found).toContain('the canary token');
    for (const where of ['log/worker.log', 'the objects']) expect(found).toContain(where);
  },
  limitMs,
);
