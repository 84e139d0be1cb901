import type { ListedVirtualMachine } from '../virtual-machine/listed-virtual-machine.ts';
import { formatAge } from './duration.ts';
import type { Paint } from './paint.ts';
import { stateStyles } from './hosts.ts';
import type { Column } from './table.ts';
import { oneLine, renderTable, visibleLength } from './table.ts';

interface Fact extends Column {
  cell: (machine: ListedVirtualMachine, nowMs: number, paint: Paint) => string;
}

const facts: readonly Fact[] = [
  { title: 'VM', cell: ({ namespace, name }) => oneLine(`${namespace}/${name}`) },
  {
    title: 'STATE',
    cell: ({ state, stands, needsSomebody }, _nowMs, paint) =>
      needsSomebody ? paint('bad', `${state ?? '-'} !`) : paint(stateStyles[stands], state ?? '-'),
  },
  { title: 'STANDS', cell: ({ stands }) => stands },
  { title: 'SINCE', align: 'right', cell: ({ since }, nowMs) => formatAge(since, nowMs) },
  { title: 'POWER', cell: (machine) => renderPower(machine) },
  { title: 'ID', cell: ({ vmId }) => oneLine(vmId ?? '-') },
  { title: 'HOST', cell: ({ node }) => oneLine(node ?? '-') },
  { title: 'IP', cell: ({ ip }) => oneLine(ip ?? '-') },
  { title: 'CLASS', cell: (machine) => oneLine(machine.class ?? '-') },
  { title: 'IMAGE', cell: ({ image }) => oneLine(image ?? '-') },
];

/** Where the window is too narrow to say why, these are left out, one after the other. */
const spare = ['IMAGE', 'CLASS', 'STANDS', 'HOST', 'IP', 'ID'];
const roomForWhy = 40;

/** The table of `drover vms`. What needs somebody is marked with `!` as well, for who sees no colours. */
export function renderVirtualMachines(
  machines: readonly ListedVirtualMachine[],
  nowMs: number,
  paint: Paint,
  widthColumns: number,
): string[] {
  if (machines.length === 0) return ['No VirtualMachine is so.'];
  const render = (left: number, isWhole: boolean): string[] => {
    const shown = facts.filter(({ title }) => !spare.slice(0, left).includes(title));
    const why = isWhole ? [{ title: 'WHY', cell: (machine: ListedVirtualMachine) => renderWhy(machine, paint) }] : [];
    const columns = [...shown, ...why];
    return renderTable(
      columns,
      machines.map((machine) => columns.map(({ cell }) => cell(machine, nowMs, paint))),
      isWhole ? widthColumns : Infinity,
    );
  };
  const fits = (left: number): boolean =>
    Math.max(...render(left, false).map(visibleLength)) + 2 + roomForWhy <= widthColumns;
  const left = [...spare.keys()].find(fits) ?? spare.length;
  return render(left, true);
}

/** As it is, and as it is wanted where that is something else. */
function renderPower({ powerState, wantedPowerState, vmId, deleting }: ListedVirtualMachine): string {
  if (powerState === wantedPowerState || deleting || (powerState === null && vmId !== null)) return powerState ?? '-';
  return `${powerState ?? '-'} → ${wantedPowerState}`;
}

function renderWhy({ state, stands, message }: ListedVirtualMachine, paint: Paint): string {
  if (state === null) return message === '' ? paint('quiet', 'no run has said anything yet') : oneLine(message);
  // What an earlier spec came to is told no more: it may be wrong by now.
  return stands === 'unknown' ? paint('quiet', 'its spec has changed since') : oneLine(message);
}
