import { droverFailure } from '../../runtime/failure.ts';
import { redactText } from '../../runtime/redaction.ts';
import { testClock } from '../../test/fixtures/activities/nova.ts';
import { openSessions, type SessionOptions } from './session.ts';

const never = new AbortController().signal;
const refusal = droverFailure('CephCredentialRefused', 'wrong password');

/** Logs in with `session-1`, `session-2`, … @param results what becomes of the first logins */
function open(
  change: Partial<SessionOptions<string, string>> = {},
  results: readonly (Error | Promise<string>)[] = [],
) {
  const clock = testClock();
  const logins: string[] = [];
  const sessions = openSessions<string, string>({
    credential: async () => 'password-1',
    logIn: async (credential) => {
      logins.push(credential);
      const result = results[logins.length - 1];
      if (result instanceof Error) throw result;
      return (await result) ?? `session-number-${logins.length}`;
    },
    secretOf: (session) => session,
    clock,
    ...change,
  });
  return { sessions, logins, clock };
}

test('all share one login, and one that gives up does not end it for the others', async () => {
  const held = Promise.withResolvers<string>();
  const { sessions, logins } = open({}, [held.promise]);
  const controller = new AbortController();
  const impatient = sessions.current(controller.signal);
  const others = [sessions.current(never), sessions.current(never)];
  controller.abort(new Error('enough'));
  await expect(impatient).rejects.toThrow('enough');
  held.resolve('session-number-1');
  expect(await Promise.all(others)).toEqual(['session-number-1', 'session-number-1']);
  expect(logins).toHaveLength(1);
});

test('it is renewed before the next request once it is about to expire', async () => {
  const { sessions, clock } = open({ renewAtMs: (session) => (session === 'session-number-1' ? 1_005_000 : Infinity) });
  expect(await sessions.current(never)).toBe('session-number-1');
  await clock.sleep(4_999);
  expect(await sessions.current(never)).toBe('session-number-1');
  await clock.sleep(1);
  expect(await sessions.current(never)).toBe('session-number-2');
});

test('one that is forgotten is replaced, once for all who had it', async () => {
  const { sessions, logins } = open();
  const first = await sessions.current(never);
  sessions.discard(first);
  expect(await sessions.current(never)).toBe('session-number-2');
  sessions.discard(first);
  expect(await sessions.current(never)).toBe('session-number-2');
  expect(logins).toHaveLength(2);
});

const uses: [what: string, refused: readonly string[], sent: readonly string[]][] = [
  ['it is good', [], ['session-number-1']],
  ['it is refused: a new one is made', ['session-number-1'], ['session-number-1', 'session-number-2']],
  [
    'the new one is refused, too: that is the answer',
    ['session-number-1', 'session-number-2'],
    ['session-number-1', 'session-number-2'],
  ],
];
test.each(uses)('a request where %s', async (_what, refused, expected) => {
  const { sessions } = open();
  const sent: string[] = [];
  const answer = await sessions.use(
    async (session) => {
      sent.push(session);
      return refused.includes(session) ? 401 : 200;
    },
    (status) => status === 401,
    never,
  );
  expect(sent).toEqual(expected);
  expect(answer).toBe(refused.length === 2 ? 401 : 200);
});

test('a login that failed is tried again by the next that asks, and not before', async () => {
  const { sessions, logins } = open({}, [new Error('cut')]);
  await expect(sessions.current(never)).rejects.toThrow('cut');
  expect(logins).toHaveLength(1);
  expect(await sessions.current(never)).toBe('session-number-2');
});

test('a credential that was refused is left alone for a while, unless it is another one by now', async () => {
  let credential = 'password-1';
  const options = {
    credential: async () => credential,
    holdRefusal: { code: 'CephCredentialRefused', forMs: 60_000 },
  } as const;
  const { sessions, logins, clock } = open(options, [refusal, refusal]);
  await expect(sessions.current(never)).rejects.toBe(refusal);
  await expect(sessions.current(never)).rejects.toBe(refusal);
  expect(logins).toEqual(['password-1']);
  await clock.sleep(60_000);
  await expect(sessions.current(never)).rejects.toBe(refusal);
  expect(logins).toHaveLength(2);
  credential = 'password-2';
  expect(await sessions.current(never)).toBe('session-number-3');
  expect(logins).toEqual(['password-1', 'password-1', 'password-2']);
});

test('all who log in with one credential share that it was refused, also those that come later', async () => {
  const held = { refused: null };
  const options = {
    credential: async () => 'password-1',
    holdRefusal: { code: 'CephCredentialRefused', forMs: 60_000, held },
  } as const;
  const first = open(options, [refusal]);
  await expect(first.sessions.current(never)).rejects.toBe(refusal);
  await first.sessions.end();
  const second = open({ ...options, clock: first.clock });
  await expect(second.sessions.current(never)).rejects.toBe(refusal);
  expect(second.logins).toEqual([]);
  await first.clock.sleep(60_000);
  expect(await second.sessions.current(never)).toBe('session-number-1');
  expect(held.refused).toBeNull();
});

test('the last two are secrets, as they may be good and in errors that are about to be written', async () => {
  const { sessions } = open();
  for (let count = 1; count <= 3; count += 1) sessions.discard(await sessions.current(never));
  await sessions.current(never);
  expect(redactText('session-number-4 session-number-3')).toBe('[redacted] [redacted]');
  expect(redactText('session-number-1')).toBe('session-number-1');
  await sessions.end();
  expect(redactText('session-number-4')).toBe('session-number-4');
});

const ends: [what: string, logOut: (session: string, signal: AbortSignal) => Promise<unknown>][] = [
  ['', async () => undefined],
  [', also where that fails', async () => Promise.reject(new Error('cut'))],
  [
    ', also where it takes for ever',
    (_session, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ],
];
test.each(ends)('the last one is logged out%s', async (_what, logOut) => {
  const { sessions, clock } = open();
  await sessions.current(never);
  const out: string[] = [];
  const ended = sessions.end((session, signal) => {
    out.push(session);
    return logOut(session, signal);
  });
  await clock.sleep(5_000);
  await expect(ended).resolves.toBeUndefined();
  expect(out).toEqual(['session-number-1']);
  await expect(sessions.current(never)).rejects.toThrow('closed');
});

test('without a session there is nothing to log out of', async () => {
  const out: string[] = [];
  await open().sessions.end(async (session) => out.push(session));
  expect(out).toEqual([]);
});
