import { planAfterFailure } from './after-failure.ts';

type Row = [
  why: string,
  code: Parameters<typeof planAfterFailure>[0],
  run: Partial<Parameters<typeof planAfterFailure>[1]>,
  next: string,
];
const rows: Row[] = [
  ['a stop is waited for', 'Stopped', {}, 'awaitLift'],
  ['a server that is not as it was thought to be is looked at', 'InstanceBusy', {}, 'lookAgain'],
  ['not for ever', 'InstanceBusy', { surprises: 10 }, 'fail'],
  ['what concerns Nova as a whole is the parent’s', 'CredentialRefused', {}, 'fail'],
  ['so is what has no row', null, {}, 'fail'],
  ['but a migration that may be in flight is not left alone', 'NovaUnavailable', { mayFail: false }, 'waitOut'],
  ['whatever becomes of it', 'InstanceBusy', { mayFail: false, surprises: 10 }, 'waitOut'],
];

test.each(rows)('%s', (_why, code, run, next) => {
  expect(planAfterFailure(code, { surprises: 0, mayFail: true, ...run })).toBe(next);
});
