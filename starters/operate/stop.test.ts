import { CommandError } from '../command/error.ts';
import { stopRequest } from './stop.ts';

test.each<[why: string, options: Parameters<typeof stopRequest>[0], request: object]>([
  ['everything', { reason: 'fire' }, { do: 'stop', stop: { of: 'all', name: '', reason: 'fire', by: 'alice' } }],
  [
    'a kind',
    { kind: 'Eviction', reason: 'fire' },
    { do: 'stop', stop: { of: 'kind', name: 'Eviction', reason: 'fire', by: 'alice' } },
  ],
  [
    'a region',
    { region: 'eu-1', reason: 'fire' },
    { do: 'stop', stop: { of: 'region', name: 'eu-1', reason: 'fire', by: 'alice' } },
  ],
  ['lift every stop', { lift: true }, { do: 'lift', scope: 'every' }],
  ['lift one', { lift: true, cluster: 'c' }, { do: 'lift', scope: { of: 'cluster', name: 'c' } }],
  ['show', { show: true }, { do: 'show' }],
])('%s', (_why, options, request) => {
  expect(stopRequest(options, 'alice')).toEqual(request);
});

test.each<[why: string, options: Parameters<typeof stopRequest>[0], words: RegExp]>([
  ['no reason', {}, /needs a reason/],
  ['two parts at once', { kind: 'Eviction', region: 'eu-1', reason: 'fire' }, /of their own/],
])('%s is refused', (_why, options, words) => {
  expect(() => stopRequest(options, 'alice')).toThrow(CommandError);
  expect(() => stopRequest(options, 'alice')).toThrow(words);
});
