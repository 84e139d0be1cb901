import type { Figure, SuiteFigures } from '../harness/benchmark.ts';
import type { RecordedFigure } from '../harness/records.ts';
import { spreadOf } from '../harness/spread.ts';
import type { Machine } from '../machine.ts';
import { loads } from './overhead.ts';
import type { EvictionResults } from './results.ts';

/** What can be compared with another record; the whole is in {@link EvictionResults}. */
export const evictionSuite: SuiteFigures = {
  name: 'eviction',
  title: 'The eviction beside a bare script',
  figures: [
    ...loads.flatMap(({ window }): Figure[] => [
      {
        id: `eviction.ratio-${window}`,
        title: `window ${window}: drover’s time ÷ the script’s`,
        unit: '',
        better: 'lower',
        goal: 1.05,
      },
      {
        id: `eviction.gap-${window}`,
        title: `window ${window}: end of a migration → request for the next`,
        unit: 'ms',
        better: 'lower',
        goal: null,
      },
    ]),
    { id: 'eviction.events', title: 'events in a parent’s history, 24 servers', unit: '', better: 'lower', goal: 400 },
    {
      id: 'eviction.signal-p50',
      title: 'a single change: request → signal, p50',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
    {
      id: 'eviction.signal-p99',
      title: 'a single change: request → signal, p99',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
    {
      id: 'eviction.activity-p50',
      title: 'a single change: request → first activity, p50',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
    {
      id: 'eviction.activity-p99',
      title: 'a single change: request → first activity, p99',
      unit: 'ms',
      better: 'lower',
      goal: null,
    },
    {
      id: 'eviction.first-move',
      title: 'warm `npm start` → first server moving',
      unit: 's',
      better: 'lower',
      goal: null,
    },
    { id: 'eviction.worker', title: 'resident set of the worker', unit: 'MiB', better: 'lower', goal: null },
    { id: 'eviction.bridge', title: 'resident set of the bridge', unit: 'MiB', better: 'lower', goal: null },
  ],
};

/** Each figure with the machine that it was measured on: results may come from several. */
export function readFigures({
  overhead = [],
  history = [],
  latency,
  start,
}: EvictionResults): { id: string; machine: Machine; values: readonly number[] }[] {
  const largest = history
    .filter(({ servers }) => servers === 24)
    .toSorted((a, b) => a.parent - b.parent)
    .at(-1);
  return [
    ...overhead.flatMap(({ window, ratio, ratios = [ratio], drover, machine }) => [
      { id: `eviction.ratio-${window}`, machine, values: ratios },
      { id: `eviction.gap-${window}`, machine, values: [drover.gapMs] },
    ]),
    ...(largest === undefined ? [] : [{ id: 'eviction.events', machine: largest.machine, values: [largest.parent] }]),
    ...(latency === undefined
      ? []
      : [
          { id: 'eviction.signal-p50', machine: latency.machine, values: [latency.toSignalMs.p50] },
          { id: 'eviction.signal-p99', machine: latency.machine, values: [latency.toSignalMs.p99] },
          { id: 'eviction.activity-p50', machine: latency.machine, values: [latency.wholeMs.p50] },
          { id: 'eviction.activity-p99', machine: latency.machine, values: [latency.wholeMs.p99] },
        ]),
    ...(start === undefined
      ? []
      : [
          { id: 'eviction.first-move', machine: start.machine, values: [start.firstMoveSeconds] },
          { id: 'eviction.worker', machine: start.machine, values: [start.worker.residentMiB] },
          { id: 'eviction.bridge', machine: start.machine, values: [start.bridge.residentMiB] },
        ]),
  ];
}

/** What is recorded of the results. */
export const figuresOfResults = (results: EvictionResults): Record<string, RecordedFigure> =>
  Object.fromEntries(
    readFigures(results)
      .filter(({ values }) => values.every(Number.isFinite))
      .map(({ id, machine, values }) => [id, recordedOn(machine, values)]),
  );

const recordedOn = ({ recordedAt, load, versions }: Machine, values: readonly number[]): RecordedFigure => ({
  ...spreadOf(values),
  recordedAt,
  load,
  versions,
});
