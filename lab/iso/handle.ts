/** What `lab up isos` hands to those who use it. */
export interface IsosHandle {
  /** The part's directory. */
  readonly dir: string;
  /** `https://127.0.0.1:<port>`: every path below it is the ISO. */
  readonly url: string;
  /** The authority that signed the certificate. */
  readonly caFile: string;
  readonly controlUrl: string;
  /** 0600. */
  readonly controlTokenFile: string;
}
