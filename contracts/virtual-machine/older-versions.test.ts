import { drivesOf } from './older-versions.ts';

test.each<[what: string, spec: Parameters<typeof drivesOf<string>>[0], drives: string[]]>([
  ['nothing', undefined, []],
  ['no hardware', {}, []],
  ['today’s place', { hardware: { cdrom: ['a'] } }, ['a']],
  ['that of before v1alpha5', { cdrom: ['a', 'b'] }, ['a', 'b']],
  ['hardware besides', { cdrom: ['a'], hardware: {} }, ['a']],
  ['none today', { hardware: { cdrom: [] } }, []],
])('drives of %s', (_what, spec, drives) => {
  expect(drivesOf(spec)).toEqual(drives);
});
