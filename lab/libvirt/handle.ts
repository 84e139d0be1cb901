/** What a test or another process needs to use the lab's libvirt daemons. */
export interface LibvirtHandle {
  /** The part's directory. */
  readonly dir: string;
  /** Name of each hypervisor → its loopback address. All listen on the same ports. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly ports: { readonly tcp: number; readonly tls: number };
  /** What QEMU's driver has there: `/system` for daemons of root, `/session` for a user's own. */
  readonly qemuPath: '/system' | '/session';
  /** Settings of drover's for every hypervisor: `{host}` is the address. */
  readonly tcpUri: string;
  readonly tlsUri: string;
  /** PEM files: the lab's authority, and a client that the daemons accept. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Of the hypervisors that ask for a password besides. */
  readonly user: string;
  readonly passwordFile: string;
}
