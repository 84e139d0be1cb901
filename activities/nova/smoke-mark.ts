import type { InstanceDetail } from './types.ts';

/** For whom a test server is made. */
export interface SmokeOwner {
  /** The compute service's `host` that it tests. */
  host: string;
  /** Of the Hypervisor. */
  hypervisor: string;
  uid: string;
}

/** Nova's metadata keys take no slash. */
const marks = {
  purpose: 'drover:purpose',
  host: 'drover:host',
  hypervisor: 'drover:hypervisor',
  uid: 'drover:hypervisor-uid',
} as const;
const purpose = 'smoke-test';

/** The longest name that Nova also gives the guest as its host name. */
const longestHostname = 63;

/** The server's name, which is the guest's host name too, so that a console that shows a login prompt shows it. */
export const smokeServerName = (host: string): string =>
  `drover-smoke-${host.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-')}`.slice(0, longestHostname).replace(/-+$/u, '');

/** Written in the call that makes the server: what proves later that it is drover's. */
export const smokeMetadata = ({ host, hypervisor, uid }: SmokeOwner): Record<string, string> => ({
  [marks.purpose]: purpose,
  [marks.host]: host,
  [marks.hypervisor]: hypervisor,
  [marks.uid]: uid,
});

/** Whether drover made the server to test that host; for whichever Hypervisor, as one that is made anew has another uid. */
export const isSmokeServer = ({ metadata }: Pick<InstanceDetail, 'metadata'>, host: string): boolean =>
  metadata[marks.purpose] === purpose && metadata[marks.host] === host;

export const isOwnedBy = (
  server: Pick<InstanceDetail, 'metadata'>,
  { host, uid }: Pick<SmokeOwner, 'host' | 'uid'>,
): boolean => isSmokeServer(server, host) && server.metadata[marks.uid] === uid;
