import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext, ForActivities } from '../../lib/context.ts';

/** Where the Certificates of libvirt's TLS are, and of which Issuer there. */
export interface CertificateSettings {
  namespace: string;
  issuer: string;
}

/** What the composition root gives to the activities on Hypervisors. */
export interface HypervisorObjectDependencies extends ForActivities<ActivityContext> {
  client: KubernetesObjects;
  /** Of the pod that holds Gardener's drain back; has `/bin/sleep`, `/bin/true` and `/bin/false`. */
  guardImage: string;
  /** Null: none is made. */
  certificates: CertificateSettings | null;
}

/** The same, for one execution. */
export type HypervisorTools = Omit<HypervisorObjectDependencies, 'scope'> & ActivityContext;
