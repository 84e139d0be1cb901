import { droverFailure } from '../../../runtime/failure.ts';
import { refusalFailure, transportFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { fetchObject } from './fetch-object.ts';

const { signal } = new AbortController();
const status = (reason: string, name?: string): string =>
  JSON.stringify({ kind: 'Status', message: 'its words', reason, details: name === undefined ? {} : { name } });
const fetched = (get: () => Promise<string | null>) =>
  fetchObject('StorageClass fast', signal, get, (found) => ({ kind: 'found', value: found }));

test('what is there is read, and what is not is told', async () => {
  expect(await fetched(async () => 'x')).toEqual({ kind: 'found', value: 'x' });
  expect(await fetched(async () => null)).toEqual({ kind: 'notFound', message: 'There is no StorageClass fast' });
});

test.each([
  ['notFound', droverFailure('ObjectNotFound', 'There is no Secret a'), /no Secret a\.$/u],
  [
    'forbidden',
    refusalFailure(403, status('Forbidden', 'fast'), 'GET /x'),
    /StorageClass fast: GET \/x.*its words\.$/u,
  ],
  ['invalid', droverFailure('AnswerMalformed', 'GET /x: spec.hardware: expected object'), /spec\.hardware/u],
  ['internalError', refusalFailure(500, status('InternalError'), 'GET /x'), /its words/u],
  ['failed', refusalFailure(503, '', 'GET /x'), /503/u],
  ['failed', transportFailure(new Error('connection refused'), 'GET /x', 'https://k'), /connection refused/u],
] as const)('%s: %s', async (is, error, words) => {
  expect(await fetched(() => Promise.reject(error))).toEqual({ kind: is, message: expect.stringMatching(words) });
});

test('a kind that is not served has no objects, and says so', async () => {
  expect(await fetched(() => Promise.reject(refusalFailure(404, '404 page not found', 'GET /x')))).toEqual({
    kind: 'notFound',
    unknownKind: true,
    message: expect.stringMatching(/does not know that kind/u),
  });
});

test('a defect is no fact, and neither is a read that was given up', async () => {
  await expect(fetched(() => Promise.reject(new TypeError('x is undefined')))).rejects.toThrow('x is undefined');
  const aborted = AbortSignal.abort(new Error('cancelled'));
  await expect(
    fetchObject(
      'x',
      aborted,
      () => Promise.reject(refusalFailure(503, '', 'GET /x')),
      () => ({ kind: 'found', value: 1 }),
    ),
  ).rejects.toThrow('cancelled');
});
