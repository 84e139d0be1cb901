import { ApplicationFailure } from '@temporalio/common';

import { errors, type ErrorCode } from '../contracts/errors.ts';
import { droverFailure, failureCode } from './failure.ts';
import { registerSecret } from './redaction.ts';

test.each(Object.keys(errors) as ErrorCode[])(
  '%s carries its code, whether it is tried again, and its advice',
  (code) => {
    const failure = droverFailure(code, 'Something happened');
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure.type).toBe(code);
    expect(failure.nonRetryable).toBe(!errors[code].retryable);
    expect(failure.message).toBe(`Something happened. ${errors[code].advice}`);
    expect(failureCode(failure)).toBe(code);
  },
);

const { advice } = errors.RequestRefused;
const details: [detail: string, message: string][] = [
  ['ends already.', `ends already. ${advice}`],
  ['a question?', `a question? ${advice}`],
  ['“quoted.”', `“quoted.” ${advice}`],
  ['two\n  lines', `two lines. ${advice}`],
  ['', advice],
];
test.each(details)('the message of %j reads as sentences', (detail, message) => {
  expect(droverFailure('RequestRefused', detail).message).toBe(message);
});

test('nothing secret is left in message, cause and details', () => {
  registerSecret('s3cr3t-value');
  const cause = Object.assign(new Error('body: s3cr3t-value'), { headers: { 'x-auth-token': 'other' } });
  const failure = droverFailure('NovaUnavailable', 'sent s3cr3t-value', {
    cause,
    details: { body: 's3cr3t-value', token: 'other' },
  });
  expect(
    JSON.stringify([
      failure.message,
      failure.details,
      failure.cause?.message,
      failure.cause?.stack,
      Object.entries(failure.cause ?? {}),
    ]),
  ).not.toMatch(/s3cr3t-value|other/u);
});

test('other errors are no row of the table', () => {
  expect(failureCode(new Error('x'))).toBeNull();
  expect(failureCode(ApplicationFailure.create({ type: 'SomethingElse' }))).toBeNull();
});

test('a long answer is cut, in the message and in the cause', () => {
  const failure = droverFailure('NovaUnavailable', 'x'.repeat(100_000), { cause: new Error('y'.repeat(100_000)) });
  expect(failure.message.length).toBeLessThan(4_200);
  expect(failure.message.endsWith(errors.NovaUnavailable.advice)).toBe(true);
  expect(failure.cause?.message.length).toBeLessThan(4_100);
});

test('a secret at the place of the cut is hidden whole', () => {
  registerSecret('s3cr3t-value');
  expect(droverFailure('NovaUnavailable', `${'x'.repeat(3_995)}s3cr3t-value and so on`).message).not.toContain('s3c');
});
