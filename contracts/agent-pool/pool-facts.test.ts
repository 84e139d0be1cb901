import { agentMachine } from '../../test/fixtures/activities/agent-pool.ts';
import { readAgentMachine } from './pool-facts.ts';

const facts = { namespace: 'clusters' };
/** As JSON may say it: text cannot be made of it. */
const textless = { toString: null };

test('the Machine that owns it', () => {
  expect(readAgentMachine(agentMachine('a'), facts).machine).toEqual({ name: 'a', uid: 'uid-machine-a' });
});

test('an owner of no version is not its Machine', () => {
  const ownerReferences = [{ apiVersion: textless, kind: 'Machine', name: 'a', uid: 'u' }];
  const { metadata, ...rest } = agentMachine('a');
  const read = readAgentMachine({ ...rest, metadata: { ...metadata, ownerReferences } }, facts);
  expect(read.machine).toBeNull();
});

test('a selector of objects is read, and selects nothing', () => {
  const matchExpressions = [{ key: textless, operator: textless, values: [textless, 1] }];
  const { spec, ...rest } = agentMachine('a');
  const read = readAgentMachine({ ...rest, spec: { ...spec, agentLabelSelector: { matchExpressions } } }, facts);
  expect(read.selector.matchExpressions).toEqual([
    { key: '{"toString":null}', operator: '{"toString":null}', values: ['{"toString":null}', '1'] },
  ]);
});
