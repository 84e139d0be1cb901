import { WorkflowNotFoundError } from '@temporalio/client';
import { droverFailure } from '../../runtime/failure.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { lifecycle, sampleHypervisor } from '../../test/fixtures/starters/hypervisor.ts';
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

test('a Hypervisor of another cluster is left as it is', async () => {
  const terminal = paper();
  const context = sampleContext(terminal);
  const none = () => Promise.reject(new WorkflowNotFoundError('no such run', 'eviction/node-1', undefined));
  const client = {
    workflow: { getHandle: () => ({ describe: none }) },
    schedule: { getHandle: () => ({ describe: async () => ({ action: { workflowId: 'held-by/another' } }) }) },
  };
  const temporal = { ...temporalAccessTo(client), context };
  const request = async () => ({ metadata: { uid: 'this' } });
  const kubernetes = { evictions: async () => [], open: async () => ({ request }) };
  const access = { read: async () => sampleHypervisor({ conditions: [lifecycle('Aborted', 'False')] }) };
  const abort = new AbortController().signal;
  const surroundings = { context, temporal, kubernetes, access, terminal, abort } as never;
  await expect(retryHost(surroundings, 'node-1', 'alice')).rejects.toThrow('belongs to another Kubernetes cluster');
});
