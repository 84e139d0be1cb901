import type { ObservedIso } from './agent-pool.ts';

/** The discovery ISO of a pool: what is recorded of it, and when it must be looked at again. */

export interface IsoVersion {
  path: string;
  sha256: string;
  sizeBytes: number;
  /** Unix ms; null: unknown. */
  uploadedMs: number | null;
}

/** `status.iso`. */
export interface RecordedIso {
  /** As {@link shownUrl} has it. */
  url: string | null;
  current: IsoVersion | null;
  /** vCenter, datacenter and datastore of all versions; null: it does not say. */
  datastore: string | null;
  /** What the server calls these bytes, strictly; null: nothing. */
  etag: string | null;
  /** Unix ms; null: never. */
  checkedMs: number | null;
  /** The last value of the annotation that has been followed. */
  forceToken: string | null;
  /** Newest first; the current one is the first, and one whose upload has not ended the last. */
  history: IsoVersion[];
}

export interface IsoFacts {
  recorded: RecordedIso;
  /** `status.isoDownloadURL` of the InfraEnv; null: it has none. */
  url: string | null;
  /** Folder in the datastore. */
  prefix: string;
  checkIntervalMs: number;
  /** Value of the annotation; null: there is none. */
  forceToken: string | null;
  /** The file is not in the datastore any more. */
  isGone: boolean;
  nowMs: number;
}

/** Pools without a folder of their own share one, so that what is the same is uploaded once. */
export const defaultIsoPrefix = 'agent-forge';
export const defaultCheckIntervalMs = 10 * 60_000;
/** A pool that asks more often is not listened to: each check is a request to assisted-service. */
const leastCheckIntervalMs = 10_000;

/** Where an ISO lies in its datastore. */
export const isoPath = (prefix: string, sha256: string): string => `${prefix}/${sha256}.iso`;

/** A datastore has one name in its datacenter, and only that one is understood before the path of a file. */
export const datastoreNameOf = (isoDatastore: string): string =>
  isoDatastore
    .split('/')
    .filter((part) => part !== '')
    .at(-1) ?? '';

/** What an ISO is called while a pool uploads it: in the same folder, and of that pool alone. */
export const isoPartOf = ({ path }: Pick<IsoVersion, 'path'>, uid: string): string =>
  path.replace(/\.iso$/u, `.${uid}.part`);

/** As drives of VMs name it. @param isoDatastore by its name, or by its path in the datacenter */
export const isoFileName = (isoDatastore: string, path: string): string => `[${datastoreNameOf(isoDatastore)}] ${path}`;

/**
 * Whether that is the name of a file that drover, or the operator before it, has put there: only such a file is ever
 * deleted, as a client that may write the status of a pool can name any other.
 */
export const isIsoFile = ({ path, sha256 }: Pick<IsoVersion, 'path' | 'sha256'>): boolean =>
  /^[0-9a-f]{64}$/u.test(sha256) && path.endsWith(`/${sha256}.iso`) && !/^\/|(^|\/)\.{0,2}\/|[[\]\\\p{Cc}]/u.test(path);

/** Whether files can lie there: no path that leads elsewhere. */
export const isIsoPrefix = (prefix: string): boolean => {
  const sha256 = '0'.repeat(64);
  return isIsoFile({ path: isoPath(prefix, sha256), sha256 });
};

/** `agent-forge/` is `agent-forge`. Empty, or left out: that of all pools. */
export const isoPrefixOf = (given: string | undefined): string =>
  (given ?? '').replaceAll(/^\/+|\/+$/gu, '') || defaultIsoPrefix;

/** When the ISO is due, by the first row that holds. In the past: now. */
export function judgeIso(facts: IsoFacts): ObservedIso {
  const { recorded, url, nowMs } = facts;
  const path = recorded.current?.path ?? null;
  if (url === null) return { path, dueMs: null, why: 'the InfraEnv has no URL of an ISO yet' };
  const why = reasonToCheck(facts, url);
  if (why !== null) return { path, dueMs: 0, why };
  // A clock that goes wrong must not put a check off for longer than it does.
  const checkedMs = Math.min(recorded.checkedMs ?? 0, nowMs);
  const intervalMs = Math.max(facts.checkIntervalMs, leastCheckIntervalMs);
  return { path, dueMs: checkedMs + intervalMs, why: `it is checked every ${Math.round(intervalMs / 1_000)} s` };
}

function reasonToCheck({ recorded, prefix, forceToken, isGone }: IsoFacts, url: string): string | null {
  const { current } = recorded;
  if (current === null) return 'there is none yet';
  if (forceToken !== null && forceToken !== recorded.forceToken) return 'the annotation asks for it';
  if (current.path !== isoPath(prefix, current.sha256)) return `it is not in the folder ${prefix}`;
  if (isGone) return 'the file is gone from the datastore';
  if (shownUrl(url) !== recorded.url) return 'the InfraEnv has another URL';
  if (recorded.checkedMs === null) return 'it was never checked';
  return null;
}

/**
 * Whether it is enough to ask the server if it still has the same: not where the bytes are needed, where a user wants
 * them compared, or where the URL is another one, which an ETag says nothing of.
 */
export function etagToAsk(facts: IsoFacts & { url: string }): string | null {
  const why = reasonToCheck(facts, facts.url);
  return why === null || why === 'it was never checked' ? facts.recorded.etag : null;
}

/** What stays of the history, and what goes, when this version is the current one. */
export function nextHistory(
  recorded: Pick<RecordedIso, 'history' | 'current'>,
  current: IsoVersion,
  retained: number,
): { kept: IsoVersion[]; surplus: IsoVersion[] } {
  const known = [current, ...(recorded.current === null ? [] : [recorded.current]), ...recorded.history];
  const history = known.filter(({ path }, index) => known.findIndex((one) => one.path === path) === index);
  return { kept: history.slice(0, retained), surplus: history.slice(retained) };
}

/** What a part of a path may be without being a key to something: names, versions, UUIDs. */
const longestPlainPart = 40;

/**
 * A URL as it may be shown, and compared: without its query and its user, and without the parts of its path that are
 * tokens. That of assisted-service is a new one every few hours, with another token and the same ISO.
 */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return '';
  const parts = parsed.pathname.split('/');
  const isToken = (part: string, before: string | undefined): boolean =>
    part.length > longestPlainPart || /^by-?(token|api-?key)$/iu.test(before ?? '') || /^eyJ[\w-]+\./u.test(part);
  return `${parsed.origin}${parts.map((part, index) => (isToken(part, parts[index - 1]) ? '…' : part)).join('/')}`;
}

/** What of a URL is worth hiding wherever it turns up: long values of its query, and tokens in its path. */
export function secretsOf(url: string): string[] {
  const parsed = URL.parse(url);
  if (parsed === null) return [];
  const shown = shownUrl(url).split('/');
  const inPath =
    parsed.href
      .split('?')[0]
      ?.split('/')
      .filter((part, index) => shown[index] === '…' && part !== '') ?? [];
  return [
    ...inPath,
    ...[...parsed.searchParams.values()].filter((value) => value.length >= 20),
    parsed.password,
  ].filter((secret) => secret !== '');
}
