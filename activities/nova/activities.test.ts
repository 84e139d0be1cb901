import { countBySource } from './activities.ts';
import { migrationRecord } from '../../test/fixtures/activities/nova.ts';

test('counts what copies, by source host', () => {
  const migrations = [
    migrationRecord({ sourceHost: 'a' }),
    migrationRecord({ sourceHost: 'a', type: 'migration', status: 'migrating' }),
    migrationRecord({ sourceHost: 'b', status: 'queued' }),
    migrationRecord({ sourceHost: 'b', type: 'migration', status: 'finished' }),
    migrationRecord({ sourceHost: 'c', type: 'evacuation' }),
    migrationRecord({ sourceHost: 'c', type: 'resize', status: 'migrating' }),
  ];
  expect(countBySource(migrations)).toEqual({ a: 2, b: 1 });
});
