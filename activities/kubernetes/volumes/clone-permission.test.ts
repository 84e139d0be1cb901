import { writtenMs } from './clone-permission.ts';

const made = '2026-01-31T12:00:00Z';
const later = '2026-01-31T13:00:00Z';
const written = (time: unknown, field = 'f:spec') => ({ manager: 'kubectl', time, fieldsV1: { [field]: {} } });

test.each<[what: string, metadata: object, since: string | null]>([
  ['never changed', { generation: 1, managedFields: [written(later)] }, made],
  ['changed since', { generation: 3, managedFields: [written(made), written(later)] }, later],
  [
    'labelled later than it was changed',
    { generation: 2, managedFields: [written(later), written('2026-01-31T14:00:00Z', 'f:metadata')] },
    later,
  ],
  ['changed, and it is not said when', { generation: 2 }, null],
  ['changed by one who does not say when', { generation: 2, managedFields: [written(made), written(undefined)] }, null],
  ['changed at no time', { generation: 2, managedFields: [written('yesterday')] }, null],
  ['made at no time', { creationTimestamp: 'yesterday' }, null],
])('in force since: %s', (_what, metadata, since) => {
  expect(writtenMs({ creationTimestamp: made, ...metadata })).toBe(since === null ? Infinity : Date.parse(since));
});
