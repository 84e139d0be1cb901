import { assert, nat, property } from 'fast-check';
import type { Migration as MigrationObject, MigrationStatus } from '../../../contracts/crds/migration.ts';
import type { Migration } from '../../../contracts/eviction/instance.ts';
import {
  foreignFields,
  formatBytes,
  formatDuration,
  isNews,
  migrationStatus,
  parseBytes,
  readMigration,
} from './report-migration.ts';

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
  const migration: MigrationObject = {
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

const GiB = 1024 ** 3;
const bytes: [value: number, text: string][] = [
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [512 * 1024 ** 2, '512.0 MiB'],
  [GiB, '1.0 GiB'],
  [12.34 * GiB, '12.3 GiB'],
  [2 * 1024 ** 4, '2.0 TiB'],
];

test.each(bytes)('%d bytes are %s', (value, text) => {
  expect(formatBytes(value)).toBe(text);
});

test('bytes are read as they were written, to a tenth of the unit', () => {
  assert(
    property(nat({ max: Number.MAX_SAFE_INTEGER }), (value) => {
      const read = parseBytes(formatBytes(value)) ?? Number.NaN;
      expect(Math.abs(read - value)).toBeLessThanOrEqual(Math.max(1, value * 0.051));
    }),
  );
});

test.each([undefined, '', 'lots', '1.5', '1.5 GB', '-1 B'])('%j is no number of bytes', (text) => {
  expect(parseBytes(text)).toBeNull();
});

const durations: [milliseconds: number, text: string][] = [
  [0, '0s'],
  [850, '850ms'],
  [1_000, '1s'],
  [45_240, '45.2s'],
  [59_990, '1m0s'],
  [60_000, '1m0s'],
  [65_500, '1m5.5s'],
  [3_600_500, '1h0m0.5s'],
  [90_061_000, '25h1m1s'],
];

test.each(durations)('%d ms are %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

const migration: Migration = {
  id: 7,
  instanceId: 'i',
  type: 'live-migration',
  status: 'running',
  sourceHost: 'node-1',
  targetHost: 'node-2',
  memoryTotalBytes: 4 * GiB,
  memoryRemainingBytes: GiB,
  diskTotalBytes: 0,
  diskRemainingBytes: 0,
  createdAt: '2026-01-01T00:00:00Z',
};
const startedAt = '2026-01-01T00:00:00Z';
const subject = { instanceId: 'i', sourceHost: 'node-1', eviction: { name: 'node-1', uid: 'u' }, attempt: 1 };
const at = (change: Partial<Migration>, message: string | null = null) =>
  migrationStatus(
    { subject, migration: { ...migration, ...change }, startedAt, message },
    Date.parse(startedAt) + 45_200,
  );

test('a running migration shows what is copied', () => {
  expect(at({})).toEqual({
    origin: 'node-1',
    destination: 'node-2',
    type: 'unbounded',
    operation: 'migration_out',
    started: startedAt,
    timeElapsed: '45.2s',
    dataTotal: '4.0 GiB',
    dataProcessed: '3.0 GiB',
    dataRemaining: '1.0 GiB',
    memTotal: '4.0 GiB',
    memProcessed: '3.0 GiB',
    memRemaining: '1.0 GiB',
  });
});

test('memory and disk add up', () => {
  expect(at({ diskTotalBytes: 8 * GiB, diskRemainingBytes: 3 * GiB })).toMatchObject({
    dataTotal: '12.0 GiB',
    dataRemaining: '4.0 GiB',
    diskProcessed: '5.0 GiB',
  });
});

test('before Nova has a record there is only who and since when', () => {
  expect(migrationStatus({ subject, migration: null, startedAt, message: 'refused' }, Date.parse(startedAt))).toEqual({
    origin: 'node-1',
    operation: 'migration_out',
    errMsg: 'refused',
    started: startedAt,
    timeElapsed: '0s',
  });
});

const ends: [status: string, type: string, errMsg: string | undefined, percent: number | null][] = [
  ['queued', 'unbounded', 'words', 75],
  ['completed', 'completed', undefined, 100],
  ['confirmed', 'completed', undefined, 100],
  ['failed', 'failed', 'words', 75],
  ['error', 'failed', 'words', 75],
  ['cancelled', 'cancelled', 'words', 75],
];

test.each(ends)('%s is %s to libvirt', (status, type, errMsg, percent) => {
  const shown = at({ status }, 'words');
  expect(shown.type).toBe(type);
  expect(shown.errMsg).toBe(errMsg);
  expect(readMigration(shown)).toEqual({ target: 'node-2', percent });
});

const shown: [status: Parameters<typeof readMigration>[0], read: ReturnType<typeof readMigration>][] = [
  [undefined, { target: null, percent: null }],
  [
    { started: startedAt, origin: 'node-1', destination: 'node-1' },
    { target: null, percent: null },
  ],
  [
    { started: startedAt, origin: 'node-1', destination: 'node-2', type: 'success' },
    { target: 'node-2', percent: 100 },
  ],
  [
    { started: startedAt, dataTotal: '1.0 GiB', dataRemaining: '2.0 GiB' },
    { target: null, percent: 0 },
  ],
  [
    { started: startedAt, dataTotal: '0 B', dataRemaining: '0 B' },
    { target: null, percent: null },
  ],
];

test.each(shown)('%j is read with care', (status, read) => {
  expect(readMigration(status)).toEqual(read);
});
