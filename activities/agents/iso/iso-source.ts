import type { FileContent } from '../../vsphere/datastore-http.ts';

/** Where discovery ISOs come from, as drover's settings allow it. */
export interface IsoSourceSettings {
  /** With their ports, where those are not the scheme's: only from there. */
  hosts: readonly string[];
  /** PEM certificates to trust; null: the system's. */
  ca: string | null;
  /** For one file at a time. */
  directory: string;
  maxBytes: number;
  /** For all of one download. */
  timeoutMs: number;
}

/** One that was downloaded: it is there until it is removed. */
export interface LocalIso extends FileContent {
  sha256: string;
  remove: () => Promise<void>;
}

export type DownloadedIso =
  /** The server still has what the ETag names. */
  { kind: 'unchanged' } | { kind: 'downloaded'; iso: LocalIso; etag: string | null };

export interface IsoSource {
  /**
   * @param etag to ask for; null: the bytes are wanted in any case
   * @throws IsoRefused, IsoUnavailable, AnswerMalformed, CertificateNotTrusted; none of them shows the URL, but
   * for its host
   */
  download(request: { url: string; etag: string | null }, signal: AbortSignal): Promise<DownloadedIso>;
  close(): Promise<void>;
}
