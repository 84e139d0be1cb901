import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openAudit, type AuditEntry } from './audit.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-audit-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const entry: AuditEntry = {
  actor: 'admin@example',
  cause: 'admin',
  action: 'ensureServiceDisabled',
  object: 'compute-service/node-1',
  before: { status: 'enabled' },
  after: { status: 'disabled', disabledReason: 'drover: x' },
  run: { workflowId: 'eviction/node-1', runId: 'r' },
  requestId: 'req-1',
};
const clock = { now: () => Date.parse('2026-01-31T12:00:00Z') };
const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

test('appends one line per mutation to a file that only its owner reads', async () => {
  const file = join(dir, 'deep', 'audit.log');
  const audit = openAudit({ file, clock });
  await audit.record(entry);
  await audit.record({ ...entry, run: null, requestId: null });
  expect(lines(file)).toEqual([
    { time: '2026-01-31T12:00:00.000Z', ...entry },
    { time: '2026-01-31T12:00:00.000Z', ...entry, run: null, requestId: null },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(dir, 'deep')).mode & 0o777).toBe(0o700);
});

test('narrows a file that others could read, keeps what is in it, and follows a rotation', async () => {
  const file = join(dir, 'audit.log');
  writeFileSync(file, '{"old":1}\n', { mode: 0o644 });
  const audit = openAudit({ file, clock });
  await audit.record(entry);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(lines(file)).toHaveLength(2);
  renameSync(file, `${file}.1`);
  await audit.record(entry);
  expect(lines(file)).toHaveLength(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('lines of many at once stay whole', async () => {
  const file = join(dir, 'audit.log');
  const audit = openAudit({ file, clock });
  await Promise.all(
    Array.from({ length: 100 }, (_, index) => audit.record({ ...entry, before: 'x'.repeat(index * 10) })),
  );
  expect(lines(file)).toHaveLength(100);
});

test('goes to stderr without a file, and when the file fails, without secrets', async () => {
  const written: string[] = [];
  const fallback = (line: string) => void written.push(line);
  await openAudit({ file: null, fallback, clock }).record({ ...entry, after: { token: 'abc' } });
  expect(JSON.parse(written[0] ?? '')).toMatchObject({
    action: 'ensureServiceDisabled',
    after: { token: '[redacted]' },
  });
  const file = join(dir, 'gone', 'audit.log');
  const audit = openAudit({ file, fallback, clock });
  rmSync(join(dir, 'gone'), { recursive: true });
  await audit.record(entry);
  expect(written).toHaveLength(2);
});

test('refuses a file that cannot be opened', () => {
  writeFileSync(join(dir, 'file'), '');
  expect(() => openAudit({ file: join(dir, 'file', 'audit.log'), clock })).toThrow(/audit log cannot be written/u);
});
