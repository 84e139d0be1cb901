import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { DataVolumeActivities, JobFacts } from '../../../contracts/data-volume/data-volume.ts';
import { temporaryNames, volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { type Job, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { beginWork, liveVolume } from './begin-work.ts';
import { lastOf } from './claim-problem.ts';
import type { VolumeTools } from './dependencies.ts';
import { readSourceUsers } from './source-users.ts';
import { jobFacts, podProblem, timeMs } from './volume-facts.ts';
import { createObject } from './write-object.ts';

type Request = Parameters<DataVolumeActivities['ensureCopyJob']>[0];

/** Where the volumes are in the Pod: directories, or block devices. */
const places = { Filesystem: { from: '/source', to: '/target' }, Block: { from: '/dev/source', to: '/dev/target' } };

/** A Pod that fails is replaced so often: what is copied twice is the same. */
const attempts = 3;

/**
 * Root with those rights alone by which it keeps whose files are, and what they are: a namespace of the level
 * `baseline` allows them.
 */
const containerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'MKNOD', 'SETFCAP'] },
  runAsUser: 0,
};

/** Pure. */
export function copyJobSpec(
  { from, to, volumeMode, image }: Pick<Request, 'from' | 'to' | 'volumeMode' | 'image'>,
  { priorityClassName }: Pick<DataVolume['spec'], 'priorityClassName'>,
) {
  const at = places[volumeMode];
  const volumes = [
    { name: 'source', persistentVolumeClaim: { claimName: from, readOnly: true } },
    { name: 'target', persistentVolumeClaim: { claimName: to.name } },
  ];
  const container = {
    name: 'copy',
    image,
    args: ['copy-volume', at.from, at.to],
    securityContext: containerSecurity,
    resources: { requests: { cpu: '100m', memory: '192Mi' } },
    ...(volumeMode === 'Block'
      ? {
          volumeDevices: [
            { name: 'source', devicePath: at.from },
            { name: 'target', devicePath: at.to },
          ],
        }
      : {
          volumeMounts: [
            { name: 'source', mountPath: at.from, readOnly: true },
            { name: 'target', mountPath: at.to },
          ],
        }),
  };
  return {
    backoffLimit: attempts,
    template: {
      spec: {
        restartPolicy: 'Never',
        ...(priorityClassName !== undefined && { priorityClassName }),
        automountServiceAccountToken: false,
        securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
        containers: [container],
        volumes,
      },
    },
  };
}

/** Its Pod has most often begun by then. */
const youngMs = 10_000;

/** With why no Pod of it copies yet: none can be made, placed, or started. */
export async function describeJob({ client, clock, scope }: VolumeTools, job: Job): Promise<JobFacts> {
  const facts = jobFacts(job);
  const { namespace = '', uid, labels, creationTimestamp } = job.metadata;
  const ageMs = clock.now() - (timeMs(creationTimestamp) ?? 0);
  if (facts.state !== 'active' || facts.hasBegun || ageMs < youngMs) return facts;
  const labelSelector = `${volumeLabels.temporaryFor}=${labels?.[volumeLabels.temporaryFor] ?? ''}`;
  const pods = await client.listValid(storageResources.Pod, { namespace, labelSelector }, scope.signal);
  const problem = pods.map(podProblem).find((one) => one !== null);
  if (problem !== undefined || pods.length > 0) return { ...facts, message: problem ?? '' };
  const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
  const events = await client.listValid(storageResources.Event, { namespace, fieldSelector }, scope.signal);
  return { ...facts, message: lastOf(events)?.message ?? '' };
}

/** Made where there is none. It is not awaited: a copy takes as long as its data are large. */
export async function ensureCopyJob(
  tools: VolumeTools,
  request: Request,
): Promise<Awaited<ReturnType<DataVolumeActivities['ensureCopyJob']>>> {
  const { begin, namespace, name, uid, inNamespace, from } = request;
  const of = { namespace, name, uid };
  await beginWork(tools, { ...of, begin });
  const key = { namespace: inNamespace, name: temporaryNames.job(uid) };
  const get = (): Promise<Job | null> => tools.client.get(storageResources.Job, key, tools.scope.signal);
  const there = await get();
  // A snapshot that was restored has no other users.
  const usedBy =
    there !== null || from === temporaryNames.restored(uid)
      ? []
      : await readSourceUsers(tools, { namespace: inNamespace, name: from });
  if (usedBy.length > 0) return { job: null, usedBy };
  const found = there ?? (await make()) ?? (await get());
  if (found === null) throw droverFailure('ObjectConflict', `Job ${key.namespace}/${key.name} comes and goes`);
  return { job: jobFacts(found) };

  async function make(): Promise<Job | null> {
    const volume = await liveVolume(tools, of);
    const labels = { [volumeLabels.app]: volumeLabels.appName, [volumeLabels.temporaryFor]: uid };
    const { template, ...spec } = copyJobSpec(request, volume.spec);
    return await createObject(
      tools,
      storageResources.Job,
      {
        metadata: {
          ...key,
          labels,
          annotations: {
            [volumeAnnotations.ownedByDataVolume]: `${namespace}/${name}`,
            [volumeAnnotations.copiesInto]: request.to.uid,
          },
        },
        spec: { ...spec, template: { metadata: { labels }, ...template } },
      },
      `DataVolume ${namespace}/${name} is copied`,
    );
  }
}
