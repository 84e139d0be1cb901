import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { main } from '../main.ts';

test.each([[['safety']], [['safety', '--json']]])('without a namespace, %j says nothing of Machines', async (args) => {
  const terminal = paper();
  expect(await main(args, sampleContext(terminal))).toBe(exitCodes.usage);
  expect(terminal.stdout).toBe('');
  expect(terminal.stderr).toMatch(/no namespace of Machines \(machines\.namespaces\)\.\n.*--namespace/su);
});
