import pMap from 'p-map';
import { z } from 'zod';

import { namespace as namespaces } from '../../../contracts/kinds/resources.ts';
import { indexMachines, type JudgedMachine, type MachineIndex } from '../../../contracts/machine-safety/judge-vm.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources, typed } from '../../../runtime/kubernetes/resources.ts';

/** What a sweep must know of Kubernetes before it judges a VM. */
export interface ReadMachines {
  index: MachineIndex;
  resourceVersion: number;
  /** Of the Namespace. */
  clusterUid: string;
}

/** What the verdict needs: for a Machine with anything else in these places nothing may be judged. */
const machineSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ providerID: z.string().optional() }).optional(),
  status: z.object({ currentStatus: z.object({ phase: z.string().optional() }).optional() }).optional(),
});
const machines = typed(resources.Machine, machineSchema);
const namespacesAtOnce = 4;
const ofUid = typed(namespaces, z.object({ metadata: z.object({ uid: z.string().min(1) }) }));

/**
 * Every Machine of the namespace, by one list that kube-apiserver answers from etcd: no cache of drover's or its own
 * stands between.
 *
 * @throws KubernetesForbidden, KubernetesUnavailable, AnswerMalformed; ObjectNotFound where there is no such namespace
 */
export async function readMachines(
  client: Pick<KubernetesObjects, 'get' | 'listWithVersion'>,
  namespace: string,
  signal: AbortSignal,
): Promise<ReadMachines> {
  const clusterUid = await readClusterUid(client, namespace, signal);
  const { items, resourceVersion } = await client.listWithVersion(machines, { namespace }, signal);
  const version = Number(resourceVersion);
  if (!/^\d+$/u.test(resourceVersion) || !Number.isSafeInteger(version))
    throw droverFailure(
      'AnswerMalformed',
      `The list of the Machines of ${namespace} has no version that grows (${resourceVersion.slice(0, 40) || 'none'}), so that a restored cluster would not be noticed; nothing is judged`,
    );
  return { index: indexMachines(items.map(judgedOf)), resourceVersion: version, clusterUid };
}

const judgedOf = ({ metadata: { name }, spec, status }: z.output<typeof machineSchema>): JudgedMachine => ({
  name,
  providerId: spec?.providerID ?? '',
  phase: status?.currentStatus?.phase ?? '',
});

/**
 * The Machines of the other namespaces that drover sweeps: where their classes have the same marks, each lists the VMs
 * of the others. From etcd, too.
 *
 * @throws KubernetesForbidden, KubernetesUnavailable: what is not known to be an orphan is judged by no one
 */
export async function readMachinesElsewhere(
  client: Pick<KubernetesObjects, 'list'>,
  swept: readonly string[],
  own: string,
  signal: AbortSignal,
): Promise<MachineIndex[]> {
  const others = [...new Set(swept)].filter((namespace) => namespace !== own);
  return await pMap(
    others,
    async (namespace) => indexMachines((await client.list(machines, { namespace }, signal)).map(judgedOf)),
    { concurrency: namespacesAtOnce },
  );
}

async function readClusterUid(
  client: Pick<KubernetesObjects, 'get'>,
  namespace: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    const found = await client.get(ofUid, { name: namespace }, signal);
    if (found !== null) return found.metadata.uid;
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    throw droverFailure(
      'KubernetesForbidden',
      `Namespace ${namespace} may not be read, so that nothing says which cluster its Machines are in; no VM is judged: ${error.message}`,
    );
  }
  throw droverFailure('ObjectNotFound', `There is no namespace ${namespace}; no VM is judged`);
}
