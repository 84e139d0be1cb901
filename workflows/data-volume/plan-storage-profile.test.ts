import type {
  DesiredProfile,
  ObservedProfile,
  ProfileStatus,
} from '../../contracts/data-volume/storage-profile-run.ts';
import { done, execute, type Plan, wait } from '../lib/plan.ts';
import {
  describeProfile,
  planStorageProfile,
  type ProfileSituation,
  profileStatus,
  type ProfileStep,
} from './plan-storage-profile.ts';

const computed: ProfileStatus = {
  storageClass: 'fast',
  provisioner: 'csi.example.com',
  cloneStrategy: 'snapshot',
  claimPropertySets: [{ accessModes: ['ReadWriteOnce'], volumeMode: 'Block' }],
  dataImportCronSourceFormat: 'pvc',
  snapshotClass: 'snapshots',
  recognized: { status: 'True', reason: 'RecognizedProvisioner', message: 'It is known' },
};
const desired: DesiredProfile = { uid: 'uid-1', generation: 1, deleting: false, isOwn: true };
const observed: ObservedProfile = { hasClass: true, computed, snapshotClassWhy: 'It is the first', isSaid: true };
const settings = { mode: 'act', recheckMs: 1, lingerMs: 0, publishMinMs: 0 } as const;

type Change = Partial<Pick<ProfileSituation, 'desired' | 'settings'> & ObservedProfile>;
const situation = ({ desired: wanted = desired, settings: given = settings, ...rest }: Change): ProfileSituation => ({
  input: { name: 'fast' },
  desired: wanted,
  observed: { ...observed, ...rest },
  settings: given,
  memory: {},
  inFlight: new Set(),
  askedMs: 0,
  nowMs: 0,
});

const noClass = { hasClass: false, computed: null };
const create = execute<ProfileStep>([{ kind: 'create', phase: 'Creating', summary: 'Create StorageProfile fast' }]);
const reconciled = done('reconciled', 'Reconciled', 'It says what is known of its class');

test.each<[rule: string, change: Change, plan: Plan<ProfileStep>]>([
  ['it says what is known', {}, reconciled],
  ['it does not say so yet', { isSaid: false }, reconciled],
  ['a class without one', { desired: null }, create],
  ['neither', { desired: null, ...noClass }, done('gone', 'NotFound', 'There is no StorageClass fast')],
  [
    'its class is gone',
    noClass,
    execute([{ kind: 'delete', phase: 'Removing', summary: 'Delete StorageProfile fast: its class is gone' }]),
  ],
  [
    'its class is gone, and others have made it',
    { ...noClass, desired: { ...desired, isOwn: false } },
    done('blocked', 'ClassNotFound', 'There is no StorageClass fast: delete the StorageProfile, or create the class'),
  ],
  [
    'it is being deleted',
    { desired: { ...desired, deleting: true } },
    done('gone', 'Released', 'It is being deleted, and drover holds nothing of it'),
  ],
  [
    'it is being deleted, and so is its class',
    { ...noClass, desired: { ...desired, deleting: true } },
    done('gone', 'Released', 'It is being deleted, and drover holds nothing of it'),
  ],
])('%s', (_rule, change, plan) => {
  expect(planStorageProfile(situation(change))).toEqual(plan);
});

test.each<[rule: string, change: Change, plan: Plan<ProfileStep>, status: ProfileStatus | null]>([
  ['what is known', {}, reconciled, computed],
  ['nothing of one that is only observed', { settings: { ...settings, mode: 'observe' } }, reconciled, null],
  ['nothing while it is created', { desired: null }, create, null],
  ['nothing of one without a class', noClass, done('blocked', 'ClassNotFound', ''), null],
  ['nothing while the observation fails', {}, wait('Executing', 'KubernetesUnavailable', 'x'), null],
])('it says %s', (_rule, change, plan, status) => {
  expect(profileStatus(situation(change), plan)).toEqual(status);
});

test('people read why', () => {
  expect(describeProfile(observed)).toEqual([
    '- Volumes are cloned by: snapshot',
    '- It is the first',
    '- It is known',
    '- They can be: Block, ReadWriteOnce',
  ]);
  expect(describeProfile({ ...observed, computed: null })).toEqual([]);
});
