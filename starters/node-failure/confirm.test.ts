import { whatToConfirm } from './confirm.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { sampleFailure } from '../../test/fixtures/starters/failure.ts';

const command = 'drover confirm node-1 --incident node-1/1 --boot-id boot-1';

test.each<[why: string, failure: Parameters<typeof whatToConfirm>[1], exitCode: number, message: RegExp]>([
  ['no failure is dealt with', null, exitCodes.notFound, /^No failure of node-1 is dealt with/u],
  ['no worker answers', { ...sampleFailure(), progress: null }, exitCodes.unreachable, /^No worker answers/u],
  [
    'it would be refused',
    sampleFailure({ confirm: null, message: 'node-1 reports as it should' }),
    exitCodes.refused,
    /^There is nothing to confirm of node-1: node-1 reports/u,
  ],
  [
    'a person may confirm',
    sampleFailure({ confirm: command }),
    exitCodes.usage,
    /^Nothing was confirmed: .*node-1 is silent/u,
  ],
])('where %s, that is said', (_why, failure, exitCode, message) => {
  expect(whatToConfirm('node-1', failure)).toMatchObject({ exitCode, message: expect.stringMatching(message) });
});

test('what to type is given whole', () => {
  expect(whatToConfirm('node-1', sampleFailure({ confirm: command })).advice).toContain(command);
});
