import type { VirtualMachineProgress } from '../../contracts/virtual-machine/observation.ts';
import { lifecycleOf, observationOf, reconcileStatus } from '../command/lifecycle-condition.ts';
import { type ListedVirtualMachine, needsAttention } from '../virtual-machine/listed-virtual-machine.ts';
import { virtualMachineCommands } from '../virtual-machine/virtual-machine-commands.ts';
import type { VirtualMachineDescription } from '../virtual-machine/virtual-machine-description.ts';
import type { VirtualMachineObject } from '../virtual-machine/virtual-machine-object.ts';
import { formatAge, formatRelative } from './duration.ts';
import { stateStyles } from './hypervisor.ts';
import { type Field, renderObject } from './object.ts';
import type { Paint } from './paint.ts';
import { type Fact, oneLine, renderFacts, renderTable } from './table.ts';

/** Everything about one virtual machine. */
export function renderVirtualMachine(
  description: VirtualMachineDescription,
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  const { object, run } = description;
  const said = object === null ? undefined : (lifecycleOf(object) ?? observationOf(object))?.message;
  return renderObject(
    description,
    {
      kind: 'VirtualMachine',
      standing: (colour) => (object === null ? '' : renderStanding(object, nowMs, colour)),
      says: said ?? run?.progress?.message ?? '',
      fields: object === null ? [] : fieldsOf(object, paint),
      sections: [{ title: 'Failures', lines: renderFailures(run?.progress?.failed ?? [], nowMs, widthColumns) }],
      commands: virtualMachineCommands(description),
    },
    { nowMs, paint, widthColumns },
  );
}

function renderStanding(object: VirtualMachineObject, nowMs: number, paint: Paint): string {
  const lifecycle = lifecycleOf(object);
  if (lifecycle === undefined)
    return paint(
      'warning',
      observationOf(object) === undefined
        ? 'drover has said nothing of this virtual machine yet'
        : 'drover only observes this virtual machine',
    );
  const status = reconcileStatus(object);
  if (status === 'unknown') return paint('warning', `was ${oneLine(lifecycle.reason)}, and its spec has changed since`);
  const since = `${oneLine(lifecycle.reason)} for ${formatAge(lifecycle.lastTransitionTime, nowMs)}`;
  return needsAttention(object, nowMs)
    ? paint('bad', `${since}, and needs attention`)
    : paint(stateStyles[status], since);
}

const renderVolume = ({ name, claim, problem }: VirtualMachineObject['volumes'][number], paint: Paint): string => {
  const which = oneLine(claim === null ? name : `${name} (claim ${claim})`);
  return problem === null ? which : paint('warning', `${which}: ${oneLine(problem)}`);
};

function fieldsOf(object: VirtualMachineObject, paint: Paint): Field[] {
  const { powerState, wantedPowerState, vmId, node, zone, hardwareVersion } = object;
  const where = [node === null ? null : `on ${node}`, zone === null ? null : `in ${zone}`]
    .filter((part) => part !== null)
    .join(', ');
  const holds = (holders: readonly string[]): string | null =>
    holders.length === 0 ? null : paint('warning', `held by ${holders.map(oneLine).join(', ')}`);
  return [
    [
      'deletion',
      object.deleting
        ? paint(
            'warning',
            [
              'requested',
              ...(object.deleteChecks.length === 0 ? [] : [`held by ${object.deleteChecks.map(oneLine).join(', ')}`]),
            ].join('; '),
          )
        : null,
    ],
    [
      'paused',
      object.paused
        ? paint('warning', object.pausedBy === null ? 'by its annotation' : `by ${oneLine(object.pausedBy)}`)
        : null,
    ],
    ['VM', vmId === null ? 'none in vCenter yet' : oneLine([vmId, where].join(' '))],
    [
      'power',
      powerState === wantedPowerState ? powerState : `${powerState ?? 'not known'}, wanted ${wantedPowerState}`,
    ],
    ['power-on', holds(object.powerOnChecks)],
    ['address', oneLine(object.ip ?? '')],
    ['class', oneLine(object.class ?? '')],
    ['image', oneLine(object.image ?? '')],
    ['storage', oneLine(object.storageClass ?? '')],
    ['volumes', object.volumes.map((volume) => renderVolume(volume, paint)).join(', ')],
    ['group', oneLine(object.group ?? '')],
    ['guest', oneLine(object.guest ?? '')],
    ['hardware', hardwareVersion === null ? null : `version ${String(hardwareVersion)}`],
    ['instance', oneLine(object.instanceUuid ?? '')],
    ['mode', object.observed ? 'only looked at (drover.dev/mode)' : null],
  ];
}

/** RFC 3339. */
const toTime = (ms: number): string => new Date(ms).toISOString();

const renderFailures = (failed: VirtualMachineProgress['failed'], nowMs: number, widthColumns: number): string[] =>
  failed.length === 0
    ? []
    : renderTable(
        [{ title: 'STEP' }, { title: 'ATTEMPTS', align: 'right' }, { title: 'AGAIN' }, { title: 'MESSAGE' }],
        failed.map(({ stage, attempts, retryAtMs, message }) => [
          stage,
          String(attempts),
          retryAtMs === null ? 'when something changes' : formatRelative(toTime(retryAtMs), nowMs),
          oneLine(message),
        ]),
        Math.max(widthColumns, 120),
      );

const fields: readonly Fact<ListedVirtualMachine>[] = [
  { title: 'VM', cell: ({ namespace, name }) => oneLine(`${namespace}/${name}`) },
  {
    title: 'STATE',
    cell: ({ state, status, needsAttention }, _nowMs, paint) =>
      needsAttention ? paint('bad', `${oneLine(state ?? '-')} !`) : paint(stateStyles[status], oneLine(state ?? '-')),
  },
  { title: 'STATUS', cell: ({ status }) => status },
  { title: 'SINCE', align: 'right', cell: ({ since }, nowMs) => formatAge(since, nowMs) },
  { title: 'POWER', cell: (machine) => renderPower(machine) },
  { title: 'ID', cell: ({ vmId }) => oneLine(vmId ?? '-') },
  { title: 'HOST', cell: ({ node }) => oneLine(node ?? '-') },
  { title: 'IP', cell: ({ ip }) => oneLine(ip ?? '-') },
  { title: 'CLASS', cell: (machine) => oneLine(machine.class ?? '-') },
  { title: 'IMAGE', cell: ({ image }) => oneLine(image ?? '-') },
];

/** Where the window is too narrow to say why, these are left out, one after the other. */
const spare = ['IMAGE', 'CLASS', 'STATUS', 'HOST', 'IP', 'ID'];

/** The table of `drover vms`. What needs attention is marked with `!` as well, for who sees no colours. */
export function renderVirtualMachines(
  machines: readonly ListedVirtualMachine[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  const why = { title: 'WHY', cell: (machine: ListedVirtualMachine) => renderWhy(machine, paint) };
  return renderFacts(machines, { facts: fields, why, spare }, { nowMs, paint, widthColumns });
}

/** As it is, and as it is wanted where that is something else. */
function renderPower({ powerState, wantedPowerState, vmId, deleting }: ListedVirtualMachine): string {
  if (powerState === wantedPowerState || deleting || (powerState === null && vmId !== null)) return powerState ?? '-';
  return `${powerState ?? '-'} → ${wantedPowerState}`;
}

function renderWhy({ state, status, message }: ListedVirtualMachine, paint: Paint): string {
  if (state === null) return message === '' ? paint('quiet', 'no run has said anything yet') : oneLine(message);
  // What an earlier spec came to is shown no more: it may be wrong by now.
  return status === 'unknown' ? paint('quiet', 'its spec has changed since') : oneLine(message);
}
