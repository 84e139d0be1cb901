import type { EvidenceRecord } from './record.ts';
import { unknown } from './record.ts';

const columns = [
  'faults',
  'user actions',
  'hypervisor actions',
  'vm actions',
  'pool actions',
  'vsphere agents',
  'volume actions',
  'clones',
  'evictions',
  'host failures',
  'migrations',
  'complaints',
] as const;

/** A row for each run, the newest first. */
export function renderChaos(records: readonly EvidenceRecord[]): string {
  const rows = records
    .toReversed()
    .map(({ startedAt, recordedIn, commit, seed, details, counts, failures, attempts, note = '' }) => {
      const shown = columns.map((column) => String(counts[column] ?? '–'));
      const complaints = failures.flatMap(({ complaints: its }) => its).join('; ');
      const ran =
        commit === unknown ? `unknown${recordedIn === undefined ? '' : `, recorded in ${recordedIn}`}` : commit;
      return [
        startedAt === unknown ? unknown : startedAt.slice(0, 16),
        ran,
        `${seed ?? ''}`,
        String(details['minutes']),
        ...shown,
        `${String(details['recoverySeconds'])} s`,
        `${attempts}`,
        [complaints, note].filter((text) => text !== '').join('. '),
      ];
    });
  const header = ['began', 'commit', 'seed', 'minutes', ...columns, 'recovered after', 'attempt', ''];
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
