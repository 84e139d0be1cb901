import { droverFailure } from '../../runtime/failure.ts';
import { loadKubeConfig } from '../../runtime/kubernetes/kube-config.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { accessBy } from '../command/kubernetes-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { startEviction } from './start-eviction.ts';

/** @param open what reading the kubeconfig comes to */
async function start(open: () => never) {
  const terminal = paper();
  const context = sampleContext(terminal);
  const { config } = await context.loadConfig();
  const started: string[] = [];
  const temporal = {
    ...temporalAccessTo({
      workflow: { start: (_type: string, { workflowId }: { workflowId: string }) => void started.push(workflowId) },
    }),
    config,
    context,
  };
  const kubernetes = accessBy(async () => open(), config, temporal.abort);
  const failure: unknown = await startEviction(temporal, kubernetes, {
    host: 'node-1',
    reason: 'broken DIMM',
    by: 'alice',
  }).catch((error: unknown) => error);
  return { failure, started, terminal };
}

test('without any kubeconfig, the run makes the Eviction', async () => {
  const { failure, started, terminal } = await start(() => loadKubeConfig({}, { HOME: '/nonexistent' }) as never);
  expect(failure).toBeUndefined();
  expect(started).toEqual(['eviction/node-1']);
  expect(terminal.stderr).toMatch(/there is no kubeconfig.*The run makes the Eviction itself/u);
});

test.each<[why: string, message: string]>([
  ['a context that the kubeconfig does not have', 'kubeconfig /k has no context prd; it has: prod, test'],
  ['a kubeconfig that cannot be read', 'kubeconfig /k: ENOENT: no such file or directory'],
])('%s starts nothing', async (_why, message) => {
  const { failure, started } = await start(() => {
    throw droverFailure('InvalidConfiguration', message);
  });
  expect(started).toEqual([]);
  expect(explainError(failure)).toMatchObject({
    exitCode: exitCodes.usage,
    message: expect.stringContaining(message) as string,
  });
});
