import { ScheduleNotFoundError, ServiceError } from '@temporalio/client';
import { droverFailure } from '../../runtime/failure.ts';
import { CommandError } from './error.ts';
import { refuseOtherCluster } from './own-cluster.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';

const own = 'uid-1';
const denied = new ServiceError('no', { cause: Object.assign(new Error('no'), { code: 7 }) });
const late = new ServiceError('no', { cause: Object.assign(new Error('late'), { code: 4 }) });
const unclaimed = new ScheduleNotFoundError('none', 'claim/cluster');
const silent = droverFailure('KubernetesUnavailable', 'kube-apiserver gave no answer');
const forbidden = droverFailure('KubernetesForbidden', 'no');

/**
 * @param holder uid by the claim in Temporal
 * @param uid of the cluster of the kubeconfig; an error: reading it fails so
 */
const refuse = (holder: string | Error, uid: string | Error, terminal = paper()): Promise<void> =>
  refuseOtherCluster(
    {
      ...temporalAccessTo({
        schedule: {
          getHandle: () => ({
            describe: () =>
              holder instanceof Error
                ? Promise.reject(holder)
                : Promise.resolve({ action: { workflowId: `held-by/${holder}` } }),
          }),
        },
      }),
      context: sampleContext(terminal),
    },
    {
      open: () =>
        Promise.resolve({
          server: 'https://kubernetes',
          request: () => (uid instanceof Error ? Promise.reject(uid) : Promise.resolve({ metadata: { uid } })),
        } as never),
    },
  );

test.each<[why: string, holder: string | Error, uid: string | Error, remark: RegExp]>([
  ['its own', own, own, /^$/u],
  ['a name that no cluster has', unclaimed, own, /^$/u],
  ['a claim that the user may not read', denied, own, /^Not checked whether .* belong together: .+\n$/u],
  ['a cluster that the user may not read', 'uid-2', forbidden, /belong together: Namespace kube-system .* no\.\n$/u],
])('%s refuses nothing, and says what was not checked', async (_why, holder, uid, remark) => {
  const terminal = paper();
  await expect(refuse(holder, uid, terminal)).resolves.toBeUndefined();
  expect(terminal.stderr).toMatch(remark);
});

test.each<[why: string, holder: string | Error, uid: string | Error, message: RegExp]>([
  ['another cluster', 'uid-2', own, /belongs to another Kubernetes cluster/u],
  ['a Temporal that gives no answer', late, own, /^Nothing was changed, as it is not known which Kubernetes cluster/u],
  ['a kube-apiserver that gives none', own, silent, /not known which Kubernetes cluster.*gave no answer/u],
])('%s refuses', async (_why, holder, uid, message) => {
  const refusal = await refuse(holder, uid).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(CommandError);
  expect((refusal as CommandError).message).toMatch(message);
});
