import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { type ServiceName, generalFault, refusalOf, wordsOf } from './faults.ts';

const nova = (code: number, message: string) => JSON.stringify({ itemNotFound: { code, message } });

const answers: [what: string, text: string, words: string, documented: boolean][] = [
  ['Nova', nova(404, 'Instance x could not be found.'), 'Instance x could not be found.', true],
  [
    'Keystone',
    '{"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}',
    'The request you have made requires authentication.',
    true,
  ],
  [
    'Placement',
    '{"errors":[{"status":404,"title":"Not Found","detail":"No resource provider.","request_id":"r"}]}',
    'No resource provider.',
    true,
  ],
  [
    'a proxy',
    '<html><head><style>b{}</style></head><body><h1>503 Service\n Unavailable</h1></body></html>',
    '503 Service Unavailable',
    false,
  ],
  ['other JSON', '{"message":"no Route matched"}', '{"message":"no Route matched"}', false],
  ['nothing', '', 'no words', false],
];
test.each(answers)('reads the words of %s', (_, text, words, documented) => {
  expect(refusalOf(400, text)).toEqual({ status: 400, words, documented });
});

test('only the beginning of a page is read: to look for the end of each of its openings would take for ever', () => {
  expect(refusalOf(502, `${' '.repeat(50_000)}behind`).words).toBe('no words');
  expect(refusalOf(502, '<style'.repeat(50_000)).words).toHaveLength(602);
});

test('long words are cut', () => {
  expect(refusalOf(400, 'x'.repeat(5000)).words).toHaveLength(602);
});

const rows: [service: ServiceName, status: number, documented: boolean, code: ErrorCode][] = [
  ['Nova', 400, true, 'RequestRefused'],
  ['Nova', 401, false, 'CredentialRefused'],
  ['Nova', 403, true, 'NotPermitted'],
  ['Nova', 404, true, 'RequestRefused'],
  ['Nova', 404, false, 'AnswerMalformed'],
  ['Nova', 406, true, 'RequestRefused'],
  ['Nova', 408, false, 'NovaUnavailable'],
  ['Nova', 409, true, 'RequestRefused'],
  ['Nova', 413, true, 'NovaUnavailable'],
  ['Nova', 429, false, 'NovaUnavailable'],
  ['Nova', 500, true, 'NovaUnavailable'],
  ['Nova', 503, false, 'NovaUnavailable'],
  ['Nova', 504, false, 'NovaUnavailable'],
  ['Placement', 500, true, 'PlacementUnavailable'],
  ['Keystone', 502, false, 'KeystoneUnavailable'],
  ['Nova', 302, false, 'AnswerMalformed'],
];
test.each(rows)('%s %i (its own words: %s) is %s', (service, status, documented, code) => {
  expect(generalFault(service, { status, documented, words: 'x' })).toBe(code);
});

test('a failure tells the service’s words apart from ours', () => {
  expect(
    wordsOf(droverFailure('MigrationRefused', 'Nova answered 400', { details: { status: 400, words: 'No.' } })),
  ).toBe('No.');
  expect(wordsOf(droverFailure('NovaUnavailable', 'cut'))).toMatch(/^cut\. /u);
  expect(wordsOf(new Error('x'))).toBe('x');
});
