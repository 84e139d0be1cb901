import { agentFixture } from '../../../lab/agents.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import type { Deployment } from '../deployment.ts';
import { never } from './pool-world.ts';

/** The hosted cluster of a pool, which the simulation has as its target. */

const kubeconfig = JSON.stringify({
  'current-context': 'admin',
  contexts: [{ name: 'admin', context: { cluster: 'hosted', user: 'admin' } }],
  clusters: [{ name: 'hosted', cluster: { server: 'https://hosted.test:6443', 'certificate-authority-data': 'Y2E=' } }],
  users: [{ name: 'admin', user: { token: 'of-the-hosted-cluster' } }],
});

/** As HyperShift gives it. */
export const giveAccess = (api: Kubernetes): Promise<void> =>
  applyObject(api, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: agentFixture.controlPlaneNamespace, name: 'admin-kubeconfig' },
    stringData: { kubeconfig },
  });

export const makeNode = ({ target }: Deployment, name: string): Promise<void> =>
  applyObject(target.admin, { apiVersion: 'v1', kind: 'Node', metadata: { name } });

export const removeNode = ({ target }: Deployment, name: string): Promise<unknown> =>
  target.admin.request({ method: 'DELETE', path: `/api/v1/nodes/${name}` }, never);
