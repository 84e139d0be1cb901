/** What `lab up redfish` hands to those who use it. */
export interface RedfishHandle {
  /** The part's directory. */
  readonly dir: string;
  /** Of the BMC: `https://127.0.0.1:<port>`. One BMC has all machines, as that of a blade centre. */
  readonly url: string;
  readonly username: string;
  /** 0600: the password and nothing else. */
  readonly passwordFile: string;
  /** The certificate, which is its own CA. */
  readonly caFile: string;
  /** Name of the host → UUID of its machine. */
  readonly machines: Readonly<Record<string, string>>;
  readonly controlUrl: string;
  /** 0600. */
  readonly controlTokenFile: string;
}
