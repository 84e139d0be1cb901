import type { ErrorCode } from '../../contracts/errors.ts';
import type { Refusal } from '../openstack/faults.ts';

/**
 * What Nova's refusals mean, per request. Undefined: the general row of activities/openstack/faults.ts. A 404 counts
 * only in Nova's own words: one of a proxy must never read as "the server is gone".
 */
export type Faults = (refusal: Refusal) => ErrorCode | undefined;

const gone = ({ status, documented }: Refusal): boolean => status === 404 && documented;

/**
 * A server that is in a task, or is not built yet, is free again after a while. A locked one or one in the wrong state
 * is not.
 */
const busy = /while it is in task_state|is not ready\b/iu;
const wrongState = /while it is in (vm_state|power_state)|is locked\b|is in an invalid state/iu;

/** Refusals by policy (oslo.policy's words); other 403s are about the server itself, such as its project's quota. */
const byPolicy = /policy/iu;

/** `os-migrateLive`, `migrate`, `confirmResize`: requests to a server. */
export const serverActionFaults: Faults = (refusal) => {
  const { status, words } = refusal;
  if (gone(refusal)) return 'InstanceNotFound';
  if (status === 409 && busy.test(words)) return 'InstanceBusy';
  if (status === 409 && wrongState.test(words)) return 'InstanceStateRefused';
  if (status === 409 || status === 400 || (status === 403 && !byPolicy.test(words))) return 'MigrationRefused';
  return undefined;
};

/**
 * Nothing waits for confirmation: Nova says 400 where it finds no migration, 409 where the server is
 * not in VERIFY_RESIZE.
 */
export const confirmFaults: Faults = (refusal) => {
  const code = serverActionFaults(refusal);
  return code === 'MigrationRefused' ? 'InstanceStateRefused' : code;
};

/**
 * Aborting. 400: the migration is in a status that cannot be aborted. 409: the server is not migrating any more, or is
 * locked; either way this migration cannot be aborted now.
 */
export const abortFaults: Faults = (refusal) => {
  if (gone(refusal)) return 'MigrationNotFound';
  return refusal.status === 400 || refusal.status === 409 ? 'MigrationNotAbortable' : undefined;
};

/** Completing by force. Nova says 400 both for a migration it does not know and for one that does not run. */
export const forceCompleteFaults: Faults = (refusal) => {
  if (gone(refusal) || (refusal.status === 400 && /not found/iu.test(refusal.words))) return 'MigrationNotFound';
  return refusal.status === 400 || refusal.status === 409 ? 'MigrationRefused' : undefined;
};

/**
 * Enabling, disabling and forcing down a compute service. Nova says 400 where the service is as asked for already,
 * which the caller had observed otherwise a moment before.
 */
export const serviceFaults: Faults = (refusal) => {
  if (gone(refusal)) return 'HostNotFound';
  if (refusal.status === 400 && /unable to force up/iu.test(refusal.words)) return 'EvacuatedGuestsRemain';
  return refusal.status === 409 || (refusal.status === 400 && /no updates were requested/iu.test(refusal.words))
    ? 'ServiceConflict'
    : undefined;
};

/** Deleting a compute service. */
export const deleteServiceFaults: Faults = (refusal) => {
  if (gone(refusal)) return 'HostNotFound';
  return refusal.status === 409 ? 'HostNotEmpty' : undefined;
};

/**
 * Putting a host into an aggregate, or taking it out. Nova's 404 of the one speaks of the aggregate, of the host or of
 * its cell mapping; of the other it says the same of all. A conflict in Placement, where Nova mirrors them,
 * is over soon.
 */
export const aggregateFaults: Faults = (refusal) => {
  if (gone(refusal)) return /aggregate/iu.test(refusal.words) ? 'AggregateNotFound' : 'HostNotFound';
  if (refusal.status !== 409) return undefined;
  return /conflict was encountered/iu.test(refusal.words) ? 'ProviderConflict' : 'AggregateRefused';
};

/** Evacuating. The host that is named as target may be unknown, or the one that the server is on counts as up. */
export const evacuateFaults: Faults = (refusal) => {
  if (gone(refusal) && /compute host/iu.test(refusal.words)) return 'MigrationRefused';
  if (refusal.status === 400 && /still in use/iu.test(refusal.words)) return 'HostUp';
  return serverActionFaults(refusal);
};

export const createServerFaults: Faults = ({ status, words, documented }) => {
  if (status === 400 || status === 409 || (status === 404 && documented)) return 'SmokeServerRefused';
  return status === 403 && !byPolicy.test(words) ? 'SmokeServerRefused' : undefined;
};

export const deleteServerFaults: Faults = (refusal) => {
  if (gone(refusal)) return 'InstanceNotFound';
  if (refusal.status !== 409) return undefined;
  return wrongState.test(refusal.words) ? 'InstanceStateRefused' : 'InstanceBusy';
};

/**
 * Nova says 404 both of a server that is gone and of one without a console, 409 of one whose host did not take it yet.
 */
export const consoleFaults: Faults = (refusal) => {
  if (gone(refusal)) return /console/iu.test(refusal.words) ? 'ConsoleUnavailable' : 'InstanceNotFound';
  return refusal.status === 409 || refusal.status === 501 ? 'ConsoleUnavailable' : undefined;
};
