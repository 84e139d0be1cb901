import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { applyObject, mergeStatus } from './kubernetes-objects.ts';

/** What a node agent would report of one host. */
export interface AgentReport {
  libVirtVersion?: string;
  hypervisorVersion?: string;
  osUpdateInProgress?: boolean;
  maintenance?: '' | 'manual' | 'auto' | 'ha' | 'termination';
  /** Aggregates that it was onboarded into long ago; where there are none, it is not onboarded yet. */
  inService?: readonly string[];
}

/** Makes Hypervisors as the node agents of a small cloud would leave them: present, up to date, nothing in progress. */
export async function applyHypervisors(
  kubernetes: Kubernetes,
  hosts: Readonly<Record<string, AgentReport>>,
): Promise<void> {
  await Promise.all(
    Object.entries(hosts).map(async ([name, status]) => {
      await applyObject(kubernetes, hypervisor(name, status));
      await reportAgentStatus(kubernetes, name, status);
    }),
  );
}

/**
 * Keeps guests off a host that is not tested, by drover's default name. The project does not exist: the lab's own may
 * go anywhere, as that of a cloud's administrators.
 */
export const testAggregate = {
  name: 'tenant_filter_tests',
  metadata: { filter_tenant_id: '7e575000000000000000000000000000' },
};

/** Writes what the node agent of a host reports; without it drover cannot know what can be moved where. */
export const reportAgentStatus = (kubernetes: Kubernetes, name: string, report: AgentReport = {}): Promise<void> =>
  mergeStatus(kubernetes, { ...identity(name), status: status(report) });

/** How many instances the node agent has counted. */
export const reportInstances = (kubernetes: Kubernetes, name: string, numInstances: number): Promise<void> =>
  mergeStatus(kubernetes, { ...identity(name), status: { numInstances } });

const identity = (name: string): object => ({ apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata: { name } });

const hypervisor = (name: string, { maintenance, inService = [] }: AgentReport): object => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': 'zone-a' } },
  // Every required field, as the operator writes them: kubectl checks before the server has put the defaults in.
  spec: {
    reboot: false,
    evacuateOnReboot: false,
    lifecycleEnabled: true,
    skipTests: false,
    customTraits: [],
    aggregates: inService,
    allowedProjects: [],
    highAvailability: false,
    createCertManagerCertificate: false,
    installCertificate: true,
    ...(maintenance === undefined
      ? {}
      : { maintenance, ...(maintenance === 'manual' ? { maintenanceReason: 'lab' } : {}) }),
  },
});

const status = ({
  libVirtVersion = '10.0.0',
  hypervisorVersion = '9.2.0',
  osUpdateInProgress = false,
  inService,
}: AgentReport): object => ({
  libVirtVersion,
  hypervisorVersion,
  numInstances: 0,
  operatingSystem: { version: '1592.0.0', prettyVersion: 'Garden Linux 1592.0' },
  updateStatus: { inProgress: osUpdateInProgress, installed: '1592.0.0', retry: 3 },
  ...(inService === undefined
    ? {}
    : {
        conditions: [
          {
            type: 'Onboarding',
            status: 'False',
            reason: 'Succeeded',
            message: 'Onboarding completed',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      }),
});
