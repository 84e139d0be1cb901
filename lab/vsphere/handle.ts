/** What `lab up vsphere` hands to those who use it. */
export interface VsphereHandle {
  /** The part's directory. */
  readonly dir: string;
  /** `https://127.0.0.1:<port>`; SOAP is below `/sdk`. */
  readonly url: string;
  readonly username: string;
  /** 0600: the password and nothing else. */
  readonly passwordFile: string;
  /** The authority that signed the certificate. */
  readonly caFile: string;
  /** SHA-256 of the certificate, 64 hexadecimal digits. */
  readonly thumbprint: string;
  /** The program that is both vcsim and govc. */
  readonly program: string;
  readonly controlUrl: string;
  /** 0600. */
  readonly controlTokenFile: string;
}

/** What every lab's vCenter has; names as vcsim gives them. */
export const inventory = {
  datacenter: 'DC0',
  vmFolder: '/DC0/vm',
  resourcePool: '/DC0/host/DC0_C0/Resources',
  datastores: ['/DC0/datastore/LocalDS_0', '/DC0/datastore/LocalDS_1'],
  /** A datastore cluster with two datastores of its own. */
  storagePod: '/DC0/datastore/DC0_POD0',
  podDatastores: ['LocalDS_2', 'LocalDS_3'],
  /** A VM to clone. */
  template: '/DC0/vm/DC0_C0_RP0_VM0',
} as const;
