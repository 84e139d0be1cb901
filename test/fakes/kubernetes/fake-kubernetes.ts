import { definitions, neighbourDefinitions } from '../../../contracts/crds/definitions.ts';
import { toCustomResourceDefinition } from '../../../contracts/crds/custom-resource-definition.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { timeoutSignal } from '../../../runtime/clock.ts';
import { refusalFailure, transportFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { kubernetesVerb } from '../../../runtime/kubernetes/kubernetes-verb.ts';
import type { Kubernetes, KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import type { Network } from '../../simulator/network.ts';
import { currentProcess, runIn } from '../../simulator/process.ts';
import type { Service } from '../service.ts';
import { createService } from '../service.ts';
import { createAdmission } from './admission.ts';
import { createApiServer } from './api-server.ts';
import { serveCoreEvents } from './core-events.ts';
import { runControllers } from './controllers.ts';
import { copyOf } from './field-set.ts';
import { createObjects } from './objects.ts';
import type { EndWatch, WatchConnection } from './open-watch.ts';
import { openWatch } from './open-watch.ts';
import { Refusal, starting } from './refusal.ts';
import { readPlace } from './requests.ts';
import { builtInResources, type Resource } from './resources.ts';
import type { Change, ObjectKey } from './storage.ts';
import type { StoredObject } from './stored-object.ts';
import { createStorage } from './storage.ts';

const server = 'https://kubernetes.simulated:6443';
/** As the real client's, from the request to the end of the answer. */
const requestTimeoutMs = 10_000;
/** The longest that an event of a watch is on the wire. */
const latencyMs = 5;
/** The longest that it refuses everything after it was started. */
const startingMs = 1_000;

/** Made once: it takes longer than many a simulation. */
const customResourceDefinitions = [...definitions, ...neighbourDefinitions].map(toCustomResourceDefinition);

export interface FakeKubernetes {
  /** For drover's processes: every request goes through the network. */
  client: Kubernetes;
  /** For tests and judges: answered at once, without faults. */
  admin: Kubernetes;
  /**
   * All objects of a kind as they are now, by namespace and name.
   * @param plural `evictions`, or, of a neighbour's kind that is called like drover's, `machines.cluster.x-k8s.io`;
   * empty where the kind is not served
   */
  objects(plural: string): readonly StoredObject[];
  object(plural: string, key: ObjectKey): StoredObject | null;
  /** Every change since the beginning, in order. */
  readonly changes: readonly Change[];
  /** Called for each change, once it has happened. Returns what ends that. */
  subscribe: (onChange: (change: Change) => void) => () => void;
  /** As `admin`, at once: for what plays a controller of the cluster. */
  answer: (request: KubernetesRequest) => unknown;
  /**
   * What `client` reaches. A kill cuts its watches; after a start it refuses everything for a moment,
   * with 503 and Retry-After.
   */
  service: Service;
  /** What has been cannot be read any more: a watch from an older version, and a page of an older list, are 410. */
  compact(): void;
  /** Ends every watch of `client` in good order, or breaks its connection. */
  endWatches(how?: 'ended' | 'broken'): void;
}

export interface FakeKubernetesOptions {
  clock: Clock;
  network: Network;
  random: () => number;
}

/** A kube-apiserver in memory, with drover's CRDs and the namespaces that the lab has. */
export function createFakeKubernetes({ clock, network, random }: FakeKubernetesOptions): FakeKubernetes {
  const storage = createStorage(() => clock.now());
  const builtIn = ({ group, plural }: Pick<Resource, 'group' | 'plural'>): Resource =>
    builtInResources.find((one) => one.group === group && one.plural === plural)!;
  const admission = createAdmission(storage, builtIn);
  const objects = createObjects({ storage, admission, now: () => clock.now(), random });
  const api = createApiServer({ storage, objects });
  serveCoreEvents(storage, builtIn);
  runControllers({ storage, objects, resources: () => api.resources(), clock, random });
  const service = createService();
  /** Those of `client`. */
  const open = new Set<EndWatch>();
  let servesFromMs = 0;

  for (const name of ['default', 'kube-system', 'drover-system']) {
    api.answer({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    });
  }
  api.define(customResourceDefinitions);

  service.onChange((state) => {
    if (state === 'down') {
      servesFromMs = Infinity;
      endWatches('broken');
    } else if (servesFromMs === Infinity) servesFromMs = clock.now() + random() * startingMs;
  });

  const whatOf = ({ method, path }: KubernetesRequest): string => `${method} ${path}`;

  /** A connection that fails, with the code of the system or of undici. */
  const cut = (request: KubernetesRequest, message: string, code: string): Error =>
    transportFailure(Object.assign(new Error(message), { code }), whatOf(request), server);
  const lost = (request: KubernetesRequest): Error => cut(request, 'other side closed', 'UND_ERR_SOCKET');
  const refused = (request: KubernetesRequest): Error => cut(request, 'connect ECONNREFUSED', 'ECONNREFUSED');

  function endWatches(how: 'ended' | 'broken'): void {
    for (const end of open) end(how === 'ended' ? null : lost({ method: 'GET', path: 'a watch' }));
  }

  /** @throws as the real client: a row of contracts/errors.ts */
  const refusing = <Answer>(request: KubernetesRequest, answer: () => Answer): Answer => {
    try {
      return answer();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw refusalFailure(error.httpStatus, error.body, whatOf(request), error.retryAfter);
    }
  };

  const answer = (request: KubernetesRequest): unknown => refusing(request, () => copyOf(api.answer(request)));

  const watch = (request: KubernetesRequest, signal: AbortSignal, connection: WatchConnection | null) =>
    refusing(request, () => {
      const place = readPlace(request.path, api.resources());
      return openWatch({
        storage,
        clock,
        place,
        request,
        signal,
        connection,
        open: connection === null ? new Set() : open,
      });
    });

  /** `effect`, once kube-apiserver serves. */
  const served = <Answer>(request: KubernetesRequest, effect: () => Answer): Answer | Promise<Answer> => {
    const wait = service.serving(() => (service.state === 'down' ? refused(request) : lost(request)));
    const act = (): Answer =>
      refusing(request, () => {
        if (clock.now() < servesFromMs) throw starting();
        return effect();
      });
    return wait === undefined ? act() : wait.then(act);
  };
  /** Through the network, with the time-out of the real client. */
  const call = async <Answer>(
    request: KubernetesRequest,
    signal: AbortSignal,
    effect: () => Answer,
  ): Promise<Answer> => {
    const limit = timeoutSignal(clock, requestTimeoutMs);
    const either = AbortSignal.any([signal, limit.signal]);
    const called = { system: 'kubernetes', verb: kubernetesVerb(request) } as const;
    try {
      return await network.call(
        called,
        () => served(request, effect),
        either,
        () => lost(request),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw error === limit.signal.reason ? transportFailure(error, whatOf(request), server) : error;
    } finally {
      limit.dispose();
    }
  };

  const port = { server, close: async () => undefined };
  // Of two kinds of one plural, drover's own is meant, unless the group is named.
  const isForeign = ({ group, kind }: { group: string; kind: string }): boolean =>
    neighbourDefinitions.some((one) => one.group === group && one.kind === kind);
  const find = (plural: string) => {
    const named = api.resources().filter((one) => one.plural === plural || `${one.plural}.${one.group}` === plural);
    return named.find((one) => !isForeign(one)) ?? named[0];
  };
  const connection: WatchConnection = { latencyMs: () => random() * latencyMs, service };

  return {
    client: {
      ...port,
      request: (request, signal) => call(request, signal, () => answer(request)),
      stream: (request, signal) => {
        // The reader is the process that has asked, not the network.
        const reader = currentProcess();
        return call(request, signal, () => runIn(reader, () => watch(request, signal, connection)));
      },
    },
    admin: {
      ...port,
      request: async (request) => answer(request),
      stream: async (request, signal) => watch(request, signal, null),
    },
    objects: (plural) => {
      const resource = find(plural);
      return resource === undefined ? [] : storage.list(resource);
    },
    object: (plural, key) => {
      const resource = find(plural);
      return resource === undefined ? null : (storage.get(resource, key)?.object ?? null);
    },
    changes: storage.changes,
    subscribe: (onChange) => storage.subscribe(onChange),
    answer,
    service,
    compact: () => storage.compact(),
    endWatches: (how = 'ended') => endWatches(how),
  };
}
