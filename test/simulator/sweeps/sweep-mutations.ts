import type { SourceMutation } from '../mutations/break-sources.ts';

/**
 * What saves VMs and no setting switches off: each names what may go wrong (sweep-mutation-dangers.ts), in which that
 * is noticed. The other gates are proved by the settings that switch them off (sweep-dangers.ts).
 */

const observe = 'activities/machines/sweep/observe-sweep.ts';
const deletion = 'activities/machines/sweep/delete-orphan.ts';

export const sweepMutations: readonly SourceMutation[] = [
  {
    name: 'machinesFirst',
    breaks: 'the VMs are listed before the Machines',
    caughtBy: 'a VM and its Machine come while the VMs are listed',
    activity: {
      file: observe,
      from: /( *const lists = await listClasses\(.*\n)( *const machines = await readMachines\(.*\n)/u,
      to: '$2$1',
    },
  },
  {
    name: 'failedIsEmpty',
    breaks: 'a class whose VMs cannot be listed is a failure, and no empty list',
    caughtBy: 'vCenter answers the first half of a list, and Nova all of it',
    activity: {
      file: observe,
      from: /\(\{ \.\.\.named, vms: null, failure \}\)/u,
      to: '({ ...named, vms: [], leftovers: { found: [], failure: null } })',
    },
  },
  {
    name: 'noSecondLook',
    breaks: 'a VM is judged once more right before it is deleted',
    caughtBy: 'a Machine names its VM right before the VM is deleted',
    activity: {
      file: deletion,
      from: / *if \(judged\.verdict === 'keep'\).*\n *if \(judged\.why !== why\).*\n/u,
      to: '',
    },
  },
  {
    name: 'freezeAskedOnce',
    breaks: 'whether Machines are frozen is asked right before a VM is deleted',
    caughtBy: 'it is not known any more whether Machines are frozen, right before a VM is deleted',
    activity: {
      file: deletion,
      from: /if \(freeze\.state !== 'thawed'\)/u,
      to: 'if (false)',
    },
  },
  {
    name: 'oldProbeTrusted',
    breaks: 'the API server of the Nodes is probed right before a VM is deleted',
    caughtBy: 'the API server of the Nodes goes away right before a VM is deleted',
    activity: {
      file: 'activities/kubernetes/machines/fresh-freeze.ts',
      from: /if \(answer\.isUp\) return freeze;/u,
      to: 'if (true) return freeze;',
    },
  },
  {
    name: 'unknownIsThawed',
    breaks: 'what is unknown counts as frozen',
    caughtBy: 'it is not known whether Machines are frozen',
    activity: {
      file: 'contracts/machine-safety/judge-freeze.ts',
      from: /\(reason: string\): Freeze => \(\{ state: 'unknown', reason \}\)/u,
      to: "(_reason: string): Freeze => ({ state: 'thawed' })",
    },
  },
  {
    name: 'unknownIsPlanned',
    breaks: 'a run asks for no deletion while it is unknown whether Machines are frozen',
    caughtBy: 'it is not known whether Machines are frozen',
    workflow: { from: /freeze\.state !== ['"]thawed['"]/u, to: "freeze.state === 'frozen'" },
  },
  {
    name: 'clusterAlone',
    breaks: 'a VM is of a class by both of its marks',
    caughtBy: 'the credential sees VMs of another cluster, of none, and of one that has half of the marks',
    activity: {
      file: 'activities/machines/drivers/marks.ts',
      from: /isSame\(ofVm\.clusters, ofClass\.clusters\) && isSame\(ofVm\.roles, ofClass\.roles\)/u,
      to: 'isSame(ofVm.clusters, ofClass.clusters)',
    },
  },
];
