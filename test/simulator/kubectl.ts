import type { Manifest } from '../../lab/kubernetes-objects.ts';
import { applyObject, mergeObject, objectPath } from '../../lab/kubernetes-objects.ts';
import { labClock } from '../../lab/clock.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';

const vmoperator = 'vmoperator.vmware.com/v1alpha6';

/** The kinds that tests name on kubectl's command line, with their short names. */
const resources: Readonly<Record<string, { apiVersion: string; kind: string; plural: string }>> = Object.fromEntries(
  [
    { names: ['namespace'], apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' },
    { names: ['secret'], apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
    { names: ['events.events.k8s.io'], apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' },
    ...[
      { kind: 'VirtualMachineImage', plural: 'virtualmachineimages' },
      { kind: 'ClusterVirtualMachineImage', plural: 'clustervirtualmachineimages' },
      { kind: 'VirtualMachineImageCache', plural: 'virtualmachineimagecaches' },
      { kind: 'VirtualMachine', plural: 'virtualmachines' },
      { kind: 'VirtualMachineSetResourcePolicy', plural: 'virtualmachinesetresourcepolicies' },
    ].map((one) => ({ names: [one.kind.toLowerCase()], apiVersion: vmoperator, ...one })),
    { names: ['eviction', 'evictions', 'evi'], apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', plural: 'evictions' },
    {
      names: ['hypervisor', 'hypervisors', 'hv'],
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Hypervisor',
      plural: 'hypervisors',
    },
    { names: ['node', 'nodes'], apiVersion: 'v1', kind: 'Node', plural: 'nodes' },
    {
      names: ['storageclass'],
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      plural: 'storageclasses',
    },
  ].flatMap(({ names, ...resource }) => names.map((name) => [name, resource])),
);

const pollMs = 100;
const signal = (): AbortSignal => AbortSignal.timeout(60_000);

/**
 * What kubectl does with the few commands that tests use: create, apply, delete, patch, annotate, label, get.
 *
 * @throws for any other command: a test that needs the real kubectl stays on a lab
 */
export async function simulatedKubectl(
  kubernetes: Kubernetes,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const [verb = '', ...rest] = args;
  const api = writingAs(kubernetes, verb === 'apply' ? 'kubectl-client-side-apply' : `kubectl-${verb}`);
  const words = rest.filter((word) => !word.startsWith('-'));
  const has = (flag: string): boolean => rest.includes(flag);
  const valueOf = (...flags: string[]): string | undefined => {
    const index = rest.findIndex((word) => flags.includes(word));
    return index < 0
      ? rest
          .find((word) => flags.some((flag) => word.startsWith(`${flag}=`)))
          ?.split('=')
          .slice(1)
          .join('=')
      : rest[index + 1];
  };
  const values = [valueOf('-p', '--patch'), valueOf('-o'), valueOf('-n'), valueOf('-l')];
  const [kind = '', ...names] = words.filter((word) => !values.includes(word));
  const namespace = valueOf('-n');
  const within = namespace === undefined ? {} : { namespace };
  if (verb === 'create' || verb === 'apply') {
    const manifest = JSON.parse(input ?? '') as Manifest;
    if (verb === 'apply') await applyObject(api, manifest);
    else await create(api, manifest);
    return `${manifest.kind.toLowerCase()}/${manifest.metadata.name} ${verb === 'apply' ? 'configured' : 'created'}\n`;
  }
  const resource = resources[kind];
  if (resource === undefined) throw new Error(`kubectl ${args.join(' ')} is not simulated`);
  const pathOf = (name?: string): string =>
    resourcePath(resource.apiVersion, resource.plural, { ...within, ...(name !== undefined && { name }) });
  const identity = (name: string): object => ({
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { ...within, name },
  });
  switch (verb) {
    case 'delete':
      for (const name of names)
        await remove(api, pathOf(name), { ignoresNotFound: has('--ignore-not-found'), waits: !has('--wait=false') });
      return names.map((name) => `${kind} "${name}" deleted\n`).join('');
    case 'patch': {
      const patch = JSON.parse(valueOf('-p', '--patch') ?? '{}') as object;
      const body = { ...identity(names[0] ?? ''), ...patch } as { metadata?: object };
      await mergeObject(
        api,
        { ...body, metadata: { ...body.metadata, ...within, name: names[0] } },
        has('--subresource=status') ? 'status' : undefined,
      );
      return `${kind}/${names[0]} patched\n`;
    }
    case 'annotate':
    case 'label': {
      const [name = '', ...pairs] = names;
      const fields = Object.fromEntries(
        pairs.map((pair) => {
          const [key = '', ...value] = pair.split('=');
          return pair.endsWith('-') && value.length === 0 ? [pair.slice(0, -1), null] : [key, value.join('=')];
        }),
      );
      await mergeObject(api, {
        ...identity(name),
        metadata: { ...within, name, [verb === 'label' ? 'labels' : 'annotations']: fields },
      });
      return `${kind}/${name} ${verb}d\n`;
    }
    case 'get': {
      const labelSelector = valueOf('-l');
      const query = labelSelector === undefined ? {} : { query: { labelSelector } };
      const answer = await api.request({ method: 'GET', path: pathOf(names[0]), ...query }, signal());
      if (valueOf('-o') === 'json') return JSON.stringify(answer);
      if (valueOf('-o') === 'name')
        return (answer as { items: { metadata: { name: string } }[] }).items
          .map(({ metadata }) => `${kind}/${metadata.name}\n`)
          .join('');
    }
  }
  throw new Error(`kubectl ${args.join(' ')} is not simulated`);
}

/** kubectl says with each write which of its commands it is. */
const writingAs = (kubernetes: Kubernetes, fieldManager: string): Kubernetes => ({
  ...kubernetes,
  request: (request, abort) => {
    const isRead = request.method === 'GET';
    return kubernetes.request(isRead ? request : { ...request, query: { ...request.query, fieldManager } }, abort);
  },
});

async function create(api: Kubernetes, manifest: Manifest): Promise<void> {
  const path = objectPath({ ...manifest, metadata: { ...manifest.metadata, name: '' } });
  await api.request({ method: 'POST', path, body: manifest }, signal());
}

async function remove(
  api: Kubernetes,
  path: string,
  { ignoresNotFound, waits }: { ignoresNotFound: boolean; waits: boolean },
): Promise<void> {
  try {
    await api.request({ method: 'DELETE', path }, signal());
    if (!waits) return;
    for (;;) {
      await api.request({ method: 'GET', path }, signal());
      await labClock().sleep(pollMs);
    }
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
    if (waits || ignoresNotFound) return;
    throw error;
  }
}
