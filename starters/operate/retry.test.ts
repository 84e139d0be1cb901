import { WorkflowNotFoundError } from '@temporalio/client';
import { droverFailure } from '../../runtime/failure.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { sampleHypervisor } from '../../test/fixtures/starters/hypervisor.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { retryHost } from './retry.ts';

test('Evictions that cannot be read are named', async () => {
  const terminal = paper();
  const context = sampleContext(terminal);
  const describe = () => Promise.reject(new WorkflowNotFoundError('no such run', 'eviction/node-1', undefined));
  const temporal = { ...temporalAccessTo({ workflow: { getHandle: () => ({ describe }) } }), context };
  const evictions = () => Promise.reject(droverFailure('KubernetesForbidden', 'You may not list evictions'));
  const access = { read: async () => sampleHypervisor() };
  const abort = new AbortController().signal;
  const surroundings = { context, temporal, kubernetes: { evictions }, access, terminal, abort } as never;
  await expect(retryHost(surroundings, 'node-1', 'alice')).rejects.toThrow('You may not list evictions');
  expect(terminal.stderr).toMatch(/^Which Evictions of node-1 there are is not known: You may not list evictions/u);
});
