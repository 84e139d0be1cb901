/** What a test or another process needs to use the lab's Ceph. */
export interface CephHandle {
  /** The part's directory. */
  readonly dir: string;
  /** Ceph's configuration, with the administrator's keyring (mode 0600): `CEPH_CONF=… ceph -s`. */
  readonly confFile: string;
  /** Base URL of the dashboard and its REST API. */
  readonly dashboardUrl: string;
  readonly dashboardUser: string;
  /** Mode 0600. */
  readonly dashboardPasswordFile: string;
  /** The monitor's address for clients of protocol version 1, which libvirt's rbd pools name. */
  readonly monitor: { readonly host: string; readonly port: number };
  /** The RBD pool that hypervisors use. */
  readonly pool: string;
  /** Who may use that pool, as `client.<name>`, and the file with its key (mode 0600). */
  readonly client: { readonly name: string; readonly keyFile: string };
}
