import { isCurrent, lifecycleOf, observationOf, type ReconcileStatus } from '../command/lifecycle-condition.ts';
import type { HypervisorDescription } from '../hypervisor/hypervisor-description.ts';
import type { HypervisorObject } from '../hypervisor/hypervisor-objects.ts';
import { type ListedHost, needsAttention } from '../hypervisor/listed-host.ts';
import { describeMaintenance } from '../hypervisor/plan-maintenance.ts';
import { formatAge, formatRelative } from './duration.ts';
import type { Paint, Style } from './paint.ts';
import { oneLine, renderTable } from './table.ts';
import { untilOf, waitingLine } from './watch.ts';

/** State of a hypervisor, in a line and what belongs to it: what it waits for, since when, by when. */
export function renderHypervisorHead(
  { object, run, takenAwayAt, webUi }: HypervisorDescription,
  nowMs: number,
  paint: Paint,
): string[] {
  const progress = run?.progress ?? null;
  const lifecycle = lifecycleOf(object);
  const waiting =
    progress === null || progress.waiting === null
      ? null
      : waitingLine(progress.waiting.message, untilOf(progress.waiting), nowMs).replace(/^waiting /u, '');
  const fields: [name: string, value: string | null][] = [
    ['says', oneLine(lifecycle?.message ?? observationOf(object)?.message ?? progress?.message ?? '')],
    ['waiting', waiting],
    ['failures', progress === null || progress.failures === 0 ? null : paint('bad', `${progress.failures} in a row`)],
    [
      'taken away',
      takenAwayAt === null
        ? null
        : paint('bad', `the machine, at ${takenAwayAt}, ${formatRelative(takenAwayAt, nowMs)}, whatever is on it`),
    ],
    ['maintenance', object.maintenance === '' ? null : describeMaintenance(object).replace(/^maintenance /u, '')],
    ['lifecycle', describeDriving(object)],
    ['instances', String(object.instances)],
    ['libvirt', object.libVirtVersion],
    [
      'run',
      run === null
        ? null
        : `${run.workflowId} ${run.runId}${progress === null ? ', and no worker answers for it' : ''}`,
    ],
    ['web UI', webUi],
  ];
  return [
    renderHeadline(object, nowMs, paint),
    ...fields
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => `  ${name.padEnd(12)} ${value ?? ''}`),
  ];
}

function renderHeadline(object: HypervisorObject, nowMs: number, paint: Paint): string {
  const name = paint('strong', oneLine(object.name));
  const lifecycle = lifecycleOf(object);
  if (lifecycle === undefined)
    return `${name}: ${paint('warning', isOnlyObserved(object) ? 'drover only observes this hypervisor' : 'drover has said nothing of this hypervisor yet')}`;
  const since = `${oneLine(lifecycle.reason)} for ${formatAge(lifecycle.lastTransitionTime, nowMs)}`;
  if (!isCurrent(object))
    return `${name}: ${paint('warning', `was ${oneLine(lifecycle.reason)}, and its spec has changed since`)}`;
  if (needsAttention(object)) return `${name}: ${paint('bad', `${since}, and needs attention`)}`;
  return `${name}: ${lifecycle.status === 'Unknown' ? paint('busy', since) : paint('good', since)}`;
}

const isOnlyObserved = (object: HypervisorObject): boolean => observationOf(object) !== undefined;

function describeDriving({ lifecycleEnabled, skipTests, observed }: HypervisorObject): string {
  if (!lifecycleEnabled) return 'not driven (spec.lifecycleEnabled)';
  return `driven${skipTests ? ', without tests' : ''}${observed ? ', but only looked at (drover.dev/mode)' : ''}`;
}

const columns = [
  { title: 'HOST' },
  { title: 'STATE' },
  { title: 'SINCE', align: 'right' as const },
  { title: 'INSTANCES', align: 'right' as const },
  { title: 'EVICTION' },
  { title: 'LIBVIRT' },
  { title: 'MAINTENANCE' },
  { title: 'WHY' },
];

/** Style of a state, by the status of the object in it. */
export const stateStyles: Record<ReconcileStatus, Style> = {
  reconciled: 'good',
  progressing: 'busy',
  blocked: 'warning',
  unknown: 'quiet',
};

/** The table of `drover hosts`. What needs attention is marked with `!` as well, for who sees no colours. */
export function renderHosts(hosts: readonly ListedHost[], nowMs: number, paint: Paint, widthColumns: number): string[] {
  if (hosts.length === 0) return ['No Hypervisor is so.'];
  return renderTable(
    columns,
    hosts.map((host) => renderRow(host, nowMs, paint)),
    widthColumns,
  );
}

function renderRow(host: ListedHost, nowMs: number, paint: Paint): string[] {
  return [
    oneLine(host.host),
    host.needsAttention
      ? paint('bad', `${oneLine(host.state ?? '-')} !`)
      : paint(stateStyles[host.status], oneLine(host.state ?? '-')),
    formatAge(host.since, nowMs),
    String(host.instances),
    renderEviction(host.eviction),
    oneLine(host.libVirtVersion ?? '-'),
    renderMaintenance(host),
    renderWhy(host, paint),
  ];
}

function renderWhy({ state, status, message }: ListedHost, paint: Paint): string {
  if (state === null) return message === '' ? paint('quiet', 'no run has said anything yet') : oneLine(message);
  // What an earlier spec came to is shown no more: it may be wrong by now.
  return status === 'unknown' ? paint('quiet', 'its spec has changed since') : oneLine(message);
}

function renderEviction(eviction: ListedHost['eviction']): string {
  if (eviction === null) return '-';
  const { phase, counts } = eviction;
  return counts === null
    ? `${phase}, no worker answers`
    : `${phase} ${String(counts.done)}/${String(counts.total)}${counts.blocked > 0 ? `, ${String(counts.blocked)} blocked` : ''}`;
}

const longestReason = 30;

function renderMaintenance({ maintenance, maintenanceReason, terminating }: ListedHost): string {
  if (maintenance === '') return terminating ? 'its Node terminates' : '-';
  const reason = oneLine(maintenanceReason ?? '');
  return `${maintenance}${reason === '' ? '' : `: ${reason.length > longestReason ? `${reason.slice(0, longestReason - 1)}…` : reason}`}`;
}
