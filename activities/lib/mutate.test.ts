import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import { testScope } from '../../test/fixtures/activities/nova.ts';
import { audited, mutate } from './mutate.ts';

const mutation = {
  action: 'ensureServiceDisabled',
  cause: 'admin',
  object: 'compute-service/node-1',
  before: { status: 'enabled' },
  after: { status: 'disabled' },
};
const run = { workflowId: 'eviction/node-1', runId: 'r' };
const line: AuditEntry = { ...mutation, actor: 'drover', run, requestId: null };

function openContext(stopped: Error | null = null) {
  const done: unknown[] = [];
  const context = {
    stopGate: async () => {
      done.push('gate');
      if (stopped !== null) throw stopped;
    },
    audit: { record: async (entry: AuditEntry) => void done.push(entry) },
    scope: testScope({ run }),
  };
  const act = async <Result>(result: Result): Promise<Result> => {
    done.push('act');
    if (result instanceof Error) throw result;
    return result;
  };
  return { context, done, act };
}

const answers: [what: string, answer: unknown, written: Partial<AuditEntry> | null][] = [
  ['nothing', undefined, {}],
  ['the id of the request', { requestId: 'req-1' }, { requestId: 'req-1' }],
  ['the object', { metadata: { name: 'a' } }, {}],
  ['that it is made', true, {}],
  ['that nothing was changed', false, null],
  ['that the name is taken', null, null],
];
test.each(answers)('an answer that says %s', async (_what, answer, written) => {
  const { context, done, act } = openContext();
  expect(await mutate(context, mutation, () => act(answer))).toBe(answer);
  expect(done).toEqual(['gate', 'act', ...(written === null ? [] : [{ ...line, ...written }])]);
});

test('the caller knows what its answer says', async () => {
  const { context, done, act } = openContext();
  await mutate(
    context,
    mutation,
    () => act('task-1'),
    (requestId) => ({ requestId, object: 'server/1' }),
  );
  await mutate(
    context,
    mutation,
    () => act(null),
    () => null,
  );
  expect(done).toEqual(['gate', 'act', { ...line, requestId: 'task-1', object: 'server/1' }, 'gate', 'act']);
});

const failure = (code: ErrorCode): Error => droverFailure(code, 'no answer within 12 s');
const failures: [what: string, error: Error, unanswered: boolean][] = [
  ['is lost at Nova', failure('NovaUnavailable'), true],
  ['is lost at Placement', failure('PlacementUnavailable'), true],
  ['is lost at kube-apiserver', failure('KubernetesUnavailable'), true],
  ['is lost at vCenter', failure('VsphereUnavailable'), true],
  ['is lost at a BMC', failure('BmcUnreachable'), true],
  ['cannot be read', failure('AnswerMalformed'), true],
  ['is cut off as the activity is cancelled', new Error('CANCELLED'), true],
  ['is a refusal', failure('ObjectRefused'), false],
  ['is not asked for, without a token', failure('KeystoneUnavailable'), false],
];
test.each(failures)('a change whose answer %s', async (_what, error, unanswered) => {
  const { context, done, act } = openContext();
  await expect(mutate(context, mutation, () => act(error))).rejects.toBe(error);
  const after = { asked: mutation.after, failed: error.message, ...(unanswered && { unanswered: true }) };
  expect(done).toEqual(['gate', 'act', { ...line, after }]);
});

test.each<ErrorCode>(['ObjectConflict', 'ProviderConflict', 'ConsumerConflict', 'ServiceConflict'])(
  '%s: another writer was faster, and what is decided then has its line',
  async (code) => {
    const { context, done, act } = openContext();
    await expect(mutate(context, mutation, () => act(failure(code)))).rejects.toMatchObject({ type: code });
    expect(done).toEqual(['gate', 'act']);
  },
);

test('nothing is done, and nothing written, while drover is stopped', async () => {
  const stopped = failure('Stopped');
  const { context, done, act } = openContext(stopped);
  await expect(mutate(context, mutation, () => act(true))).rejects.toBe(stopped);
  expect(done).toEqual(['gate']);
  await audited(context, { ...mutation, actor: 'jane' }, () => act(true));
  expect(done).toEqual(['gate', 'act', { ...line, actor: 'jane' }]);
});
