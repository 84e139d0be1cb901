import { applyEvent, applyList, type Delta, type Identity, type Store } from './store.ts';

const kept = (text: string): Identity => {
  const [uid = '', resourceVersion = ''] = text.split('@');
  return { uid, resourceVersion };
};
const storeOf = (...texts: string[]): Store<Identity> => new Map(texts.map((text) => [kept(text).uid, kept(text)]));
const show = (delta: Delta<Identity>): string => `${delta.type} ${delta.after.uid}@${delta.after.resourceVersion}`;
const contents = (store: Store<Identity>): string[] =>
  [...store.values()].map(({ uid, resourceVersion }) => `${uid}@${resourceVersion}`);

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
  const result = applyEvent(store, type, kept(object));
  expect(result && show(result)).toBe(delta);
  expect(contents(store)).toEqual(after);
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
  expect(applyList(store, listed.map(kept)).map(show)).toEqual(deltas);
  expect(contents(store).sort()).toEqual(listed.toSorted());
});
