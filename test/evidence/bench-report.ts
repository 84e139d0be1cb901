import type { EvictionResults } from '../../bench/eviction/results.ts';
import { renderMarkdown } from '../../bench/eviction/results.ts';
import type { EvidenceRecord } from './record.ts';

/** A figure of a benchmark, as its record has it. */
interface Figure {
  value: number;
  min: number;
  max: number;
  samples: number;
  load: number;
  recordedAt: string;
}

/** The figures of a record of a benchmark. */
export function renderFigures({ details }: EvidenceRecord): string {
  // Of an eviction there is more to say than its figures.
  if (details['results'] !== undefined)
    return renderMarkdown(details['results'] as EvictionResults)
      .replaceAll(/^## \d\. /gmu, '### ')
      .replaceAll(/^## /gmu, '### ')
      .trimEnd();
  const figures = details['figures'] as Readonly<Record<string, Figure>>;
  const rows = Object.entries(figures).map(([id, { value, min, max, samples, load, recordedAt }]) => [
    `\`${id}\``,
    String(value),
    samples === 1 ? '' : `${min} to ${max}`,
    String(samples),
    String(load),
    recordedAt.slice(0, 16),
  ]);
  const header = ['figure', 'median', 'least to most', 'samples', 'load before', 'measured'];
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
