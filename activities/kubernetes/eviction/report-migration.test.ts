import type { Migration, MigrationStatus } from '../../../contracts/crds/migration.ts';
import { foreignFields, isNews } from './report-migration.ts';

const status: MigrationStatus = {
  started: '2026-01-01T00:00:00Z',
  type: 'unbounded',
  timeElapsed: '1s',
  dataRemaining: '2.0 GiB',
};

const rows: [why: string, change: Partial<MigrationStatus>, afterMs: number, news: boolean][] = [
  ['nothing new', {}, 60_000, false],
  ['time that passes', { timeElapsed: '9s' }, 60_000, false],
  ['figures too soon', { dataRemaining: '1.0 GiB' }, 1_999, false],
  ['figures in time', { dataRemaining: '1.0 GiB' }, 2_000, true],
  ['the end', { type: 'completed' }, 0, true],
  ['a target', { destination: 'node-2' }, 0, true],
  ['another attempt', { started: '2026-01-01T00:01:00Z' }, 0, true],
];

test.each(rows)('%s', (_why, change, afterMs, news) => {
  expect(isNews({ status, atMs: 1_000 }, { ...status, ...change }, 1_000 + afterMs)).toBe(news);
});

test('fields of the status that others own are foreign', () => {
  const migration: Migration = {
    apiVersion: 'kvm.cloud.sap/v1alpha1',
    kind: 'Migration',
    metadata: {
      name: 'i',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [
        { manager: 'drover', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:status': { 'f:origin': {} } } },
        {
          manager: 'kvm-node-agent',
          operation: 'Update',
          subresource: 'status',
          fieldsV1: { 'f:status': { '.': {}, 'f:memBps': {}, 'f:started': {} } },
        },
        { manager: 'kvm-node-agent', operation: 'Update', fieldsV1: { 'f:spec': {} } },
      ],
    },
    spec: {},
  };
  expect([...foreignFields(migration)]).toEqual(['.', 'memBps', 'started']);
});
