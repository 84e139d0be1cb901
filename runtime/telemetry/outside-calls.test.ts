import { createLogger } from './logging.ts';
import { createMetrics } from './metrics.ts';
import type { CallEnd, OutsideCall } from './outside-calls.ts';
import { callObserver, observed, outcomeOf } from './outside-calls.ts';

const call: OutsideCall = { system: 'nova', verb: 'GET /servers/{id}' };
const idle = AbortSignal.timeout(60_000);

test.each([
  [200, 'ok'],
  [202, 'ok'],
  [400, 'refused'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
  [429, 'throttled'],
  [500, 'server_error'],
  [503, 'server_error'],
] as const)('%i is %s', (status, outcome) => {
  expect(outcomeOf(status)).toBe(outcome);
});

async function endOf(
  send: () => Promise<{ status: number; requestId: string }>,
  signal = idle,
): Promise<CallEnd | undefined> {
  let end: CallEnd | undefined;
  await observed((_, its) => (end = its), call, signal, send).catch(() => undefined);
  return end;
}

test('an answer is told with its request id', async () => {
  expect(await endOf(() => Promise.resolve({ status: 409, requestId: 'req-1' }))).toEqual({
    outcome: 'conflict',
    status: 409,
    requestId: 'req-1',
    seconds: expect.any(Number),
  });
});

test('no answer is told as such, and what was thrown goes on', async () => {
  const refused = new Error('connection refused');
  expect(await endOf(() => Promise.reject(refused))).toMatchObject({ outcome: 'no_answer', status: null });
  await expect(
    observed(
      () => undefined,
      call,
      idle,
      () => Promise.reject(refused),
    ),
  ).rejects.toBe(refused);
});

test('what drover gave up itself is not the system’s failure', async () => {
  expect(await endOf(() => Promise.reject(new Error('aborted')), AbortSignal.abort())).toMatchObject({
    outcome: 'cancelled',
  });
});

test('a call is counted, timed, and logged with who made it; a failing one as a warning', async () => {
  const lines: { level: string; runId?: string; outcome: string; requestId: string }[] = [];
  const log = createLogger({
    level: 'debug',
    component: 'worker',
    destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
  });
  const metrics = createMetrics('worker', '1');
  const observe = callObserver(metrics, log, () => ({ runId: 'r1' }));
  observe(call, { outcome: 'ok', status: 200, requestId: 'req-1', seconds: 0.2 });
  observe(call, { outcome: 'server_error', status: 503, requestId: 'req-2', seconds: 0.2 });
  expect(lines).toEqual([
    expect.objectContaining({ level: 'debug', runId: 'r1', outcome: 'ok', requestId: 'req-1' }),
    expect.objectContaining({ level: 'warn', runId: 'r1', outcome: 'server_error', requestId: 'req-2' }),
  ]);
  const page = await metrics.page();
  expect(page).toContain('drover_outside_calls_total{system="nova",verb="GET /servers/{id}",outcome="server_error"} 1');
  expect(page).toContain('drover_outside_call_seconds_count{system="nova",verb="GET /servers/{id}"} 2');
});
