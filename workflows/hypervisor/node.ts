import { copiedLabels, hypervisorAnnotations, nodeMetadata } from '../../contracts/ids.ts';
import type {
  DesiredHypervisor,
  HypervisorPatch,
  HypervisorSpec,
  NewHypervisor,
  ObservedNode,
} from '../../contracts/hypervisor/hypervisor.ts';
import { isTerminating } from './judge.ts';
import type { Draft } from './types.ts';

const skipTests = 'skip-tests';

/** How `fromNode` names a label. */
const labelMemory = (key: string): string => `label:${key}`;

/** What the Node asks for in the spec. Absent: it says nothing of that. */
type Asked = Partial<Pick<HypervisorSpec, 'lifecycleEnabled' | 'skipTests' | 'aggregates' | 'customTraits'>>;

function askedBy({ labels, annotations }: ObservedNode): Asked {
  // Without it the Node is no hypervisor, so nothing that it says counts.
  if (labels[nodeMetadata.virtDriver] === undefined) return {};
  const lifecycle = labels[nodeMetadata.lifecycle];
  const zone = labels[nodeMetadata.zone];
  const aggregates = listOf(annotations[nodeMetadata.aggregates]);
  const customTraits = listOf(annotations[nodeMetadata.customTraits]);
  return {
    ...(lifecycle !== undefined && { lifecycleEnabled: true, skipTests: lifecycle === skipTests }),
    ...(aggregates !== null && { aggregates: [...new Set([...aggregates, ...(zone === undefined ? [] : [zone])])] }),
    ...(customTraits !== null && { customTraits }),
  };
}

/** A comma list; null where there is no such annotation. */
const listOf = (text: string | undefined): string[] | null =>
  text === undefined
    ? null
    : text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');

/** The Hypervisor of a Node that has none; null where the Node is no hypervisor. */
export function newHypervisor(node: ObservedNode, moreLabels: readonly string[]): NewHypervisor | null {
  if (node.labels[nodeMetadata.virtDriver] === undefined) return null;
  const asked = askedBy(node);
  const labels = copied(node, moreLabels);
  const terminates = isTerminating({ nodeUid: null }, node);
  const memory = [...memoryOf(asked), ...(terminates ? ['maintenance'] : []), ...Object.keys(labels).map(labelMemory)];
  return {
    name: node.name,
    labels,
    annotations: {
      [hypervisorAnnotations.fromNode]: memory.toSorted().join(','),
      [hypervisorAnnotations.nodeUid]: node.uid,
      ...(node.bootId !== '' && { [hypervisorAnnotations.lastBootId]: node.bootId }),
    },
    spec: {
      lifecycleEnabled: false,
      skipTests: false,
      customTraits: [],
      aggregates: [],
      ...asked,
      maintenance: terminates ? 'termination' : '',
      highAvailability: true,
      installCertificate: true,
      createCertManagerCertificate: false,
      evacuateOnReboot: false,
      reboot: false,
      allowedProjects: [],
    },
  };
}

/**
 * The two fields that are taken back when the Node says nothing of them any more. A list stays, as upstream leaves it.
 */
const memoryOf = (asked: Asked): string[] =>
  asked.lifecycleEnabled === undefined ? [] : ['lifecycleEnabled', 'skipTests'];

function copied({ labels }: ObservedNode, more: readonly string[]): Record<string, string> {
  const found = [...copiedLabels, ...more].flatMap((key) =>
    labels[key] === undefined ? [] : [[key, labels[key]] as const],
  );
  return Object.fromEntries(found);
}

/**
 * What has to be written so that the Hypervisor says what its Node says; null: nothing. What the Node says no more is
 * taken back, but only where drover had written it. A Node that is gone says nothing: its Hypervisor stays as it is.
 */
export function mapNode(
  desired: DesiredHypervisor,
  node: ObservedNode | null,
  moreLabels: readonly string[],
): Draft | null {
  if (node === null) return null;
  // A Node that never was a hypervisor is none of drover's.
  if (node.labels[nodeMetadata.virtDriver] === undefined && desired.nodeUid === null) return null;
  const labels = copied(node, moreLabels);
  const asked = askedBy(node);
  const terminates = isTerminating(desired, node);
  const isMine = (memory: string): boolean => desired.fromNode.includes(memory);
  // `ha` is where an undo was interrupted.
  const undoTermination =
    (desired.maintenance === 'termination' || desired.maintenance === 'ha') && !terminates && isMine('maintenance');
  // kube-apiserver lets no user change the spec of a Hypervisor that terminates, but for leaving that mode.
  const mayWrite = desired.maintenance !== 'termination' || undoTermination;

  const spec: Partial<HypervisorSpec> = mayWrite ? differences(desired, { ...takenBack(asked, isMine), ...asked }) : {};
  const stale = desired.fromNode.flatMap((memory) =>
    memory.startsWith('label:') && labels[memory.slice(6)] === undefined ? [memory.slice(6)] : [],
  );
  const labelPatch: Record<string, string | null> = {
    ...Object.fromEntries(stale.filter((key) => desired.labels[key] !== undefined).map((key) => [key, null])),
    ...Object.fromEntries(Object.entries(labels).filter(([key, value]) => desired.labels[key] !== value)),
  };
  const keptFields = mayWrite
    ? memoryOf(asked)
    : desired.fromNode.filter((memory) => memory === 'lifecycleEnabled' || memory === 'skipTests');
  const keptMaintenance =
    isMine('maintenance') && desired.maintenance === 'termination' && !undoTermination ? ['maintenance'] : [];
  const known = [...keptFields, ...keptMaintenance, ...Object.keys(labels).map(labelMemory)];
  const fromNodePatch = (memory: string[]): Record<string, string> => {
    const fromNode = memory.toSorted().join(',');
    return fromNode === desired.fromNode.toSorted().join(',') ? {} : { [hypervisorAnnotations.fromNode]: fromNode };
  };
  // On the way through `ha` it is still drover's: should the second patch fail, it is made later.
  const isHalfWay = undoTermination && desired.maintenance === 'termination';
  const annotationPatch: Record<string, string> = {
    ...fromNodePatch(isHalfWay ? [...known, 'maintenance'] : known),
    ...(desired.nodeUid !== node.uid && { [hypervisorAnnotations.nodeUid]: node.uid }),
    ...(node.bootId !== '' &&
      desired.lastBootId !== node.bootId && { [hypervisorAnnotations.lastBootId]: node.bootId }),
  };
  const patch: HypervisorPatch = {
    ...(Object.keys(labelPatch).length > 0 && { labels: labelPatch }),
    ...(Object.keys(annotationPatch).length > 0 && { annotations: annotationPatch }),
    ...(Object.keys(spec).length > 0 && { spec }),
    ...(desired.ownedByNode && { dropNodeOwner: true as const }),
  };
  if (undoTermination) {
    // The only way out of `termination` that the CRD's rule allows leads through `ha`.
    const patches: HypervisorPatch[] = isHalfWay
      ? [
          { ...patch, spec: { ...spec, maintenance: 'ha' } },
          { annotations: fromNodePatch(known), spec: { maintenance: '' } },
        ]
      : [{ ...patch, spec: { ...spec, maintenance: '' } }];
    const summary = `The Node terminates no more: take ${desired.name} out of termination`;
    return { kind: 'patchHypervisor', patches, summary };
  }
  return Object.keys(patch).length === 0
    ? null
    : { kind: 'patchHypervisor', patches: [patch], summary: describe(patch, node.name) };
}

const takenBack = (asked: Asked, isMine: (field: string) => boolean): Partial<HypervisorSpec> => ({
  ...(asked.lifecycleEnabled === undefined && isMine('lifecycleEnabled') && { lifecycleEnabled: false }),
  ...(asked.skipTests === undefined && isMine('skipTests') && { skipTests: false }),
});

const differences = (desired: DesiredHypervisor, wanted: Partial<HypervisorSpec>): Partial<HypervisorSpec> =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([field, value]) => JSON.stringify(desired[field as keyof HypervisorSpec]) !== JSON.stringify(value),
    ),
  );

function describe({ labels = {}, spec = {}, annotations, dropNodeOwner }: HypervisorPatch, node: string): string {
  const parts = [...Object.keys(spec), ...Object.keys(labels).map((key) => `label ${key}`)];
  if (dropNodeOwner) parts.push('no owner, so that it outlives its Node');
  if (parts.length === 0 && annotations !== undefined) parts.push('what was taken over');
  return `Take over from Node ${node}: ${parts.join(', ')}`;
}
