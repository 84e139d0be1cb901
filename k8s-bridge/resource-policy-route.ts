import { virtualMachineSetResourcePolicySchema } from '../contracts/crds/virtual-machine-set-resource-policy.ts';
import { annotations, resourcePolicyId } from '../contracts/ids.ts';
import { settled } from '../contracts/settled.ts';
import { resourcePolicyFinalizer } from '../contracts/virtual-machine/marks.ts';
import { signalWithStartResourcePolicy } from '../runtime/temporal/signal-runs.ts';
import { fullNameOf, namespaceAndName, type Route } from './route.ts';

/** A VirtualMachineSetResourcePolicy concerns the run that makes what it names. */
export const resourcePolicyRoute: Route = {
  kind: 'VirtualMachineSetResourcePolicy',
  apiVersion: 'vmoperator.vmware.com/v1alpha6',
  plural: 'virtualmachinesetresourcepolicies',
  drives: 'VirtualMachineSetResourcePolicy',
  subject: fullNameOf,
  workflowId: (subject, cluster) => resourcePolicyId(...namespaceAndName(subject), cluster),
  signalWithStart: (client, { subject, cluster, signal }, limits) => {
    const [namespace, name] = namespaceAndName(subject);
    return signalWithStartResourcePolicy(client, { namespace, name, cluster, signal }, limits);
  },
  partial: false,
  standIn: null,
  watchesSpec: true,
  watchesLabel: () => false,
  watchesAnnotation: (key) => key === annotations.mode,
  retryHandled: null,
  finalizer: resourcePolicyFinalizer,
  fields: () => ({}),
  // What does not fit the schema is not settled: the run reads it and says what is wrong.
  isSettled: (object, mode) => {
    const { data } = virtualMachineSetResourcePolicySchema.safeParse(object);
    return data !== undefined && settled.VirtualMachineSetResourcePolicy(data, mode);
  },
  condition: () => null,
  outstanding: () => null,
  stopped: () => [],
  final: [],
};
