import { isAlreadyExists, isFailure, isUnknownKind, refusalFailure, transportFailure } from './kubernetes-faults.ts';

const status = (reason: string, name?: string): string =>
  JSON.stringify({
    kind: 'Status',
    status: 'Failure',
    reason,
    message: 'its words',
    details: { ...(name !== undefined && { name }), kind: 'evictions' },
  });

const rows: [httpStatus: number, body: string, code: string, words: string][] = [
  [400, status('BadRequest'), 'ObjectRefused', 'its words'],
  [401, status('Unauthorized'), 'KubernetesForbidden', 'its words'],
  [403, status('Forbidden', 'node-1'), 'KubernetesForbidden', 'its words'],
  [404, status('NotFound', 'node-1'), 'ObjectNotFound', 'its words'],
  [404, status('NotFound'), 'KubernetesUnavailable', 'does not know this resource; apply deploy/crds'],
  [404, '404 page not found\n', 'KubernetesUnavailable', 'does not know this resource; apply deploy/crds'],
  [409, status('Conflict', 'node-1'), 'ObjectConflict', 'its words'],
  [410, status('Expired'), 'KubernetesUnavailable', 'its words'],
  [415, status('UnsupportedMediaType'), 'ObjectRefused', 'its words'],
  [422, status('Invalid', 'node-1'), 'ObjectRefused', 'its words'],
  [429, status('TooManyRequests'), 'KubernetesUnavailable', 'its words'],
  [500, status('InternalError'), 'KubernetesUnavailable', 'its words'],
  [502, '<html>bad gateway</html>', 'KubernetesUnavailable', 'bad gateway'],
  [503, '', 'KubernetesUnavailable', 'no message'],
];

test.each(rows)('%d with %s is %s', (httpStatus, body, code, words) => {
  const failure = refusalFailure(httpStatus, body, 'GET /x');
  expect(failure.type).toBe(code);
  expect(failure.message).toContain('GET /x');
  expect(failure.message).toContain(words);
});

test.each([
  ['7', 7_000],
  ['', undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ['-1', undefined],
])('Retry-After %j is %p ms', (retryAfter, retryAfterMs) => {
  const { details } = refusalFailure(429, 'Too many requests, please try again later.', 'GET /x', retryAfter);
  expect(details?.[0]).toHaveProperty('httpStatus', 429);
  expect((details?.[0] as { retryAfterMs?: number } | undefined)?.retryAfterMs).toBe(retryAfterMs);
});

test('a name that is taken is told from a version that is old', () => {
  expect(isAlreadyExists(refusalFailure(409, status('AlreadyExists', 'node-1'), 'POST /x'))).toBe(true);
  expect(isAlreadyExists(refusalFailure(409, status('Conflict', 'node-1'), 'PATCH /x'))).toBe(false);
  expect(isAlreadyExists(new Error('AlreadyExists'))).toBe(false);
});

test('a kind that is not served is told from an object that is not there, and from a kube-apiserver that does not answer', () => {
  expect(isUnknownKind(refusalFailure(404, '404 page not found\n', 'GET /x'))).toBe(true);
  expect(isUnknownKind(refusalFailure(404, status('NotFound', 'node-1'), 'GET /x'))).toBe(false);
  expect(isUnknownKind(refusalFailure(503, '', 'GET /x'))).toBe(false);
});

test('a request without an answer says what it met', () => {
  const refused = Object.assign(
    new AggregateError([Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })], ''),
    { code: 'ECONNREFUSED' },
  );
  const failure = transportFailure(refused, 'GET /x', 'https://127.0.0.1:1');
  expect(isFailure(failure, 'KubernetesUnavailable')).toBe(true);
  expect(failure.message).toContain('GET /x: no answer from https://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1');
  expect(transportFailure(new DOMException('', 'TimeoutError'), 'GET /x', 's').message).toContain('it took too long');
});
