import { type AllowanceProgress, placeOf } from '../../contracts/allowance.ts';
import { formatAge, formatRelative } from './duration.ts';
import type { Paint } from './paint.ts';
import { oneLine, renderTable } from './table.ts';

/** A limit in use, and what its run says of it; null: no worker answers for it. */
export interface ListedLimit {
  workflowId: string;
  progress: AllowanceProgress | null;
}

/** Of slots there may be hundreds. */
const mostShown = 50;

/** A paragraph for each limit. Pure. */
export const renderLimits = (
  listed: readonly ListedLimit[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] =>
  listed.flatMap(({ workflowId, progress }, index) => [
    ...(index === 0 ? [] : ['']),
    ...(progress === null
      ? [`${paint('strong', workflowId)}  ${paint('warning', 'no worker answers for it')}`]
      : renderLimit(progress, nowMs, paint, widthColumns)),
  ]);

function renderLimit(progress: AllowanceProgress, nowMs: number, paint: Paint, widthColumns: number): string[] {
  const { kind, phase, limit, limitConfigured, limitReason, inUse, consumers, elsewhere, novaRuns, waitingFor } =
    progress;
  const shown = consumers.slice(0, mostShown);
  const others = Object.entries(elsewhere).map(([host, count]) => `${host} ${count}`);
  return [
    `${paint('strong', `${kind} of ${placeOf(progress)}`)}  ${phase}: ${inUse} of ${limit ?? '?'} granted or in progress`,
    ...(limitReason === null
      ? []
      : [paint('warning', `  the limit is ${limit} of at most ${limitConfigured}: ${oneLine(limitReason)}`)]),
    ...(phase === 'Allocating' ? [] : [`  waiting for ${oneLine(waitingFor)}`]),
    ...renderTable(
      ['  CONSUMER', 'HOST', 'WANT', 'USING', 'GRANTED', 'SINCE', 'DEADLINE', 'REMARK'].map((title) => ({ title })),
      shown.map((one) => [
        `  ${oneLine(one.consumer)}`,
        oneLine(one.host),
        String(one.want),
        String(one.using),
        String(one.allowance),
        formatAge(one.since, nowMs),
        one.deadline === null ? '-' : formatRelative(one.deadline, nowMs),
        remark(one, novaRuns[one.host], nowMs, paint),
      ]),
      widthColumns,
    ),
    ...(consumers.length > shown.length ? [`  and ${consumers.length - shown.length} more`] : []),
    ...(others.length === 0 ? [] : [`  in progress besides: ${others.join(', ')}`]),
  ];
}

function remark(
  { closed, muteSince, consumer }: AllowanceProgress['consumers'][number],
  novaRuns: number | undefined,
  nowMs: number,
  paint: Paint,
): string {
  if (closed) return paint('quiet', 'closed; what it left in progress counts');
  if (muteSince !== null)
    return paint(
      'bad',
      `has not reported for ${formatAge(muteSince, nowMs)}: temporal workflow describe -w ${oneLine(consumer)}`,
    );
  return novaRuns === undefined ? '' : `Nova runs ${novaRuns} at a time there`;
}
