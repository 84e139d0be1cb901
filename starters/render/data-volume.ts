import {
  type CloneStatus,
  type ListedClone,
  needsAttention,
  problemOf,
  statusOf,
} from '../data-volume/listed-clone.ts';
import { volumeCommands } from '../data-volume/volume-commands.ts';
import type { VolumeDescription } from '../data-volume/volume-description.ts';
import type { ShownClaim, VolumeObject } from '../data-volume/volume-object.ts';
import { formatAge } from './duration.ts';
import { type Field, renderObject } from './object.ts';
import type { Paint, Style } from './paint.ts';
import { formatMemory } from './progress.ts';
import { type Fact, oneLine, renderFacts, renderTable } from './table.ts';

/** DataVolumes for people. Pure. */

const styles: Readonly<Record<CloneStatus, Style>> = {
  complete: 'good',
  'under way': 'busy',
  waiting: 'warning',
  failed: 'bad',
  left: 'quiet',
  unknown: 'quiet',
};

const mib = 1024 ** 2;
const sizeOf = (bytes: number | null): string => (bytes === null ? '-' : formatMemory(bytes / mib));

const facts: readonly Fact<ListedClone>[] = [
  { title: 'DATAVOLUME', cell: ({ namespace, name }) => oneLine(`${namespace}/${name}`) },
  {
    title: 'PHASE',
    cell: ({ phase, status, deleting, needsAttention: needs }, _nowMs, paint) => {
      const word = oneLine(`${phase ?? '-'}${deleting ? ', deleting' : ''}`);
      return needs ? paint('bad', `${word} !`) : paint(styles[status], word);
    },
  },
  { title: 'SINCE', align: 'right', cell: ({ since }, nowMs) => formatAge(since, nowMs) },
  { title: 'SOURCE', cell: ({ source }) => oneLine(source) },
  { title: 'STRATEGY', cell: ({ strategy }) => strategy ?? '-' },
  { title: 'SIZE', align: 'right', cell: ({ sizeBytes }) => sizeOf(sizeBytes) },
];

const why: Fact<ListedClone> = {
  title: 'WAITS FOR',
  cell: ({ status, reason, message }, _nowMs, paint) => {
    if (status === 'left') return paint('quiet', 'left to CDI');
    if (status === 'unknown') return paint('quiet', 'no run has said anything yet');
    return reason === null ? '' : oneLine(`${reason}: ${message}`);
  },
};

/** The table of `drover clones`. What needs attention is marked with `!` as well, for who sees no colours. */
export const renderClones = (
  clones: readonly ListedClone[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] =>
  renderFacts(clones, { facts, why, spare: ['SIZE', 'STRATEGY', 'SINCE', 'SOURCE'] }, { nowMs, paint, widthColumns });

/** Everything about one DataVolume. */
export function renderVolume(
  description: VolumeDescription,
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  const { object, run } = description;
  return renderObject(
    description,
    {
      kind: 'DataVolume',
      standing: (colour) => (object === null ? '' : renderStanding(object, nowMs, colour)),
      says: (object === null ? null : problemOf(object)?.message) ?? run?.progress?.message ?? '',
      fields: fieldsOf(description, paint),
      sections: [
        { title: 'Temporary objects', lines: renderTemporary(description, nowMs, widthColumns) },
        { title: 'Events', lines: renderEvents(description, nowMs, paint, widthColumns) },
      ],
      commands: volumeCommands(description),
    },
    { nowMs, paint, widthColumns },
  );
}

function renderStanding(volume: VolumeObject, nowMs: number, paint: Paint): string {
  const { phase, since } = volume;
  const status = statusOf(volume);
  if (status === 'left') return paint('quiet', 'left to CDI, which imports and uploads');
  if (status === 'unknown') return paint('warning', 'drover has said nothing of this DataVolume yet');
  const reason = problemOf(volume)?.reason;
  const words = oneLine(
    `${phase === '' ? 'Pending' : phase} for ${formatAge(since, nowMs)}${reason === undefined ? '' : `, ${reason}`}`,
  );
  return needsAttention(volume, nowMs) ? paint('bad', `${words}, and needs attention`) : paint(styles[status], words);
}

function fieldsOf({ object, run, claim }: VolumeDescription, paint: Paint): Field[] {
  const clone = run?.progress?.clone ?? null;
  const strategy = object?.strategy ?? clone?.strategy ?? null;
  const fallback = object?.fallbackReason ?? clone?.fallbackReason ?? null;
  return [
    ['deletion', object?.deleting === true ? paint('warning', 'requested') : null],
    ['source', object === null ? (clone?.source ?? null) : sourceOf(object)],
    ['strategy', strategy === null ? null : `${strategy}${fallback === null ? '' : `, as ${oneLine(fallback)}`}`],
    ['asks for', object === null ? null : asksFor(object)],
    ['PVC', claimOf(claim)],
    ['mode', object?.observed === true ? 'only observed (drover.dev/mode)' : null],
  ];
}

/** With what a DataSource named when the clone began. */
function sourceOf({ source, from, strategy }: VolumeObject): string {
  const fixed = from === null || from.kind === 'dataSource' ? null : `${from.kind} ${from.namespace}/${from.name}`;
  return oneLine(fixed === null || fixed === source || strategy === null ? source : `${source}, which was ${fixed}`);
}

const asksFor = ({ sizeBytes, storageClass }: VolumeObject): string =>
  oneLine(
    `${sizeBytes === null ? 'as much as its source' : sizeOf(sizeBytes)}${storageClass === null ? '' : `, of class ${storageClass}`}`,
  );

function claimOf(claim: ShownClaim | 'none' | null): string | null {
  if (claim === null) return null;
  if (claim === 'none') return 'none yet';
  const { phase, volume, storageClass, requestBytes, capacityBytes } = claim;
  const size =
    capacityBytes === null || capacityBytes >= requestBytes
      ? sizeOf(capacityBytes ?? requestBytes)
      : `${sizeOf(capacityBytes)}, to be ${sizeOf(requestBytes)}`;
  return oneLine([phase, size, storageClass, volume].filter((part) => part !== null).join(', '));
}

const renderTemporary = ({ temporary }: VolumeDescription, nowMs: number, widthColumns: number): string[] =>
  temporary === null || temporary.length === 0
    ? []
    : renderTable(
        [
          { title: 'KIND' },
          { title: 'NAME' },
          { title: 'AGE', align: 'right' },
          { title: 'STATE' },
          { title: 'SHARED WITH' },
        ],
        temporary.map(({ kind, namespace, name, createdAt, state, sharedWith }) => [
          kind,
          namespace === null ? name : `${namespace}/${name}`,
          formatAge(createdAt, nowMs),
          oneLine(state),
          oneLine(shared(sharedWith)),
        ]),
        Math.max(widthColumns, 160),
      );

/** Of a hundred, the first ones say what kind they are. */
const shownNames = 3;

const shared = (names: readonly string[]): string => {
  const more = names.length - shownNames;
  return `${names.slice(0, shownNames).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
};

const renderEvents = ({ events }: VolumeDescription, nowMs: number, paint: Paint, widthColumns: number): string[] =>
  events === null || events.length === 0
    ? []
    : renderTable(
        [{ title: 'AT' }, { title: 'TYPE' }, { title: 'REASON' }, { title: 'MESSAGE' }],
        events.map(({ at, type, reason, message }) => [
          `${formatAge(at, nowMs)} ago`,
          type === 'Warning' ? paint('warning', type) : oneLine(type),
          oneLine(reason),
          oneLine(message),
        ]),
        Math.max(widthColumns, 120),
      );
