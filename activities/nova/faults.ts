import type { ErrorCode } from '../../contracts/errors.ts';
import type { Refusal } from '../openstack/faults.ts';

/**
 * What Nova's refusals mean, per request. Undefined: the general row of activities/openstack/faults.ts. A 404 counts only in Nova's own
 * words: one of a proxy must never read as "the server is gone".
 */
export type Faults = (refusal: Refusal) => ErrorCode | undefined;

const gone = ({ status, documented }: Refusal): boolean => status === 404 && documented;

/** A server that is in a task, or is not built yet, is free again after a while. A locked one or one in the wrong state is not. */
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

/** Nothing waits for confirmation: Nova says 400 where it finds no migration, 409 where the server is not in VERIFY_RESIZE. */
export const confirmFaults: Faults = (refusal) => {
  const code = serverActionFaults(refusal);
  return code === 'MigrationRefused' ? 'InstanceStateRefused' : code;
};

/**
 * Aborting. 400: the migration is in a status that cannot be aborted. 409: the server is not migrating any more, or is locked; either
 * way this migration cannot be aborted now.
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

/** Enabling and disabling a compute service. */
export const serviceFaults: Faults = (refusal) => {
  if (gone(refusal)) return 'HostNotFound';
  return refusal.status === 409 ? 'ServiceConflict' : undefined;
};
