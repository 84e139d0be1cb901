import { readCpuSeconds, readMemory } from './process-usage.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a process, as the kernel sees it', () => {
  const before = readCpuSeconds(process.pid) ?? Number.NaN;
  const { user, system } = process.cpuUsage();
  expect(Math.abs(before - (user + system) / 1e6)).toBeLessThan(1);
  const { residentMiB, peakMiB } = readMemory(process.pid)!;
  expect(residentMiB).toBeGreaterThan(20);
  expect(peakMiB).toBeGreaterThanOrEqual(residentMiB);
});

onLinux('a process that is no more', () => {
  expect([readMemory(0), readCpuSeconds(0)]).toEqual([undefined, undefined]);
});
