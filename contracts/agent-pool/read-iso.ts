import type { InfraEnv } from '../crds/infra-env.ts';
import type { VsphereAgentPool } from '../crds/vsphere-agent-pool.ts';
import { goDurationMs } from '../go-duration.ts';
import { defaultCheckIntervalMs, type IsoFacts, isoPrefixOf, type IsoVersion, type RecordedIso } from './iso.ts';
import { agentPoolAnnotations } from './metadata.ts';

type IsoStatus = NonNullable<NonNullable<VsphereAgentPool['status']>['iso']>;

/** As the CRD has it. */
const defaultRetained = 2;

export const retainedVersions = ({ spec }: Pick<VsphereAgentPool, 'spec'>): number =>
  spec.iso?.retainVersions ?? defaultRetained;

/** What is judged of the ISO of a pool. @param infraEnv null: there is none */
export function isoFactsOf(
  pool: VsphereAgentPool,
  infraEnv: Pick<InfraEnv, 'status'> | null,
  { isGone, nowMs }: Pick<IsoFacts, 'isGone' | 'nowMs'>,
): IsoFacts {
  return {
    recorded: recordedIsoOf(pool),
    url: infraEnv?.status?.isoDownloadURL?.trim() || null,
    prefix: isoPrefixOf(pool.spec.iso?.pathPrefix),
    checkIntervalMs: goDurationMs(pool.spec.iso?.checkInterval) || defaultCheckIntervalMs,
    forceToken: pool.metadata.annotations?.[agentPoolAnnotations.forceIsoRefresh] || null,
    isGone,
    nowMs,
  };
}

export function recordedIsoOf({ status }: Pick<VsphereAgentPool, 'status'>): RecordedIso {
  const iso: IsoStatus = status?.iso ?? {};
  const { path = '', sha256 = '', sizeBytes, uploadedAt } = iso;
  return {
    url: iso.url || null,
    current: path === '' || sha256 === '' ? null : toVersion({ path, sha256, sizeBytes, uploadedAt }),
    datastore: iso.datastore || null,
    etag: iso.etag || null,
    checkedMs: msOf(iso.checkedAt),
    forceToken: iso.forceRefreshToken || null,
    history: (iso.history ?? []).map(toVersion),
  };
}

const toVersion = ({
  path,
  sha256,
  sizeBytes = 0,
  uploadedAt,
}: NonNullable<IsoStatus['history']>[number]): IsoVersion => ({
  path,
  sha256,
  sizeBytes,
  uploadedMs: msOf(uploadedAt),
});

function msOf(time: string | undefined): number | null {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? null : ms;
}

/** Paths that a pool still wants: those of which it only says that they could not be removed are not among them. */
export function wantedIsoPaths(pool: VsphereAgentPool): string[] {
  const { current, history } = recordedIsoOf(pool);
  return [...(current === null ? [] : [current]), ...history.slice(0, retainedVersions(pool))].map(({ path }) => path);
}

export interface IsoChange {
  checkedMs: number;
  url: string;
  forceToken: string | null;
  etag: string | null;
  datastore: string;
  current: IsoVersion;
  history: readonly IsoVersion[];
}

/** `status.iso`; null takes a field away. */
export function isoStatusOf({ checkedMs, url, forceToken, etag, datastore, current, history }: IsoChange) {
  const { path, sha256, sizeBytes, uploadedMs } = current;
  return {
    checkedAt: timeOf(checkedMs),
    url,
    path,
    sha256,
    sizeBytes,
    uploadedAt: uploadedMs === null ? null : timeOf(uploadedMs),
    forceRefreshToken: forceToken,
    datastore,
    etag,
    history: isoHistoryOf(history),
  };
}

/** `status.iso.history`. */
export const isoHistoryOf = (history: readonly IsoVersion[]) =>
  history.map(({ path, sha256, sizeBytes, uploadedMs }) => ({
    path,
    sha256,
    sizeBytes,
    ...(uploadedMs !== null && { uploadedAt: timeOf(uploadedMs) }),
  }));

/** `metav1.Time`, which has no fractions of a second. */
const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/u, 'Z');
