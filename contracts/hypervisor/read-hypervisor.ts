import { findCondition } from '../conditions.ts';
import type { Eviction } from '../crds/eviction.ts';
import type { Hypervisor } from '../crds/hypervisor.ts';
import { isConsentBy, readAsked } from '../eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../eviction/conditions.ts';
import type { DesiredHypervisor, ObservedEviction, RecordedStatus } from './hypervisor.ts';
import { hypervisorConsents } from './hypervisor.ts';
import { annotations, hypervisorAnnotations } from '../ids.ts';

/** The owner references of an object, which are not in the schemas. */
export interface OwnerReference {
  kind: string;
  uid: string;
  controller?: boolean | undefined;
}

/** What a Hypervisor asks for. A spec without a field is read with the CRD's default. */
export function readDesired({ metadata, spec }: Hypervisor, owners: readonly OwnerReference[]): DesiredHypervisor {
  const given = metadata.annotations ?? {};
  const retry = given[annotations.retry];
  // Consent without a name and a time is no consent.
  const consentBy = given[annotations.consentBy] ?? '';
  const consent = isConsentBy(consentBy)
    ? hypervisorConsents.filter((one) => list(given[annotations.consent]).includes(one))
    : [];
  return {
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    labels: metadata.labels ?? {},
    lifecycleEnabled: spec?.lifecycleEnabled ?? true,
    skipTests: spec?.skipTests ?? false,
    highAvailability: spec?.highAvailability ?? true,
    createCertManagerCertificate: spec?.createCertManagerCertificate ?? false,
    customTraits: spec?.customTraits ?? [],
    aggregates: spec?.aggregates ?? [],
    maintenance: spec?.maintenance ?? '',
    maintenanceReason: spec?.maintenanceReason || null,
    fromNode: list(given[hypervisorAnnotations.fromNode]),
    nodeUid: given[hypervisorAnnotations.nodeUid] || null,
    lastBootId: given[hypervisorAnnotations.lastBootId] || null,
    ownedByNode: owners.some(({ kind }) => kind === 'Node'),
    appliedTraits: list(given[hypervisorAnnotations.appliedTraits]),
    rollingUpdateBootId: given[hypervisorAnnotations.rollingUpdate] || null,
    retry: retry === undefined || retry === given[hypervisorAnnotations.retryHandled] ? null : retry,
    consent,
    consentBy: consent.length === 0 ? null : consentBy,
    touchedByKubectl: metadata.managedFields?.some(({ manager }) => manager?.startsWith('kubectl')) ?? false,
    mode: hypervisorMode(given),
    deleting: metadata.deletionTimestamp !== undefined,
  };
}

/**
 * What a Hypervisor's annotations allow. A user who writes `drover.dev/mode` wants less than act: what is misspelt is
 * taken for `observe`.
 */
export const hypervisorMode = (given: Readonly<Record<string, string>> = {}): 'observe' | 'act' =>
  ['act', undefined].includes(given[annotations.mode]) ? 'act' : 'observe';

const list = (text: string | undefined): string[] =>
  text
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '') ?? [];

/** What a Hypervisor's status says already. */
export const readRecorded = ({ status }: Hypervisor): RecordedStatus => ({
  conditions: status?.conditions ?? [],
  hypervisorId: status?.hypervisorId || null,
  serviceId: status?.serviceId || null,
  evicted: status?.evicted ?? false,
  libVirtVersion:
    status?.libVirtVersion === undefined || status.libVirtVersion === '' || status.libVirtVersion === 'unknown'
      ? null
      : status.libVirtVersion,
  traits: status?.traits ?? null,
  aggregates: status?.aggregates?.map(({ name, uuid, metadata }) => ({ name, uuid, metadata: metadata ?? {} })) ?? null,
  internalIp: status?.internalIp ?? null,
});

/** An Eviction as its Hypervisor sees it. */
export function readEviction(
  { metadata, spec, status }: Eviction,
  owners: readonly OwnerReference[],
): ObservedEviction {
  const evicting = findCondition(status?.conditions, evictionConditions.evicting);
  const ownerUid = owners.find(({ kind, controller }) => kind === 'Hypervisor' && controller === true)?.uid ?? null;
  const onlyPlans = evicting === undefined && metadata.annotations?.[annotations.mode] === 'observe';
  const plan = onlyPlans ? findCondition(status?.conditions, evictionConditions.observed) : undefined;
  const isPlanned = plan !== undefined && plan.status !== 'Unknown';
  // A user turned it into one that only plans, before it began.
  const ofOwn = isPlanned ? 'stopped' : evictionState(evicting);
  return {
    name: metadata.name,
    uid: metadata.uid,
    ownerUid,
    deleting: metadata.deletionTimestamp !== undefined,
    state: onlyPlans && ownerUid === null ? 'observed' : ofOwn,
    ...(evicting !== undefined && { reason: evicting.reason }),
    message: evicting?.message ?? plan?.message ?? 'not begun yet',
    cause: readAsked({ metadata, spec }).asked.cause,
    deadline: metadata.annotations?.[annotations.deadline] ?? null,
  };
}

function evictionState(evicting: ReturnType<typeof findCondition>): ObservedEviction['state'] {
  if (evicting === undefined || evicting.status === 'Unknown') return 'waiting';
  if (evicting.status === 'True') return 'running';
  if (evicting.reason === evictingReasons.succeeded) return 'succeeded';
  return evicting.reason === evictingReasons.stopped ? 'stopped' : 'failed';
}
