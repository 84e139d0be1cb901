import * as fc from 'fast-check';
import { createStore, type Delta, type Named, type Store } from './store.ts';

/** `uid@resourceVersion`, and after a colon the keys of the index. */
interface Kept extends Named {
  keys: readonly string[];
}
const kept = (text: string): Kept => {
  const [identity = '', keys = ''] = text.split(':');
  const [uid = '', resourceVersion = ''] = identity.split('@');
  return { uid, resourceVersion, name: uid.replace(/\d$/u, ''), keys: keys.split(',').filter((key) => key !== '') };
};
const storeOf = (...texts: string[]): Store<Kept> => {
  const store = createStore<Kept>(({ keys }) => keys);
  store.applyList(texts.map(kept));
  return store;
};
const show = (delta: Delta<Kept>): string => `${delta.type} ${delta.after.uid}@${delta.after.resourceVersion}`;
const contents = (objects: Iterable<Kept>): string[] =>
  [...objects].map(({ uid, resourceVersion }) => `${uid}@${resourceVersion}`);

test.each([
  ['a new object', [], 'ADDED', 'a@1', 'added a@1', ['a@1']],
  ['a change', ['a@1'], 'MODIFIED', 'a@2', 'changed a@2', ['a@2']],
  ['the same again, after a watch that began anew', ['a@2'], 'MODIFIED', 'a@2', null, ['a@2']],
  ['ADDED of what is known is a change', ['a@1'], 'ADDED', 'a@2', 'changed a@2', ['a@2']],
  ['MODIFIED of what is not known is new', [], 'MODIFIED', 'a@2', 'added a@2', ['a@2']],
  ['a deletion tells the last state', ['a@1'], 'DELETED', 'a@3', 'gone a@3', []],
  ['a deletion of what is not known', ['b@1'], 'DELETED', 'a@3', null, ['b@1']],
] as const)('event: %s', (_why, before, type, object, delta, after) => {
  const store = storeOf(...before);
  const result = store.applyEvent(type, kept(object));
  expect(result && show(result)).toBe(delta);
  expect(contents(store.objects())).toEqual(after);
});

test.each([
  ['the first', [], ['a@1', 'b@2'], ['added a@1', 'added b@2']],
  ['nothing happened', ['a@1', 'b@2'], ['a@1', 'b@2'], []],
  ['one changed, one went, one came', ['a@1', 'b@2'], ['a@3', 'c@4'], ['gone b@2', 'changed a@3', 'added c@4']],
  [
    'one name deleted and created again is two objects, the old one first',
    ['old@1'],
    ['new@9'],
    ['gone old@1', 'added new@9'],
  ],
  ['all went', ['a@1', 'b@2'], [], ['gone a@1', 'gone b@2']],
])('list: %s', (_why, before, listed, deltas) => {
  const store = storeOf(...before);
  expect(store.applyList(listed.map(kept)).map(show)).toEqual(deltas);
  expect(contents(store.objects()).sort()).toEqual(listed.toSorted());
});

test.each([
  ['two objects under one key', ['a@1:x', 'b@1:x,y'], 'x', ['a@1', 'b@1']],
  ['a key of one of them', ['a@1:x', 'b@1:x,y'], 'y', ['b@1']],
  ['a key that nothing has', ['a@1:x'], 'z', []],
])('index: %s', (_why, listed, key, found) => {
  expect(contents(storeOf(...listed).indexed(key))).toEqual(found);
});

test('of two objects of one name the one that came last is found, and still when the other one is gone', () => {
  const store = storeOf('node1@1');
  store.applyEvent('ADDED', kept('node2@2'));
  store.applyEvent('DELETED', kept('node1@3'));
  expect(store.named('node')?.uid).toBe('node2');
  store.applyEvent('DELETED', kept('node2@4'));
  expect(store.named('node')).toBeUndefined();
});

test('names and index say what a scan of the objects says, whatever came before', () => {
  const event = fc.record({
    type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'),
    uid: fc.constantFrom('a', 'b', 'c'),
    resourceVersion: fc.nat(5),
    keys: fc.subarray(['x', 'y']),
  });
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const store = createStore<Kept>(({ keys }) => keys);
      for (const { type, uid, resourceVersion, keys } of events)
        store.applyEvent(type, { uid, name: `name-${uid}`, resourceVersion: String(resourceVersion), keys });
      const objects = [...store.objects()];
      for (const key of ['x', 'y'])
        expect(contents(store.indexed(key)).sort()).toEqual(
          contents(objects.filter(({ keys }) => keys.includes(key))).sort(),
        );
      for (const uid of ['a', 'b', 'c'])
        expect(store.named(`name-${uid}`)).toBe(objects.find((object) => object.uid === uid));
    }),
  );
});
