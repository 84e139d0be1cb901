/** What a test or another process needs to use the lab's Kubernetes API. */
export interface KubernetesHandle {
  /** The part's directory. */
  readonly dir: string;
  /** Base URL of the API server. */
  readonly server: string;
  /** PEM file that verifies the API server. */
  readonly caFile: string;
  /** The administrator's kubeconfig (system:masters), mode 0600. */
  readonly kubeconfig: string;
  /** The administrator's bearer token, mode 0600. */
  readonly tokenFile: string;
  /** Path of the `kubectl` program. */
  readonly kubectl: string;
}
