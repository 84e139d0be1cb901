import type { SharedLimit } from './allowance.ts';
import { allowanceId } from './ids.ts';
import { inputOf, objectOf, placeOf, readSharedLimit } from './allowance.ts';

test.each<[input: unknown, shared: SharedLimit | null]>([
  [{ region: 'RegionOne' }, { kind: 'migrations', region: 'RegionOne' }],
  [
    { region: 'RegionOne', cluster: 'c', carried: {} },
    { kind: 'migrations', region: 'RegionOne' },
  ],
  [
    { kind: 'creates', vcenter: 'lab' },
    { kind: 'creates', vcenter: 'lab' },
  ],
  [
    { kind: 'destroys', vcenter: 'lab', cluster: 'c' },
    { kind: 'destroys', vcenter: 'lab' },
  ],
  [
    { kind: 'clones', driver: 'rbd', vcenter: 'lab' },
    { kind: 'clones', driver: 'rbd' },
  ],
  [{ kind: 'clones', vcenter: 'lab' }, null],
  [{ kind: 'creates', region: 'RegionOne' }, null],
  [{ kind: 'creates', vcenter: '' }, null],
  [{ of: 'resizes', vcenter: 'lab' }, null],
  [{ vcenter: 'lab' }, null],
  [{ region: 7 }, null],
  ['RegionOne', null],
  [undefined, null],
])('%j shares out %j', (input, shared) => {
  expect(readSharedLimit(input)).toEqual(shared);
});

test.each<[shared: SharedLimit, id: string, object: string, place: string]>([
  [{ kind: 'migrations', region: 'RegionOne' }, 'limits/migrations/RegionOne', 'RegionOne', 'region RegionOne'],
  [{ kind: 'creates', vcenter: 'lab' }, 'limits/creates/lab', 'lab/creates', 'vCenter lab'],
  [{ kind: 'destroys', vcenter: 'lab' }, 'limits/destroys/lab', 'lab/destroys', 'vCenter lab'],
  [{ kind: 'clones', driver: 'rbd' }, 'limits/clones/rbd', 'rbd/clones', 'CSI driver rbd'],
])('%j is known by its id, its object and its place, and its input leads back to it', (shared, id, object, place) => {
  expect([allowanceId(shared), objectOf(shared), placeOf(shared)]).toEqual([id, object, place]);
  expect(allowanceId(shared, 'c1')).toBe(`c1/${id}`);
  expect(readSharedLimit(inputOf(shared))).toEqual(shared);
});
