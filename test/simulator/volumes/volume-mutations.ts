import type { SourceMutation } from '../mutations/break-sources.ts';

const volumes = 'activities/kubernetes/volumes';

/**
 * What saves volumes and no setting switches off: each names what may go wrong (volume-dangers.ts), in which
 * that is noticed.
 */
export const volumeMutations: readonly SourceMutation[] = [
  {
    name: 'notRetained',
    breaks: 'a volume is retained before the claim that it leaves is deleted',
    caughtBy: 'a volume is on its way to another namespace',
    activity: {
      file: `${volumes}/transfer-claim.ts`,
      from: /if \(!\(await setReclaimPolicy\(tools, volume, 'Retain', 'it goes to another namespace'\)\)\)/u,
      to: 'if (false)',
    },
  },
  {
    name: 'arrivalNotSaid',
    breaks: 'the binder is told of a volume that has come',
    caughtBy: 'a volume has come to another namespace',
    activity: {
      file: `${volumes}/transfer-claim.ts`,
      from: /if \(metadata\.annotations\?\.\[volumeAnnotations\.volumeArrived\] === pvName\) return;/u,
      to: 'return;',
    },
  },
  {
    name: 'secondsTaken',
    breaks: 'a snapshot that was cut in the second of a DataVolume is not taken for it',
    caughtBy: 'a source is written in the second in which it was cut',
    activity: {
      file: `${volumes}/snapshot-users.ts`,
      from: /cutMs > createdMs/u,
      to: 'cutMs >= createdMs',
    },
  },
  {
    name: 'foreignClaimRemoved',
    breaks: 'only a claim that was made for the DataVolume goes with it',
    caughtBy: 'a claim of the name is a user’s',
    activity: {
      file: `${volumes}/temporary-objects.ts`,
      from: /if \(target\?\.metadata\.annotations\?\.\[volumeAnnotations\.createdForDataVolume\] !== removal\.uid\) return;/u,
      to: 'if (target === null) return;',
    },
  },
  {
    name: 'sourceTakenByName',
    breaks: 'a snapshot is cut of the source that was observed alone',
    caughtBy: 'a source is replaced while its clone waits for room',
    activity: {
      file: `${volumes}/source-snapshot.ts`,
      from: /await checkSource\(tools, source\);/u,
      to: '',
    },
  },
  {
    name: 'keptClaimRemoved',
    breaks: 'a PVC that has its data is left to Kubernetes’ garbage collector',
    caughtBy: 'a user keeps the PVC of a complete clone',
    activity: {
      file: `${volumes}/temporary-objects.ts`,
      from: /if \(target\.metadata\.annotations\[volumeAnnotations\.populatedFor\] === removal\.name\) return;/u,
      to: '',
    },
  },
  {
    name: 'permissionAssumed',
    breaks: 'without the policy nothing is permitted',
    caughtBy: 'nothing proves that a clone is permitted',
    activity: {
      file: `${volumes}/clone-permission.ts`,
      from: /if \(policy === null \|\| binding === null\) return false;/u,
      to: 'if (policy === null || binding === null) return true;',
    },
  },
  {
    name: 'policyTakenLate',
    breaks: 'a policy that came later proves nothing',
    caughtBy: 'the policy came after the DataVolume',
    activity: {
      file: `${volumes}/clone-permission.ts`,
      from: /return isCurrent && sinceMs \+ policyDelayMs <= createdMs;/u,
      to: 'return isCurrent || sinceMs + policyDelayMs <= createdMs;',
    },
  },
  {
    name: 'contentKept',
    breaks: 'a snapshot goes at the driver whatever its class keeps',
    caughtBy: 'a class keeps the snapshots of its users',
    activity: {
      file: `${volumes}/snapshot-users.ts`,
      from: /if \(deletionPolicy === 'Delete'\) return content;/u,
      to: 'return content;',
    },
  },
  {
    name: 'populationNotAwaited',
    breaks: 'a source that is being filled is waited for',
    caughtBy: 'a clone of a clone that is not complete',
    activity: {
      file: `${volumes}/observe.ts`,
      from: /if \(owner === undefined\) return true;/u,
      to: 'if (true) return true;',
    },
  },
  {
    name: 'useNotAwaited',
    breaks: 'a source that is in use is waited for',
    caughtBy: 'a Pod writes on the source',
    workflow: { from: /source\.usedBy\.length === 0/u, to: 'source.usedBy.length >= 0' },
  },
  {
    name: 'removedOnce',
    breaks: 'what could not be removed is removed again',
    caughtBy: 'what is temporary in another namespace goes slowly',
    workflow: { from: / \|\| nowMs >= againMs/u, to: '' },
  },
  {
    name: 'strategyForgotten',
    breaks: 'a clone that begins anew keeps what was chosen then',
    caughtBy: 'the driver takes no snapshots',
    activity: {
      file: `${volumes}/end-work.ts`,
      from: /if \(ended\.left\.length === 0\) await fixAnew\(tools, request\);/u,
      to: '',
    },
  },
  {
    name: 'letGoEarly',
    breaks: 'a DataVolume is held until nothing temporary is left',
    caughtBy: 'what is temporary goes slowly',
    activity: {
      file: `${volumes}/end-work.ts`,
      from: /if \(left\.length === 0 && isHeldFor\) await letGo\(tools, of, how\.isComplete \? volume : null\);/u,
      to: 'if (isHeldFor) await letGo(tools, of, null);',
    },
  },
  {
    name: 'claimsForgotten',
    breaks: 'a temporary claim goes with its DataVolume',
    caughtBy: 'a clone is deleted while its volume is made',
    activity: {
      file: `${volumes}/temporary-objects.ts`,
      from: /const claimed = isElsewhere \|\| removal\.isRestored \? await removeClaims\(\) : \[\];/u,
      to: 'const claimed: readonly string[] = [];',
    },
  },
  {
    name: 'restoredForgotten',
    breaks: 'what a snapshot was restored to, to be copied, goes with it',
    caughtBy: 'a snapshot of another driver is copied',
    activity: {
      file: `${volumes}/temporary-objects.ts`,
      from: /const claimed = isElsewhere \|\| removal\.isRestored \?/u,
      to: 'const claimed = isElsewhere ?',
    },
  },
];
