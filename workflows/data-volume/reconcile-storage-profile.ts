import { proxyActivities } from '@temporalio/workflow';
import type { StorageProfileActivities } from '../../contracts/data-volume/storage-profile-run.ts';
import { volumesQueue } from '../../contracts/ids.ts';
import { storageProfileKind } from '../../contracts/kinds/storage-profile.ts';
import { shortCall } from '../../contracts/policies.ts';
import { ownCluster } from '../lib/own-cluster.ts';
import { describePlan } from '../lib/plan.ts';
import { defineReconciler } from '../lib/reconciler.ts';
import {
  describeProfile,
  planStorageProfile,
  type ProfileLifecycle,
  type ProfileSituation,
  profileStatus,
} from './plan-storage-profile.ts';

const volumes = (summary: string) =>
  proxyActivities<StorageProfileActivities>({ ...shortCall, taskQueue: volumesQueue(ownCluster()), summary });

const profileOf = ({ input: { name }, desired }: ProfileSituation) => ({ name, uid: desired?.uid ?? '' });

/**
 * Says in a StorageProfile what volumes of the StorageClass of its name can be, and how they are cloned. Started by the
 * bridge, or by hand with plain JSON; the id `storage-profile/<name>` is the lock.
 */
export const reconcileStorageProfile = defineReconciler<ProfileLifecycle>(storageProfileKind, {
  memory: {},
  observe: ({ name }) => volumes(`Observe StorageProfile ${name}`).observeStorageProfile({ name }),
  plan: planStorageProfile,
  execute: {
    create: async ({ input: { name } }, { summary }) => {
      await volumes(summary).createStorageProfile({ name });
    },
    delete: async (situation, { summary }) => {
      await volumes(summary).deleteStorageProfile(profileOf(situation));
    },
  },
  status: profileStatus,
  isSaid: ({ isSaid, computed }, status) => isSaid && status === computed,
  publish: (situation, status, retryHandled) =>
    volumes('Publish the status of the StorageProfile').publishStorageProfile({
      ...profileOf(situation),
      status,
      retryHandled,
    }),
  attributes: ({ input: { name } }) => ({ object: name }),
  details: ({ observed }, plan) => [describePlan(plan).message, '', ...describeProfile(observed)].join('\n'),
});
