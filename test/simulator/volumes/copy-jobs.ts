import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { StoredObject } from '../../fakes/kubernetes/stored-object.ts';
import { selectedNode } from './binder.ts';
import { annotationOf, withAnnotations, type Claim, type Cluster } from './cluster.ts';
import type { CsiDriver } from './csi-driver.ts';

/**
 * What runs Jobs that copy one volume onto another: the Job controller, the scheduler, a kubelet, and
 * `drover copy-volume`.
 */
export interface CopyJobs {
  /** Each takes so long. Default 2 000 ms. */
  copyMs: number;
  /** The next ones fail, with what their condition says. */
  failures: string[];
  /** How many volumes were copied. */
  readonly copied: number;
}

interface Job extends StoredObject {
  spec: {
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        volumes: { persistentVolumeClaim: { claimName: string; readOnly?: boolean } }[];
        containers: { args: string[] }[];
      };
    };
  };
}

/** Between two looks at claims that are not bound yet. */
const pollMs = 500;
/** What a container takes to end when its Pod is deleted. */
const endMs = 1_000;

export function playCopyJobs(cluster: Cluster, driverOf: (name: string) => CsiDriver): CopyJobs {
  const { clock, kubernetes } = cluster;
  let copied = 0;
  const jobs = {
    copyMs: 2_000,
    failures: [] as string[],
    get copied() {
      return copied;
    },
  };
  const isThere = ({ metadata: { namespace, name, uid } }: Job): boolean =>
    kubernetes.object('jobs', { namespace, name })?.metadata.uid === uid;

  const podPath = ({ metadata: { namespace = '', name, uid } }: Job, subresource?: 'status'): string =>
    resourcePath('v1', 'pods', {
      namespace,
      name: `${name}-${uid.slice(0, 5)}`,
      ...(subresource !== undefined && { subresource }),
    });

  /** Its Pod, on the node: from now on its claims are held, until it is gone. */
  const place = (job: Job): void => {
    const { namespace = '', name, uid } = job.metadata;
    const { metadata, spec } = job.spec.template;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true };
    kubernetes.answer({
      method: 'POST',
      path: resourcePath('v1', 'pods', { namespace }),
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, namespace, name: podPath(job).split('/').at(-1), ownerReferences: [owner] },
        spec: { ...spec, nodeName: 'node-1' },
      },
    });
  };

  const endPod = (job: Job, phase: 'Succeeded' | 'Failed'): unknown =>
    kubernetes.answer({
      method: 'PATCH',
      patchType: 'merge',
      path: podPath(job, 'status'),
      body: { status: { phase } },
    });

  const end = (job: Job, type: 'Complete' | 'Failed', message: string): void => {
    const { namespace = '', name } = job.metadata;
    endPod(job, type === 'Complete' ? 'Succeeded' : 'Failed');
    const condition = { type, status: 'True', reason: type === 'Failed' ? 'BackoffLimitExceeded' : '', message };
    kubernetes.answer({
      method: 'PATCH',
      patchType: 'merge',
      path: resourcePath('batch/v1', 'jobs', { namespace, name, subresource: 'status' }),
      body: {
        status: {
          active: 0,
          ...(type === 'Complete' ? { succeeded: 1 } : { failed: 1 }),
          conditions: [{ ...condition, lastTransitionTime: cluster.now(), lastProbeTime: cluster.now() }],
        },
      },
    });
  };

  /** Null: it is not bound yet. The scheduler places the Pod, which is what a claim may wait for. */
  const handleOf = (claim: Claim | null): { driver: CsiDriver; id: string } | null => {
    if (claim === null) return null;
    if (claim.status.phase === 'Pending' && annotationOf(claim, selectedNode) === undefined)
      cluster.update('claims', withAnnotations(claim, { [selectedNode]: 'node-1' }));
    if (claim.status.phase !== 'Bound') return null;
    const csi = cluster.get('volumes', claim.spec.volumeName ?? '')?.spec.csi;
    return csi === undefined ? null : { driver: driverOf(csi.driver), id: csi.volumeHandle };
  };

  async function run(job: Job): Promise<void> {
    const claims = job.spec.template.spec.volumes.map((one) => one.persistentVolumeClaim);
    const from = claims.find(({ readOnly }) => readOnly === true)?.claimName ?? '';
    const to = claims.find(({ readOnly }) => readOnly !== true)?.claimName ?? '';
    const { namespace } = job.metadata;
    for (;;) {
      if (!isThere(job)) return;
      const [source, target] = [from, to].map((name) => handleOf(cluster.get('claims', name, namespace)));
      if (source && target) {
        place(job);
        await clock.sleep(jobs.copyMs);
        if (!isThere(job)) return;
        const failure = jobs.failures.shift();
        if (failure !== undefined) return end(job, 'Failed', failure);
        target.driver.write(target.id, source.driver.read(source.id));
        copied += 1;
        return end(job, 'Complete', '');
      }
      await clock.sleep(pollMs);
    }
  }

  /** As the kubelet ends it. */
  const endDeleted = ({ metadata: { namespace = '', name } }: StoredObject): void =>
    void clock.after(endMs, () => {
      const path = resourcePath('v1', 'pods', { namespace, name });
      if (kubernetes.object('pods', { namespace, name }) !== null)
        kubernetes.answer({ method: 'DELETE', path, query: { gracePeriodSeconds: 0 } });
    });

  kubernetes.subscribe(({ type, resource, object }) => {
    const { deletionTimestamp, ownerReferences = [] } = object.metadata;
    const isOfJob = resource.kind === 'Pod' && ownerReferences.some(({ kind }) => kind === 'Job');
    if (type === 'MODIFIED' && isOfJob && deletionTimestamp !== undefined) endDeleted(object);
    const job = object as Job;
    if (type === 'ADDED' && resource.kind === 'Job' && job.spec.template.spec.containers[0]?.args[0] === 'copy-volume')
      clock.after(10, () => void run(job).catch(() => undefined));
  });
  return jobs;
}
