import type { SharedLimit } from './allowance.ts';
import { allowanceId } from './ids.ts';
import { inputOf, objectOf, placeOf, readShared } from './shared-limit.ts';

test.each<[input: unknown, shared: SharedLimit | null]>([
  [{ region: 'RegionOne' }, { of: 'migrations', region: 'RegionOne' }],
  [
    { region: 'RegionOne', cluster: 'c', carried: {} },
    { of: 'migrations', region: 'RegionOne' },
  ],
  [
    { of: 'creates', vcenter: 'lab' },
    { of: 'creates', vcenter: 'lab' },
  ],
  [
    { of: 'destroys', vcenter: 'lab', cluster: 'c' },
    { of: 'destroys', vcenter: 'lab' },
  ],
  [{ of: 'creates', region: 'RegionOne' }, null],
  [{ of: 'creates', vcenter: '' }, null],
  [{ of: 'resizes', vcenter: 'lab' }, null],
  [{ vcenter: 'lab' }, null],
  [{ region: 7 }, null],
  ['RegionOne', null],
  [undefined, null],
])('%j shares out %j', (input, shared) => {
  expect(readShared(input)).toEqual(shared);
});

test.each<[shared: SharedLimit, id: string, object: string, place: string]>([
  [{ of: 'migrations', region: 'RegionOne' }, 'limits/migrations/RegionOne', 'RegionOne', 'region RegionOne'],
  [{ of: 'creates', vcenter: 'lab' }, 'limits/creates/lab', 'lab/creates', 'vCenter lab'],
  [{ of: 'destroys', vcenter: 'lab' }, 'limits/destroys/lab', 'lab/destroys', 'vCenter lab'],
])('%j is known by its id, its object and its place, and its input leads back to it', (shared, id, object, place) => {
  expect([allowanceId(shared), objectOf(shared), placeOf(shared)]).toEqual([id, object, place]);
  expect(allowanceId(shared, 'c1')).toBe(`c1/${id}`);
  expect(readShared(inputOf(shared))).toEqual(shared);
});
