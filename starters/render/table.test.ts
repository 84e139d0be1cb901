import { coloured, paintFor, plain } from './paint.ts';
import { clip, oneLine, renderTable } from './table.ts';

const columns = [{ title: 'HOST' }, { title: 'DONE', align: 'right' as const }, { title: 'PHASE' }];

test('columns are as wide as their widest cell', () => {
  expect(
    renderTable(columns, [
      ['node-1', '3/24', 'Moving'],
      ['a', '10/24', 'Failed'],
    ]),
  ).toEqual(['HOST     DONE  PHASE', 'node-1   3/24  Moving', 'a       10/24  Failed']);
});

test('colours do not count as width', () => {
  const [, painted] = renderTable(columns, [[coloured('bad', 'node-1'), '1/2', 'Moving']]);
  expect(painted).toContain('  1/2  Moving');
});

test('a line never gets longer than the terminal is wide', () => {
  expect(renderTable(columns, [['node-1', '3/24', 'Moving instances']], 18)).toEqual([
    'HOST    DONE  PHA…',
    'node-1  3/24  Mov…',
  ]);
  expect(clip('abc', 3)).toBe('abc');
  expect(clip('abcd', 3)).toBe('ab…');
});

test('names cannot drive the terminal', () => {
  expect(oneLine('web\u001b[2J-1\r\nroot# ')).toBe('web-1 root#');
});

test.each<[why: string, isTerminal: boolean, env: NodeJS.ProcessEnv, colours: boolean]>([
  ['a terminal has colours', true, {}, true],
  ['a pipe has none', false, {}, false],
  ['NO_COLOR switches them off', true, { NO_COLOR: '1' }, false],
  ['an empty NO_COLOR does not', true, { NO_COLOR: '' }, true],
  ['a dumb terminal has none', true, { TERM: 'dumb' }, false],
])('%s', (_why, isTerminal, env, colours) => {
  expect(paintFor(isTerminal, env)).toBe(colours ? coloured : plain);
});
