import { faultNames } from './faults.ts';
import { findSubstitute } from './matrix.ts';
import { type Cell, formatCell } from './run-cell.ts';

const cellOf = (text: string): Cell => {
  const [scenario = '', alias, call, fault = ''] = text.split('/');
  return { scenario, step: `${alias}/${call}`, fault: fault as Cell['fault'] };
};
const planned = ['happy', 'late'].flatMap((scenario) =>
  ['A/one.1', 'A/two.1', 'A/two.2', 'A/three.1'].flatMap((step) =>
    faultNames.map((fault) => ({ scenario, step, fault })),
  ),
);

test.each<[what: string, cell: string, chosen: string[], unreached: string[], substitute: string | null]>([
  ['the next with the same fault', 'happy/A/two.2/cancel', [], [], 'happy/A/three.1/cancel'],
  ['after the last of a scenario its first', 'happy/A/three.1/cancel', [], [], 'happy/A/one.1/cancel'],
  ['never one of another scenario', 'late/A/three.1/cancel', [], [], 'late/A/one.1/cancel'],
  ['what is taken is left out', 'happy/A/two.1/cancel', ['happy/A/two.2/cancel'], [], 'happy/A/three.1/cancel'],
  [
    'a step that stays away for another fault',
    'happy/A/two.1/cancel',
    [],
    ['happy/A/two.2/failAfter'],
    'happy/A/three.1/cancel',
  ],
  ['it may come in another scenario', 'happy/A/two.1/cancel', [], ['late/A/two.2/failAfter'], 'happy/A/two.2/cancel'],
  [
    'every cell is wanted',
    'happy/A/two.2/cancel',
    ['happy/A/one.1/cancel', 'happy/A/two.1/cancel', 'happy/A/three.1/cancel'],
    [],
    null,
  ],
])('a substitute for a cell whose step does not come: %s', (_, text, chosen, unreached, expected) => {
  const cell = cellOf(text);
  const found = findSubstitute(cell, {
    planned,
    chosen: [cell, ...chosen.map(cellOf)],
    unreached: [cell, ...unreached.map(cellOf)],
  });
  expect(found && formatCell(found)).toBe(expected);
});
