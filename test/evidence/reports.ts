import { renderFigures } from './bench-report.ts';
import { renderChaos } from './chaos-report.ts';
import { countsOf, sampleOf } from './judge.ts';
import { renderMatrix } from './matrix-report.ts';
import type { EvidenceRecord } from './record.ts';
import { unknown } from './record.ts';
import type { SeriesName } from './series.ts';
import { series, seriesNames } from './series.ts';

/**
 * The reports in `evidence/`, made of nothing but the records: whether these are older than their sources is said by
 * `npm run evidence`.
 */

/** Of a series, the oldest first. */
export type Records = (name: SeriesName) => readonly EvidenceRecord[];

/** By file name. Pure. */
export function renderReports(records: Records): Record<string, string> {
  const of = (prefix: string): { name: SeriesName; records: readonly EvidenceRecord[] }[] =>
    seriesNames.filter((name) => name.startsWith(prefix)).map((name) => ({ name, records: records(name) }));
  return {
    'README.md': renderIndex(records),
    'matrix.md': page(
      'The every-step matrix',
      of('matrix-').flatMap(({ name, records: its }) =>
        its.toReversed().map((record) => section(name, record, renderMatrix(record))),
      ),
    ),
    'chaos.md': page('Chaos', [renderChaos(records('chaos'))]),
    'benchmarks.md': page(
      'Benchmarks',
      of('bench-').flatMap(({ name, records: its }) =>
        its.toReversed().map((record) => section(name, record, renderFigures(record))),
      ),
    ),
  };
}

const page = (title: string, parts: readonly string[]): string => `# ${title}\n\n${written}\n\n${parts.join('\n\n')}\n`;
const written =
  'Written by `npm run evidence -- --write` from the records beside it; ' +
  '`npm run evidence` says which of them are older than their sources.';

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const day = ({ startedAt }: EvidenceRecord): string => (startedAt === unknown ? unknown : startedAt.slice(0, 10));
const commitOf = ({ commit, changed, recordedIn }: EvidenceRecord): string => {
  const known =
    commit === unknown ? `${unknown}${recordedIn === undefined ? '' : `, recorded in ${recordedIn}`}` : commit;
  return changed === true ? `${known} and changes` : known;
};
const digestOf = ({ sources: { digest } }: EvidenceRecord): string =>
  digest === unknown ? unknown : digest.slice(7, 17);

/** What was counted, and before it of how much. */
const withSample = ({ counts }: EvidenceRecord): string => [sampleOf(counts) ?? [], countsOf(counts)].flat().join('; ');

function renderIndex(records: Records): string {
  const rows = seriesNames.map((name) => {
    const newest = records(name).at(-1);
    if (newest === undefined) return [`\`${name}\``, series[name].title, 'none yet', '', '', ''];
    return [`\`${name}\``, series[name].title, day(newest), commitOf(newest), digestOf(newest), withSample(newest)];
  });
  const failures = seriesNames.flatMap((name) =>
    records(name).flatMap((record) =>
      record.failures.map((failure) => [
        `\`${name}\``,
        day(record),
        commitOf(record),
        failure.what,
        failure.complaints.join('; '),
        failure.passedLater ? 'yes' : 'no',
      ]),
    ),
  );
  return page('Evidence', [
    'What long runs have shown, the newest record of each series. Reports: [the matrix](matrix.md), ' +
      '[chaos](chaos.md), [benchmarks](benchmarks.md); [docs/testing.md](../docs/testing.md#evidence) says what a ' +
      'record holds.',
    table(['series', 'what', 'day', 'commit', 'sources', 'counts'], rows),
    '## Every failure',
    failures.length === 0
      ? 'None is recorded.'
      : table(['series', 'day', 'commit', 'what', 'complaints', 'passed later'], failures),
  ]);
}

function section(name: SeriesName, record: EvidenceRecord, body: string): string {
  const { title, command, seed, machine, startedAt, endedAt, attempts, counts, failures, note } = record;
  const where = machine === unknown ? unknown : `${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB`;
  const summary = [
    `commit ${commitOf(record)}`,
    `sources ${digestOf(record)}`,
    `seed ${seed ?? 'none'}`,
    `machine ${where}`,
    `from ${startedAt} to ${endedAt}`,
    `attempts ${attempts}`,
  ];
  const failed = failures.map(
    ({ what, complaints, attempt, passedLater }) =>
      `- \`${what}\` at attempt ${attempt}${passedLater ? ', passed later' : ''}: ${complaints.join('; ')}`,
  );
  return [
    `## ${series[name].title}: ${day(record)}`,
    `${sampleOf(counts) ?? title}: ${countsOf(counts)}.`,
    `\`${command}\`; ${summary.join('; ')}.`,
    ...(note === undefined ? [] : [note]),
    body,
    ...(failed.length === 0 ? [] : [`Failures:\n\n${failed.join('\n')}`]),
  ].join('\n\n');
}
