import { createMetrics } from '../runtime/telemetry/metrics.ts';
import { meterWatches } from './watch-meter.ts';

test('a vCenter that has not answered its watch yet is unwatched since the watch began', async () => {
  const metrics = createMetrics('worker', '1');
  const clock = { nowMs: 60_000, now: () => clock.nowMs };
  const meter = meterWatches(metrics, clock);
  const lines = async () => (await metrics.page()).match(/^drover_vcenter_watch_(?:last|vms).*$/gmu)?.toSorted();
  meter.began('lab');
  clock.nowMs = 90_000;
  meter.began('lab');
  expect(await lines()).toEqual([expect.stringMatching(/^drover_vcenter_watch_last_contact.* 60$/u)]);
  meter.answered('lab', 1, 7);
  meter.began('lab');
  expect(await lines()).toEqual([
    expect.stringMatching(/^drover_vcenter_watch_last_contact.* 90$/u),
    expect.stringMatching(/^drover_vcenter_watch_vms.* 7$/u),
  ]);
});
