import { preflightAll } from '../../test/simulator/region-at-size.ts';

// Each alone listed the region, and the servers and migrations of every eviction before it: 1,200 requests each,
// 240,000 in all.
test.each([250, 1_000])(
  '200 evictions at once, of %s hosts, ask for at most 30 things each',
  async (hosts) => {
    const { found, requests, tookMs } = await preflightAll(hosts, 200);
    expect(found.map(({ host }) => host.instances.length)).toEqual(Array.from({ length: 200 }, () => 1));
    expect(
      found
        .flatMap(({ obstacles }) => obstacles.map(({ code }) => code))
        .filter((code) => code !== 'AgentReportMissing'),
    ).toEqual([]);
    process.stderr.write(`${hosts} hosts: ${requests.toFixed(1)} requests each, ${(tookMs / 1_000).toFixed(1)} s\n`);
    expect(requests).toBeLessThanOrEqual(30);
    expect(tookMs).toBeLessThanOrEqual(120_000);
  },
  1_800_000,
);

test('one eviction alone asks for no more', async () => {
  const { requests } = await preflightAll(250, 1);
  process.stderr.write(`alone: ${requests} requests\n`);
  expect(requests).toBeLessThanOrEqual(30);
});
