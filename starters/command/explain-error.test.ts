import { errors } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { tableError, usageError } from './error.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';

const named = (name: string, message: string, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { name });
const grpc = (code: number, details: string): Error =>
  Object.assign(new Error(`${String(code)} ${details}`), { code, details });
const service = (cause: Error) => named('ServiceError', 'Failed to do it', cause);

test.each<[why: string, error: unknown, exitCode: number, message: RegExp, advice: RegExp | null]>([
  ['what a command says itself', usageError('No.', 'Yes.'), exitCodes.usage, /^No\.$/, /^Yes\.$/],
  [
    'a row of the table',
    tableError('HostNotFound', 'No host node-9.'),
    exitCodes.notFound,
    /^No host node-9\.$/,
    /compute host/,
  ],
  [
    'a failure says its advice once',
    droverFailure('HostNotFound', 'No host node-9'),
    exitCodes.notFound,
    /^No host node-9\.$/,
    /^Nova knows no such/,
  ],
  [
    'a refused credential',
    droverFailure('CredentialRefused', 'Keystone: 401'),
    exitCodes.refused,
    /^Keystone: 401\.$/,
    /Renew it/,
  ],
  [
    'a system that is down',
    droverFailure('NovaUnavailable', 'Nova: 503'),
    exitCodes.unreachable,
    /503/,
    /drover doctor/,
  ],
  [
    'a Temporal that is down',
    droverFailure('TemporalUnavailable', 'Temporal at x'),
    exitCodes.unreachable,
    /^Temporal at x\.$/,
    /TEMPORAL_ADDRESS/,
  ],
  [
    'a command that knows better than its cause',
    tableError('HostNotFound', 'No host.', named('WorkflowNotFoundError', 'x')),
    exitCodes.notFound,
    /^No host\.$/,
    /compute host/,
  ],
  ['wrong settings', droverFailure('InvalidConfiguration', 'x'), exitCodes.usage, /x/, /Correct the settings/],
  [
    'a refused update: the run says why',
    named(
      'WorkflowUpdateFailedError',
      'Workflow Update failed',
      droverFailure('InvalidInput', 'No instance web-9 on node-1'),
    ),
    exitCodes.usage,
    /^No instance web-9 on node-1\.$/,
    /Correct the input/,
  ],
  ['a failure of an unknown type', named('ApplicationFailure', 'Nope'), exitCodes.refused, /^Nope$/, null],
  ['no run', named('WorkflowNotFoundError', 'workflow not found'), exitCodes.notFound, /no such run/, /drover ls/],
  [
    'no worker',
    named('WorkflowUpdateRPCTimeoutOrCancelledError', 'timed out', grpc(1, 'Call cancelled')),
    exitCodes.unreachable,
    /No worker/,
    /drover worker/,
  ],
  [
    'no Temporal',
    service(grpc(14, 'connect ECONNREFUSED 127.0.0.1:7233')),
    exitCodes.unreachable,
    /Temporal cannot be reached.*7233/,
    /TEMPORAL_ADDRESS/,
  ],
  ['a slow Temporal', service(grpc(4, 'Deadline exceeded')), exitCodes.unreachable, /in time/, /drover worker/],
  [
    'no namespace',
    service(grpc(5, 'Namespace drover is not found.')),
    exitCodes.notFound,
    /Namespace drover/,
    /TEMPORAL_NAMESPACE/,
  ],
  ['no permission', service(grpc(7, 'Request unauthorized.')), exitCodes.refused, /unauthorized/, /API key/],
  [
    'a refused connection',
    Object.assign(new Error('connect ECONNREFUSED ::1:6443'), { code: 'ECONNREFUSED' }),
    exitCodes.unreachable,
    /6443/,
    /doctor/,
  ],
  ['anything else', new TypeError('undefined is not a function'), exitCodes.unexpected, /undefined/, /DROVER_DEBUG/],
  ['not even an error', 'boom', exitCodes.unexpected, /boom/, /DROVER_DEBUG/],
])('%s', (_why, error, exitCode, message, advice) => {
  const explained = explainError(error);
  expect(explained.exitCode).toBe(exitCode);
  expect(explained.message).toMatch(message);
  if (advice === null) expect(explained.advice).toBeNull();
  else expect(explained.advice).toMatch(advice);
});

test('a circle of causes ends', () => {
  const one = new Error('one');
  one.cause = new Error('two', { cause: one });
  expect(explainError(one).message).toBe('one');
});

test('every row of the table has advice to show', () => {
  for (const row of Object.values(errors)) expect(row.advice).not.toBe('');
});
