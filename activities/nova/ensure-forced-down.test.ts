import type { ForcedDownProof } from '../../contracts/node-failure/fencing.ts';
import { judgeProof } from './ensure-forced-down.ts';

const proof: ForcedDownProof = { incident: 'i-1', by: 'power-off', witness: 'bmc-1', at: '2026-01-01T00:00:00Z' };

type Row = [
  what: string,
  forcedDown: boolean,
  change: Partial<ForcedDownProof>,
  state: 'up' | 'down',
  code: 'HostNotFenced' | 'HostUp' | null,
];
const rows: Row[] = [
  ['power is off: down, whatever Nova still shows', true, {}, 'up', null],
  ['a person’s word: down', true, { by: 'person' }, 'down', null],
  ['a person’s word against what Nova hears: not down', true, { by: 'person' }, 'up', 'HostUp'],
  ['a restart is no reason to force down', true, { by: 'restart' }, 'down', 'HostNotFenced'],
  ['a restart: up', false, { by: 'restart' }, 'down', null],
  ['a person’s word: up', false, { by: 'person' }, 'down', null],
  ['power that is off is no reason to force up', false, {}, 'down', 'HostNotFenced'],
  ['no incident', true, { incident: ' ' }, 'down', 'HostNotFenced'],
  ['no witness', true, { witness: '' }, 'down', 'HostNotFenced'],
  ['no time', true, { at: 'yesterday' }, 'down', 'HostNotFenced'],
];
test.each(rows)('%s', (_, forcedDown, change, state, code) => {
  const judge = () => judgeProof({ host: 'node-1', state }, { forcedDown, proof: { ...proof, ...change } });
  if (code === null) expect(judge).not.toThrow();
  else expect(judge).toThrow(expect.objectContaining({ type: code, nonRetryable: true }));
});
