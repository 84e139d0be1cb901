import { usualCounts as usualAgentCounts } from '../agents/figures.ts';
import { agentsSuite } from '../agents/main.ts';
import { loadSuite } from '../load/main.ts';
import { usualCounts } from '../machines/figures.ts';
import { machinesSuite } from '../machines/main.ts';
import { onboardingSuite } from '../onboarding/main.ts';
import { scaleSuite } from '../scale/main.ts';
import type { SuiteFigures } from './benchmark.ts';
import { figuresOf } from './benchmark.ts';
import { readLimitsPage, renderLimits, splitPage } from './limits-page.ts';
import type { BenchRecord, RecordedFigure } from './records.ts';
import { readRecords } from './records.ts';

test.each([loadSuite, onboardingSuite, scaleSuite, machinesSuite(usualCounts), agentsSuite(usualAgentCounts)])(
  'docs/limits.md has the goals and the recorded figures of $name: if not, `npm run bench -- limits` writes them',
  (measured) => {
    const suite = figuresOf(measured);
    expect(splitPage(readLimitsPage(), suite).written).toBe(renderLimits(suite, readRecords(suite)));
  },
);

test('the page shows the machine that was measured last, and no other', () => {
  const figure = (value: number, day: number): RecordedFigure => ({
    value,
    min: value,
    max: value,
    samples: 1,
    recordedAt: `2026-01-0${day}T12:00:00Z`,
    load: day,
    versions: {},
  });
  const record = (cores: number, figures: BenchRecord['figures']): BenchRecord => ({
    machine: { cores, cpu: 'a processor', memoryGiB: 8 },
    commit: 'abcd',
    changed: false,
    figures,
  });
  const suite: SuiteFigures = {
    name: 'some',
    title: 'Some',
    figures: [
      { id: 'one', title: 'One', unit: 's', better: 'lower', goal: 15 },
      { id: 'two', title: 'Two', unit: '', better: 'higher', goal: null },
    ],
  };
  const text = renderLimits(suite, [
    record(2, { one: figure(1, 3) }),
    record(8, { one: figure(2, 1), two: figure(3, 2) }),
  ]);
  expect(text).toBe(
    '| figure | goal | measured |\n| --- | --- | --- |\n| One | at most 15 s | 1 s |\n| Two |  | not yet |\n\nMedian (least to most of the repetitions) on 2 × a processor, 8 GiB; load average before each 3 to 3; 2026-01-03.',
  );
});

test('a page without a place for it is no page', () => {
  expect(() => splitPage('# Limits', figuresOf(loadSuite))).toThrow('npm run bench -- load');
});
