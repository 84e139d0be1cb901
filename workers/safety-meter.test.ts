import { createMetrics } from '../runtime/telemetry/metrics.ts';
import { meterSafety } from './safety-meter.ts';

function open() {
  let nowMs = 0;
  const metrics = createMetrics('worker', '1');
  const meter = meterSafety(metrics, { monotonicMs: () => nowMs });
  return {
    meter,
    pass: (ms: number) => void (nowMs += ms),
    lines: async () => (await metrics.page()).split('\n').filter((line) => line.startsWith('drover_machines_frozen{')),
  };
}

test('what is watched is shown until it is watched no more', async () => {
  const { meter, pass, lines } = open();
  meter.show('shoot', false);
  pass(3_600_000);
  expect(await lines()).toEqual(['drover_machines_frozen{namespace="shoot"} 0']);
  meter.show('shoot', true);
  expect(await lines()).toEqual(['drover_machines_frozen{namespace="shoot"} 1']);
  meter.hide('shoot');
  expect(await lines()).toEqual([]);
});

test('a thaw that did not succeed is shown over the longest pause, and not for ever', async () => {
  const { meter, pass, lines } = open();
  meter.keepFrozen('shoot');
  pass(11 * 60_000);
  expect(await lines()).toEqual(['drover_machines_frozen{namespace="shoot"} 1']);
  meter.keepFrozen('shoot');
  pass(11 * 60_000);
  expect(await lines()).toEqual(['drover_machines_frozen{namespace="shoot"} 1']);
  pass(60_000);
  expect(await lines()).toEqual([]);
  meter.keepFrozen('shoot');
  meter.show('shoot', false);
  pass(3_600_000);
  expect(await lines()).toEqual(['drover_machines_frozen{namespace="shoot"} 0']);
});
