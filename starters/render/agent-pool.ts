import { agentPoolConditions as types } from '../../contracts/agent-pool/metadata.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { agentPoolCommands } from '../agent-pool/agent-pool-commands.ts';
import type { AgentPoolDescription } from '../agent-pool/agent-pool-description.ts';
import { type AgentPoolObject, type IsoVersion, isStray, type PoolVm } from '../agent-pool/agent-pool-object.ts';
import { type ListedPool, needsAttention, standingOf, statusOf } from '../agent-pool/listed-pool.ts';
import { formatAge } from './duration.ts';
import { type Field, renderObject } from './object.ts';
import type { Paint, Style } from './paint.ts';
import { formatMemory } from './progress.ts';
import { type Fact, oneLine, renderFacts, renderTable } from './table.ts';

/** Agent pools for people. Pure. */

const stateStyles: Readonly<Record<ListedPool['status'], Style>> = {
  ready: 'good',
  waiting: 'warning',
  unknown: 'quiet',
};

const count = (title: string, of: (pool: ListedPool) => number | undefined): Fact<ListedPool> => ({
  title,
  align: 'right',
  cell: (pool) => String(of(pool) ?? '-'),
});

const facts: readonly Fact<ListedPool>[] = [
  { title: 'POOL', cell: ({ namespace, name }) => oneLine(`${namespace}/${name}`) },
  {
    title: 'STATE',
    cell: ({ state, status, needsAttention: needs }, _nowMs, paint) =>
      needs ? paint('bad', `${oneLine(state ?? '-')} !`) : paint(stateStyles[status], oneLine(state ?? '-')),
  },
  { title: 'SINCE', align: 'right', cell: ({ since }, nowMs) => formatAge(since, nowMs) },
  count('WAITING', ({ counts }) => counts?.waiting),
  count('WANTED', ({ counts }) => counts?.wanted),
  count('UNDER WAY', ({ counts }) => counts?.provisioning),
  count('VMS', ({ counts }) => counts?.vms),
  count('AVAILABLE', ({ counts }) => counts?.available),
  count('BOUND', ({ counts }) => counts?.bound),
  count('HELD', ({ held }) => held.length),
  { title: 'ISO', align: 'right', cell: ({ iso }, nowMs) => formatAge(iso?.uploadedAt, nowMs) },
];

const why: Fact<ListedPool> = {
  title: 'WHY',
  cell: ({ state, status, message }, _nowMs, paint) => {
    if (state === null) return paint('quiet', 'no run has said anything yet');
    // What an earlier spec came to is shown no more: it may be wrong by now.
    return status === 'unknown' ? paint('quiet', 'its spec has changed since') : oneLine(message);
  },
};

/** The table of `drover pools`. What needs attention is marked with `!` as well, for who sees no colours. */
export const renderPools = (
  pools: readonly ListedPool[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] =>
  renderFacts(
    pools,
    { facts, why, spare: ['SINCE', 'ISO', 'HELD', 'AVAILABLE', 'BOUND', 'UNDER WAY'] },
    { nowMs, paint, widthColumns },
  );

/** Everything about one pool. */
export function renderAgentPool(
  description: AgentPoolDescription,
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  const { object, run, held } = description;
  return renderObject(
    description,
    {
      kind: 'VsphereAgentPool',
      standing: (colour) => (object === null ? '' : renderStanding(object, nowMs, colour)),
      says: (object === null ? run?.progress?.message : saysOf(object, types.ready)) ?? '',
      fields: [
        ['short of', object === null ? null : saysOf(object, types.capacity, 'False')],
        ...(object === null ? [] : fieldsOf(object, nowMs, paint)),
        ['held', held.length === 0 ? null : paint('warning', `${held.length} would go, and wait for something`)],
      ],
      sections: [
        { title: 'VMs', lines: renderVms(description, nowMs, paint, widthColumns) },
        { title: 'Discovery ISOs', lines: renderIsos(object, nowMs, widthColumns) },
      ],
      commands: agentPoolCommands(description),
    },
    { nowMs, paint, widthColumns },
  );
}

function renderStanding(object: AgentPoolObject, nowMs: number, paint: Paint): string {
  const standing = standingOf(object);
  if (standing === undefined) return paint('warning', 'drover has said nothing of this pool yet');
  const status = statusOf(object);
  if (status === 'unknown') return paint('warning', `was ${oneLine(standing.reason)}, and its spec has changed since`);
  const since = `${oneLine(standing.reason)} for ${formatAge(standing.lastTransitionTime, nowMs)}`;
  return needsAttention(object, nowMs)
    ? paint('bad', `${since}, and needs attention`)
    : paint(stateStyles[status], since);
}

function saysOf({ conditions }: AgentPoolObject, type: string, only?: 'False'): string | null {
  const condition = findCondition(conditions, type);
  return condition === undefined || (only !== undefined && condition.status !== only)
    ? null
    : oneLine(condition.message);
}

function fieldsOf(object: AgentPoolObject, nowMs: number, paint: Paint): Field[] {
  const { counts, iso, approved } = object;
  return [
    ['deletion', object.deleting ? paint('warning', 'requested') : null],
    [
      'demand',
      counts === null
        ? 'not counted yet'
        : `${counts.agentMachines} AgentMachines, ${counts.waiting} wait; ${counts.wanted} VMs wanted, ${counts.provisioning} under way`,
    ],
    ['VMs', counts === null ? null : `${counts.vms}, ${counts.bound} bound, ${counts.available} available`],
    ['NodePool', oneLine(`${object.nodePool}, its Machines in ${object.controlPlaneNamespace}`)],
    [
      'ISO',
      iso === null
        ? `none yet, of InfraEnv ${oneLine(object.infraEnv)}`
        : oneLine(`${iso.path}, uploaded ${agoOf(iso.uploadedAt, nowMs)}, checked ${agoOf(iso.checkedAt, nowMs)}`),
    ],
    ['policy', object.deletes ? null : 'Retain: nothing is deleted'],
    ['approved', approved.length === 0 ? null : oneLine(approved.join(', '))],
    ['mode', object.observed ? 'only observed (drover.dev/mode)' : null],
  ];
}

const agoOf = (time: string | null, nowMs: number): string => (time === null ? '?' : `${formatAge(time, nowMs)} ago`);

interface ShownVm extends PoolVm {
  /** Of the VsphereAgent; null: only the pool was read, or there is none. */
  name: string | null;
  createdAt: string | null;
  deleting: boolean;
  waitsFor: string;
}

const unknownVm = { phase: null, reason: null, since: null, agent: null, machine: null };
const unknownAgent = { name: null, createdAt: null, deleting: false };

/** What the pool has, and what else it holds: an approval may be of a VM that has no VsphereAgent. */
function vmsOf(description: AgentPoolDescription): ShownVm[] {
  const listed = listedVms(description);
  const names = new Set(listed.map(({ name, vm }) => name ?? vm));
  const others = description.held.filter((one) => isStray(one) || !names.has(one.name));
  return [
    ...listed,
    ...others.map((one) => ({
      ...unknownVm,
      ...unknownAgent,
      ...(isStray(one) ? { vm: one.name, reason: 'Stray' } : { vm: '-', name: one.name }),
      waitsFor: one.message,
    })),
  ];
}

/** VsphereAgents with what each waits for; as the pool lists them where they cannot be listed. */
function listedVms({ object, agents, held }: AgentPoolDescription): ShownVm[] {
  const heldBy = new Map(held.filter((one) => !isStray(one)).map(({ name, message }) => [name, message]));
  if (agents === null) return (object?.vms ?? []).map((vm) => ({ ...vm, ...unknownAgent, waitsFor: '' }));
  return agents.map(({ name, createdAt, deleting, conditions, vm }) => {
    const ready = findCondition(conditions, types.ready);
    return {
      ...(vm ?? { vm: '-', ...unknownVm }),
      name,
      createdAt,
      deleting,
      waitsFor: heldBy.get(name) ?? (ready?.status === 'False' ? ready.message : ''),
    };
  });
}

/** What needs a person first, what is at work last. */
const phaseOrder = ['Orphaned', 'Released', 'Provisioning', 'Available', 'Bound'];
const phaseStyles: Readonly<Record<string, Style>> = {
  Orphaned: 'bad',
  Released: 'warning',
  Provisioning: 'busy',
  Available: 'good',
  Bound: 'good',
};

function renderVms(description: AgentPoolDescription, nowMs: number, paint: Paint, widthColumns: number): string[] {
  const vms = vmsOf(description).toSorted(
    (a, b) =>
      phaseOrder.indexOf(a.phase ?? '') - phaseOrder.indexOf(b.phase ?? '') ||
      (a.name ?? a.vm).localeCompare(b.name ?? b.vm, 'en', { numeric: true }),
  );
  if (vms.length === 0) return [];
  return renderFacts(
    vms,
    {
      facts: vmFacts,
      why: { title: 'WAITS FOR', cell: ({ waitsFor }) => oneLine(waitsFor) },
      spare: ['VM', 'AGE', 'AGENT', 'MACHINE'],
    },
    { nowMs, paint, widthColumns },
  );
}

const vmFacts: readonly Fact<ShownVm>[] = [
  { title: 'NAME', cell: ({ name, vm }) => oneLine(name ?? vm) },
  { title: 'VM', cell: ({ vm }) => oneLine(vm) },
  {
    title: 'PHASE',
    cell: ({ phase, deleting }, _nowMs, paint) =>
      paint(phaseStyles[phase ?? ''] ?? 'quiet', oneLine(`${phase ?? '-'}${deleting ? ', deleting' : ''}`)),
  },
  { title: 'REASON', cell: ({ reason }) => oneLine(reason ?? '-') },
  { title: 'SINCE', align: 'right', cell: ({ since }, nowMs) => formatAge(since, nowMs) },
  { title: 'AGENT', cell: ({ agent }) => oneLine(agent ?? '-') },
  { title: 'MACHINE', cell: ({ machine }) => oneLine(machine ?? '-') },
  { title: 'AGE', align: 'right', cell: ({ createdAt }, nowMs) => formatAge(createdAt, nowMs) },
];

function renderIsos(object: AgentPoolObject | null, nowMs: number, widthColumns: number): string[] {
  if (object === null || object.iso === null) return [];
  const { iso } = object;
  const all: IsoVersion[] = [iso, ...iso.history.filter(({ path }) => path !== iso.path)];
  return renderTable(
    [{ title: 'UPLOADED' }, { title: 'SIZE', align: 'right' }, { title: '' }, { title: 'PATH' }],
    all.map(({ path, sizeBytes, uploadedAt }, index) => [
      agoOf(uploadedAt, nowMs),
      sizeBytes === null ? '?' : formatMemory(sizeBytes / 1024 ** 2),
      index === 0 ? 'current' : 'kept',
      oneLine(path),
    ]),
    Math.max(widthColumns, 120),
  );
}
