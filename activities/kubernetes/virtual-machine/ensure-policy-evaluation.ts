import type { VirtualMachineObjectActivities } from '../../../contracts/virtual-machine/activities.ts';
import { type EvaluationSpec, evaluationName, isSameEvaluation } from '../../../contracts/virtual-machine/policies.ts';
import type { MergePatch } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import { patchBetween } from '../lib/merge-patch.ts';
import type { VirtualMachineTools } from './dependencies.ts';
import { ownerReferences } from './owner-references.ts';

const { PolicyEvaluation: resource } = neighbourResources;

type Request = Parameters<VirtualMachineObjectActivities['ensurePolicyEvaluation']>[0];

/**
 * Has the policies of a VM evaluated. Safe to repeat: what an earlier attempt has written is found by its name.
 *
 * @throws ObjectConflict when others write all the time; KubernetesForbidden; Stopped
 */
export const ensurePolicyEvaluation = async (
  tools: VirtualMachineTools,
  request: Request,
): Promise<{ isCurrent: boolean }> => ({ isCurrent: await retryConflicts(() => write(tools, request)) });

/** False: it was decided on another one, and nothing was written. */
async function write(tools: VirtualMachineTools, { spec, before, ...owner }: Request): Promise<boolean> {
  const { client, scope } = tools;
  const key = { namespace: owner.namespace, name: evaluationName(owner.name) };
  const found = await client.get(resource, key, scope.signal);
  const current = found?.spec ?? {};
  const isOwn = found?.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) ?? false;
  if (found !== null && isOwn && isSameEvaluation(current, spec)) return true;
  const isAsBefore =
    found === null
      ? before === null
      : before !== null && found.metadata.uid === before.uid && isSameEvaluation(current, before.spec);
  if (!isAsBefore) return false;
  const entry = {
    action: 'ensurePolicyEvaluation',
    cause: 'the policies of the virtual machine',
    object: `policyevaluation/${key.namespace}/${key.name}`,
    before: found?.spec ?? null,
    after: spec,
  };
  if (found !== null) {
    await mutate(tools, entry, () =>
      // A label that is not there any more would stay otherwise.
      client.patch(
        resource,
        found.metadata,
        { spec: patchBetween(current, spec) as MergePatch<EvaluationSpec> },
        scope.signal,
      ),
    );
    return true;
  }
  const metadata = { ...key, ownerReferences: ownerReferences(owner) };
  return await mutate(
    tools,
    entry,
    async () => (await client.create(resource, { metadata, spec }, scope.signal)) !== null,
  );
}
