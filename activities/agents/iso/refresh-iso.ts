import type { AgentPoolActivities, RefreshedIso } from '../../../contracts/agent-pool/agent-pool.ts';
import {
  etagToAsk,
  isIsoPrefix,
  type IsoFacts,
  isoPartOf,
  isoPath,
  type IsoVersion,
  nextHistory,
  shownUrl,
} from '../../../contracts/agent-pool/iso.ts';
import {
  type IsoChange,
  isoFactsOf,
  isoHistoryOf,
  isoStatusOf,
  recordedIsoOf,
  retainedVersions,
} from '../../../contracts/agent-pool/read-iso.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import { whileBeating } from '../../lib/wait.ts';
import type { LocalIso } from './iso-source.ts';
import { openIsoStore } from './iso-store.ts';
import type { IsoTools, PoolOfIso } from './iso-tools.ts';
import { pruneIsos, sayElsewhere } from './prune-isos.ts';

type Request = Parameters<AgentPoolActivities['refreshIso']>[0];

/**
 * Asks for the ISO of the InfraEnv, puts it into the datastore where it is another one or is not there, says so in
 * `status.iso`, and removes what is not used any more.
 */
export async function refreshIso(tools: IsoTools, request: Request): Promise<RefreshedIso> {
  const { client, scope, clock, source } = tools;
  const pool = await readPool(tools, request);
  const { infraEnvRef, vsphere } = pool.spec;
  const infraEnv = await client.get(
    neighbourResources.InfraEnv,
    { namespace: request.namespace, name: infraEnvRef.name },
    scope.signal,
  );
  const { url, prefix } = isoFactsOf(pool, infraEnv, { isGone: false, nowMs: clock.now() });
  if (!isIsoPrefix(prefix))
    throw droverFailure(
      'InvalidObject',
      `spec.iso.pathPrefix of VsphereAgentPool ${request.namespace}/${request.name} is no folder in a datastore: give one such as isos/team-a`,
    );
  if (url === null)
    throw droverFailure('IsoUnavailable', `InfraEnv ${request.namespace}/${infraEnvRef.name} has no URL of an ISO yet`);

  return whileBeating(
    { scope, clock },
    () => undefined,
    () =>
      tools.vcenters.use(pool, scope.signal, async (vcenter) => {
        const http = tools.openDatastoreHttp(vcenter.settings, vcenter.vim);
        try {
          const store = await openIsoStore(
            { gateway: vcenter.gateway, http, clock, signal: scope.signal },
            { datacenter: vsphere.datacenter, datastore: vsphere.isoDatastore },
          );
          const of = await settle(tools, { pool, vcenter, store, cause: 'its ISO is due' });
          const facts = { ...isoFactsOf(of.pool, infraEnv, { isGone: await isGone(of), nowMs: clock.now() }), url };
          const downloaded = await source.download({ url, etag: etagToAsk(facts) }, scope.signal);
          const turn = tools.turnOf(`${vcenter.settings.name} ${store.nameOf('')}`);
          try {
            const placed = turn(() => {
              scope.signal.throwIfAborted();
              return downloaded.kind === 'unchanged'
                ? keep(tools, of, facts)
                : place(tools, of, facts, downloaded.iso, downloaded.etag);
            });
            return await unlessAborted(placed, scope.signal);
          } finally {
            if (downloaded.kind === 'downloaded') await downloaded.iso.remove();
          }
        } finally {
          await http.close();
        }
      }),
  );
}

/** @throws ObjectNotFound where it is gone, another one, or being deleted */
async function readPool(
  { client, scope }: Pick<IsoTools, 'client' | 'scope'>,
  { namespace, name, uid }: Request,
): Promise<VsphereAgentPool> {
  const pool = await client.get(resources.VsphereAgentPool, { namespace, name }, scope.signal);
  if (pool?.metadata.uid !== uid || pool.metadata.deletionTimestamp !== undefined)
    throw droverFailure('ObjectNotFound', `VsphereAgentPool ${namespace}/${name} of the uid ${uid} is gone`);
  return pool;
}

/** The ISO that a pool records is not in its datastore any more, or not as large as it was when it was put there. */
export async function isGone({ pool, store }: Pick<PoolOfIso, 'pool' | 'store'>): Promise<boolean> {
  const { current } = isoFactsOf(pool, null, { isGone: false, nowMs: 0 }).recorded;
  if (current === null) return false;
  const sizeBytes = await store.find(current.path);
  return sizeBytes === null || (current.sizeBytes > 0 && sizeBytes !== current.sizeBytes);
}

type Facts = IsoFacts & { url: string };

const answerOf = (
  outcome: RefreshedIso['outcome'],
  { path, sha256, sizeBytes }: Pick<IsoVersion, 'path' | 'sha256' | 'sizeBytes'>,
): RefreshedIso => ({ outcome, path, sha256, sizeBytes });

/** The server says that it is still the same. */
async function keep(tools: IsoTools, of: PoolOfIso, facts: Facts): Promise<RefreshedIso> {
  const { recorded } = facts;
  const { current, etag } = recorded;
  if (current === null) throw droverFailure('IsoUnavailable', 'The server sent no ISO, and there was none before');
  await record(tools, of, facts, { current, etag, ...historyOf(facts, current, of.pool) });
  return answerOf('unchanged', current);
}

async function place(
  tools: IsoTools,
  of: PoolOfIso,
  facts: Facts,
  iso: LocalIso,
  etag: string | null,
): Promise<RefreshedIso> {
  const { clock, scope } = tools;
  const { pool, vcenter, store, cause } = of;
  const { sha256, sizeBytes } = iso;
  const { namespace = '', name, uid } = pool.metadata;
  const { current: before, history } = facts.recorded;
  const path = isoPath(facts.prefix, sha256);
  await noteUpload(tools, of, { path, sha256, sizeBytes, uploadedMs: null });
  const isUploaded = await mutate(
    tools,
    {
      action: 'uploadIso',
      object: `agentpool/${namespace}/${name}`,
      cause,
      before: before?.path ?? null,
      after: { vcenter: vcenter.settings.name, file: store.nameOf(path), sizeBytes },
    },
    () => store.place({ path, part: isoPartOf({ path }, uid) }, iso),
  );
  const known = [before, ...history].find((one) => one?.path === path);
  const current = { path, sha256, sizeBytes, uploadedMs: isUploaded ? clock.now() : (known?.uploadedMs ?? null) };
  const outcome = isUploaded ? 'uploaded' : before?.path === path ? 'unchanged' : 'reused';
  await record(tools, of, facts, { current, etag, ...historyOf(facts, current, pool) });
  // Between the look and the record, another pool may have removed what it did not need.
  if (!isUploaded && (await store.find(path)) === null)
    throw droverFailure('VsphereFailed', `${store.nameOf(path)} was removed while it was looked at`);
  if (outcome !== 'unchanged')
    await announce(
      tools,
      {
        regarding: { resource: resources.VsphereAgentPool, namespace, name, uid },
        type: 'Normal',
        reason: isUploaded ? 'ISOUploaded' : 'ISOReused',
        message: `${store.nameOf(path)} of ${sizeBytes} bytes ${isUploaded ? 'was uploaded' : 'was there already'}`,
      },
      [uid, String(scope.scheduledMs), path],
    );
  return answerOf(outcome, current);
}

interface History {
  kept: IsoVersion[];
  surplus: IsoVersion[];
}

const historyOf = ({ recorded }: Facts, current: IsoVersion, pool: VsphereAgentPool): History =>
  nextHistory(recorded, current, retainedVersions(pool));

type WrittenIso = Partial<ReturnType<typeof isoStatusOf>>;

/** @throws as {@link readPool} */
const write = (
  { client, scope }: IsoTools,
  { pool: { metadata } }: PoolOfIso,
  change: (pool: VsphereAgentPool) => WrittenIso | null,
): Promise<VsphereAgentPool> =>
  retryConflicts(async () => {
    const { namespace = '', name, uid } = metadata;
    const pool = await readPool({ client, scope }, { namespace, name, uid });
    const iso = change(pool);
    if (iso === null) return pool;
    return await client.patchStatus(resources.VsphereAgentPool, pool.metadata, { iso }, scope.signal);
  });

/**
 * Says what is uploaded before it is there: wherever that ends, what removes versions knows of it, and of its part. As
 * the last of the history it takes the place of none that is kept.
 */
const noteUpload = (tools: IsoTools, of: PoolOfIso, version: IsoVersion): Promise<VsphereAgentPool> =>
  write(tools, of, (pool) => {
    const { current, history } = recordedIsoOf(pool);
    const isKnown = [current, ...history].some((one) => one?.path === version.path);
    return isKnown ? null : { datastore: of.store.where, history: isoHistoryOf([...history, version]) };
  });

/** In another datastore than before, its history begins anew. */
async function settle(tools: IsoTools, of: PoolOfIso): Promise<PoolOfIso> {
  if (!(await sayElsewhere(tools, of))) return of;
  const history = isoHistoryOf([]);
  return { ...of, pool: await write(tools, of, () => ({ datastore: of.store.where, history })) };
}

/** What goes is in the history until it is gone, so that it is tried again. */
async function record(
  tools: IsoTools,
  of: PoolOfIso,
  { url, forceToken }: Facts,
  { kept, surplus, ...iso }: Pick<IsoChange, 'current' | 'etag'> & History,
): Promise<void> {
  const say = (history: readonly IsoVersion[]): Promise<VsphereAgentPool> =>
    write(tools, of, () =>
      isoStatusOf({
        ...iso,
        datastore: of.store.where,
        checkedMs: tools.clock.now(),
        url: shownUrl(url),
        forceToken,
        history,
      }),
    );
  await say([...kept, ...surplus]);
  if (surplus.length === 0) return;
  const left = await pruneIsos(tools, of, iso.current.path, surplus);
  if (left.length < surplus.length) await say([...kept, ...left]);
}
