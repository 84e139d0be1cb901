import { ServiceError } from '@temporalio/client';
import { temporalFailure } from './activities.ts';

/** As grpc-js makes them. */
const grpc = (code: number, details: string): Error =>
  Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
const asClientsThrow = (code: number, details: string): Error =>
  new ServiceError('Failed to signal Workflow', { cause: grpc(code, details) });

test.each([
  ['unavailable', asClientsThrow(14, 'connection refused'), 'TemporalUnavailable'],
  ['too slow', asClientsThrow(4, 'deadline exceeded'), 'TemporalUnavailable'],
  ['too busy', asClientsThrow(8, 'namespace rate limit exceeded'), 'TemporalUnavailable'],
  ['broken in another way', new Error('socket hang up'), 'TemporalUnavailable'],
  [
    'without the search attributes',
    asClientsThrow(3, 'no mapping defined for search attribute DroverKind'),
    'RequestRefused',
  ],
  ['closed to us', grpc(7, 'not permitted'), 'RequestRefused'],
  ['closed to strangers', grpc(16, 'no credentials'), 'RequestRefused'],
])('a Temporal that is %s', (_why, error, type) => {
  expect(temporalFailure('tell the migration allowance of R', error)).toMatchObject({
    type,
    nonRetryable: type === 'RequestRefused',
  });
});

test('its own words are in the failure', () => {
  const { message } = temporalFailure(
    'tell the migration allowance of R',
    asClientsThrow(3, 'no mapping defined for search attribute DroverKind'),
  );
  expect(message).toContain(
    'Temporal could not tell the migration allowance of R: no mapping defined for search attribute DroverKind',
  );
});
