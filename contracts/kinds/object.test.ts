import { isOwn, type KubeObject } from './object.ts';

const object = (managedFields: unknown): KubeObject => ({
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', generation: 1, managedFields },
});
const ready = ['f:status', 'f:conditions', 'k:{"type":"Ready"}', 'f:status'];
const owning = (manager: string, conditions: object) => ({
  manager,
  operation: 'Update',
  subresource: 'status',
  fieldsV1: { 'f:status': { 'f:conditions': conditions } },
});
const item = { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {} } };

test.each([
  ['drover wrote it', [owning('drover', item)], true],
  ['another client did', [owning('manager', item)], false],
  [
    'drover wrote it, another client another',
    [owning('manager', { 'k:{"type":"Other"}': {} }), owning('drover', item)],
    true,
  ],
  ['drover wrote another item', [owning('drover', { 'k:{"type":"Other"}': { 'f:status': {} } })], false],
  ['drover wrote another field of it', [owning('drover', { 'k:{"type":"Ready"}': { 'f:message': {} } })], false],
  ['a list that is written as one', [owning('drover', {})], true],
  ['an entry without fields', [{ manager: 'drover', fieldsV1: {} }, { manager: 'drover' }], false],
  ['nothing is recorded', undefined, false],
  ['odd records', [null, 'odd', { manager: 7 }], false],
])('%s', (_why, managedFields, own) => {
  expect(isOwn(object(managedFields), ready)).toBe(own);
});
