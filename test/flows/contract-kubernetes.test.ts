import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Lab, startLab } from '../../lab/lab.ts';
import { compactEtcd, killKubeApiserver, restartKubeApiserver } from '../../lab/parts/kubernetes-faults.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { describeFieldManagers } from '../contracts/kubernetes-apply.ts';
import { describeBuiltIn } from '../contracts/kubernetes-built-in.ts';
import { describeLists } from '../contracts/kubernetes-lists.ts';
import { describeObjects } from '../contracts/kubernetes-objects.ts';
import { describeSchemas } from '../contracts/kubernetes-schemas.ts';
import { describeWatches } from '../contracts/kubernetes-watches.ts';
import { type ContractTest, onceServed } from '../contracts/kubernetes.ts';

/** A lab of its own: one test has kube-apiserver killed. */
let root: string;
let lab: Lab<'kubernetes'>;
let kubernetes: Kubernetes;
let counter = 0;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'drover-contract-'));
  lab = await startLab({ dir: join(root, 'lab'), parts: ['kubernetes'] });
  kubernetes = connectKubernetes({ kubeconfig: lab.handles.kubernetes.kubeconfig });
}, 600_000);

afterAll(async () => {
  await kubernetes.close();
  await lab.stop();
  rmSync(root, { recursive: true, force: true });
}, 60_000);

/** What has been is in etcd, and in kube-apiserver's own copy of it, which ends with its process. */
async function loseHistory(): Promise<void> {
  const { kubernetes: handle } = lab.handles;
  await compactEtcd(handle);
  await killKubeApiserver(handle);
  await restartKubeApiserver(handle);
}

/** Each test has a namespace of its own. */
const onLab: ContractTest = (title, body) => {
  test(
    title,
    async () => {
      counter += 1;
      const name = `contract-${counter}`;
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await onceServed(() =>
        kubernetes.request(
          { method: 'POST', path: resourcePath('v1', 'namespaces'), body: namespace },
          new AbortController().signal,
        ),
      );
      await body({ kubernetes, name, loseHistory });
    },
    180_000,
  );
};

describe('objects of kube-apiserver', () => {
  describeObjects(onLab);
});
describe('field managers of kube-apiserver', () => {
  describeFieldManagers(onLab);
});
describe('schemas of kube-apiserver', () => {
  describeSchemas(onLab);
});
describe('lists of kube-apiserver', () => {
  describeLists(onLab);
});
describe('watches of kube-apiserver', () => {
  describeWatches(onLab);
});
describe('built-in kinds of kube-apiserver', () => {
  describeBuiltIn(onLab);
});
