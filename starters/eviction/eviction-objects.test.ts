import { percentOf } from './eviction-objects.ts';

test.each<[why: string, status: Parameters<typeof percentOf>[0], percent: number | null]>([
  [
    'all data counts',
    { dataTotal: '2.0 GiB', dataRemaining: '512.0 MiB', memTotal: '1.0 GiB', memRemaining: '0 B' },
    75,
  ],
  ['else the memory', { memTotal: '1.0 GiB', memRemaining: '256.0 MiB' }, 75],
  ['all copied', { memTotal: '1.0 GiB', memRemaining: '0 B' }, 100],
  ['more left than there was', { memTotal: '1.0 GiB', memRemaining: '2.0 GiB' }, 0],
  ['nothing to copy', { memTotal: '0 B', memRemaining: '0 B' }, null],
  ['no figures', {}, null],
  ['no status', undefined, null],
  ['another spelling', { memTotal: '1GB', memRemaining: '0' }, null],
])('%s', (_why, status, percent) => {
  expect(percentOf(status)).toBe(percent);
});
