import { pino } from 'pino';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from '@temporalio/client';
import { digestMemo } from '../contracts/runs.ts';
import { drive } from '../test/fakes/drive.ts';
import { randomOf } from '../test/faults/random.ts';
import { createVirtualClock } from '../test/simulator/clock.ts';
import { readLeftDigests } from './catch-up.ts';

const minuteMs = 60_000;
const never = new AbortController().signal;

/** Runs `vm-0` to `vm-29`, in pages of ten that take as long as they say; the deadline is that of Temporal's client. */
function serve(pageMs: number) {
  const clock = createVirtualClock(0, randomOf(1));
  const deadlines = new AsyncLocalStorage<number>();
  const run = (index: number) => ({
    workflowId: `vm-${index}`,
    startTime: new Date(index),
    status: { name: 'COMPLETED' },
    memo: { [digestMemo]: `digest-${index}` },
  });
  const temporal = {
    withDeadline: (deadline: number, calls: () => Promise<unknown>) => deadlines.run(deadline, calls),
    withAbortSignal: (_: AbortSignal, calls: () => Promise<unknown>) => calls(),
    workflow: {
      async *list() {
        for (let page = 0; page < 3; page += 1) {
          const deadline = deadlines.getStore() ?? 0;
          await clock.sleep(pageMs);
          if (clock.now() > deadline) throw new Error('DEADLINE_EXCEEDED');
          for (let index = 0; index < 10; index += 1) yield run(page * 10 + index);
        }
      },
    },
  } as unknown as Client;
  const read = (ids: string[]) =>
    drive(
      clock,
      readLeftDigests(
        { temporal, listTimeoutMs: minuteMs, clock, log: pino({ level: 'silent' }) },
        { workflowType: 'reconcileVirtualMachine' },
        new Set(ids),
        never,
      ),
    );
  return { clock, read };
}

test('a list whose pages take longer together than one may is read to its end', async () => {
  const { clock, read } = serve(50_000);
  const left = await read(['vm-29', 'vm-3', 'vm-gone']);
  expect(Object.fromEntries(left)).toEqual({
    'vm-3': { open: false, digest: 'digest-3' },
    'vm-29': { open: false, digest: 'digest-29' },
  });
  expect(clock.nowMs).toBe(150_000);
});

test('no page is read that is not needed', async () => {
  const { clock, read } = serve(50_000);
  expect([...(await read(['vm-3'])).keys()]).toEqual(['vm-3']);
  expect(clock.nowMs).toBe(50_000);
});

test('a page that takes too long fails', async () => {
  await expect(serve(minuteMs + 1).read(['vm-3'])).rejects.toThrow('DEADLINE_EXCEEDED');
});
