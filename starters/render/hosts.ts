import type { Stands } from '../command/lifecycle-condition.ts';
import type { ListedHost } from '../hypervisor/listed-host.ts';
import { formatAge } from './duration.ts';
import type { Paint, Style } from './paint.ts';
import { oneLine, renderTable } from './table.ts';

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

/** How a state looks, by how what is in it stands. */
export const stateStyles: Record<Stands, Style> = { there: 'good', moving: 'busy', rests: 'warning', unknown: 'quiet' };

/** The table of `drover hosts`. What needs somebody is marked with `!` as well, for who sees no colours. */
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
    host.needsSomebody ? paint('bad', `${host.state ?? '-'} !`) : paint(stateStyles[host.stands], host.state ?? '-'),
    formatAge(host.since, nowMs),
    String(host.instances),
    renderEviction(host.eviction),
    oneLine(host.libVirtVersion ?? '-'),
    renderMaintenance(host),
    renderWhy(host, paint),
  ];
}

function renderWhy({ state, stands, message }: ListedHost, paint: Paint): string {
  if (state === null) return message === '' ? paint('quiet', 'no run has said anything yet') : oneLine(message);
  // What an earlier spec came to is told no more: it may be wrong by now.
  return stands === 'unknown' ? paint('quiet', 'its spec has changed since') : oneLine(message);
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
