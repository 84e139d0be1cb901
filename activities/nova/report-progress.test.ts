import type { MigrationReport } from '../../contracts/eviction/migrate-instance.ts';
import { createProgressReporter } from './report-progress.ts';
import { migrationRecord, testClock } from '../../test/fixtures/activities/nova.ts';

const subject = { instanceId: 'a', sourceHost: 'node-1', eviction: { name: 'node-1', uid: 'uid' }, attempt: 1 };
const signal = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));
const at = (remaining: number) => migrationRecord({ memoryTotalBytes: 1_000, memoryRemainingBytes: remaining });

test('shows what people notice, every two seconds at most, and always the end', async () => {
  const reports: MigrationReport[] = [];
  const clock = testClock();
  const reporter = createProgressReporter(async (report) => void reports.push(report), subject, clock, signal);
  for (const remaining of [1_000, 900, 900, 800, 799, 798]) {
    reporter.show(at(remaining));
    await settle();
    await clock.sleep(1_000, signal);
  }
  await reporter.finish(at(0), 'done');
  expect(reports.map(({ migration }) => migration?.memoryRemainingBytes)).toEqual([1_000, 900, 799, 0]);
  expect(reports.at(-1)).toMatchObject({ subject, message: 'done', startedAt: '2026-01-01T00:00:00Z' });
});

test('a report that fails on the way is made good by the next; one at the end is told', async () => {
  let calls = 0;
  const clock = testClock();
  const report = async (): Promise<void> => {
    calls += 1;
    if (calls !== 2) throw new Error('kube-apiserver is away');
  };
  const reporter = createProgressReporter(report, subject, clock, signal);
  reporter.show(at(900));
  await settle();
  reporter.show(at(900));
  await settle();
  expect(calls).toBe(2);
  await expect(reporter.finish(at(0), null)).rejects.toThrow('kube-apiserver is away');
});
