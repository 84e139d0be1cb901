import { formatMemory } from './memory.ts';
import { renderProgressBar } from './progress-bar.ts';

test.each<[percent: number | null, bar: string]>([
  [0, '░░░░░░░░░░   0%'],
  [50, '█████░░░░░  50%'],
  [99.9, '█████████░  99%'],
  [100, '██████████ 100%'],
  [140, '██████████ 100%'],
  [null, '               '],
])('%p percent', (percent, bar) => {
  expect(renderProgressBar(percent)).toBe(bar);
});

test.each<[memoryMiB: number, text: string]>([
  [512, '512 MiB'],
  [1024, '1 GiB'],
  [1536, '1.5 GiB'],
  [1_572_864, '1.5 TiB'],
])('%d MiB is %s', (memoryMiB, text) => {
  expect(formatMemory(memoryMiB)).toBe(text);
});
