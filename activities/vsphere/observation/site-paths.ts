import type { ObservationRequest } from '../../../contracts/virtual-machine/activities.ts';
import type { VcenterPlaces } from '../../../runtime/config/vsphere-config.ts';

/** Where in the inventory a zone has what an object needs. */
export interface SitePaths {
  zone: string;
  datacenter: string;
  /** Of the namespace. */
  folder: string;
  resourcePool: string;
  /** Where the VM goes: the same, or the children that a policy names. */
  target: { folder: string; resourcePool: string };
  /**
   * By the names that interfaces give; {@link unnamedNetwork}: for those that give none, where the settings have one.
   */
  networks: Record<string, string>;
}

/** No network is called so. */
export const unnamedNetwork = '';

/** Zones in the order of their names. Pure. */
export function sitePathsOf(
  { zones, networks }: Pick<VcenterPlaces, 'zones' | 'networks'>,
  request: Pick<ObservationRequest, 'object' | 'folder' | 'resourcePool' | 'networks'>,
): SitePaths[] {
  const wanted = new Set(request.networks.flatMap(({ network }) => network ?? []));
  const isUnnamed = request.networks.some(({ network }) => network === null);
  const pathOf = (name: string): string | undefined =>
    networks[name] === undefined ? undefined : inNamespace(networks[name], request.object.namespace);
  return Object.entries(zones)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, templates]) => {
      const folder = inNamespace(templates.folder, request.object.namespace);
      const resourcePool = inNamespace(templates.resourcePool, request.object.namespace);
      const datacenter = folder.slice(0, folder.search(/\/vm(\/|$)/u));
      return {
        zone,
        datacenter,
        folder,
        resourcePool,
        target: { folder: below(folder, request.folder), resourcePool: below(resourcePool, request.resourcePool) },
        networks: Object.fromEntries([
          ...[...wanted].map((name) => [name, pathOf(name) ?? `${datacenter}/network/${asPathPart(name)}`]),
          ...(isUnnamed && pathOf('default') !== undefined ? [[unnamedNetwork, pathOf('default')]] : []),
        ]),
      };
    });
}

const inNamespace = (template: string, namespace: string): string => template.replaceAll('{namespace}', namespace);

const below = (path: string, child: string | null): string => (child === null ? path : `${path}/${asPathPart(child)}`);

/** vCenter writes these so in names, and asks for them so in paths. */
export const asPathPart = (name: string): string =>
  name.replaceAll('%', '%25').replaceAll('/', '%2f').replaceAll('\\', '%5c');
