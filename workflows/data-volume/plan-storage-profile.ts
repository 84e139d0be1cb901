import type { RunSettings } from '../../contracts/runs.ts';
import type {
  DesiredProfile,
  ObservedProfile,
  ProfileStatus,
  StorageProfileInput,
} from '../../contracts/data-volume/storage-profile-run.ts';
import type { Situation } from '../lib/lifecycle.ts';
import { done, execute, type Plan, type Step } from '../lib/plan.ts';

/** What is to become of a StorageProfile. Pure. */

export type ProfileStep = Step & { kind: 'create' | 'delete' };

export interface ProfileLifecycle {
  input: StorageProfileInput;
  desired: DesiredProfile;
  observed: ObservedProfile;
  settings: RunSettings;
  memory: Record<string, never>;
  step: ProfileStep;
  status: ProfileStatus;
}

export type ProfileSituation = Situation<ProfileLifecycle>;

/** It is there while its class is, and says what is known of it. One that others have made is theirs to delete. */
export function planStorageProfile({ input: { name }, desired, observed }: ProfileSituation): Plan<ProfileStep> {
  if (desired === null)
    return observed.hasClass
      ? execute([{ kind: 'create', phase: 'Creating', summary: `Create StorageProfile ${name}` }])
      : done('gone', 'NotFound', `There is no StorageClass ${name}`);
  if (desired.deleting) return done('gone', 'Released', 'It is being deleted, and drover holds nothing of it');
  if (!observed.hasClass)
    return desired.isOwn
      ? execute([{ kind: 'delete', phase: 'Removing', summary: `Delete StorageProfile ${name}: its class is gone` }])
      : done(
          'blocked',
          'ClassNotFound',
          `There is no StorageClass ${name}: delete the StorageProfile, or create the class`,
        );
  return done('reconciled', 'Reconciled', 'It says what is known of its class');
}

/** Nothing of one that is only observed. */
export const profileStatus = (
  { desired, observed, settings }: ProfileSituation,
  plan: Plan<ProfileStep>,
): ProfileStatus | null =>
  desired !== null && settings.mode === 'act' && plan.kind === 'done' && plan.outcome === 'reconciled'
    ? observed.computed
    : null;

/** For people, in the Web UI. */
export const describeProfile = ({ computed, snapshotClassWhy }: ObservedProfile): string[] =>
  computed === null
    ? []
    : [
        `- Volumes are cloned by: ${computed.cloneStrategy}`,
        `- ${snapshotClassWhy}`,
        `- ${computed.recognized.message}`,
        ...computed.claimPropertySets.map(
          ({ accessModes, volumeMode }) => `- They can be: ${volumeMode}, ${accessModes.join(', ')}`,
        ),
      ];
