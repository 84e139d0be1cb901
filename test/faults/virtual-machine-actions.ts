import { imageCacheName } from '../../activities/kubernetes/virtual-machine/read-objects.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { namespaceAndName } from '../../contracts/kinds/object.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys, virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { claimAnnotations } from '../../contracts/virtual-machine/volumes.ts';
import { labClock } from '../../lab/clock.ts';
import { fillImageCache, installImageCaches, makeCachedFiles, makeCachedImage } from '../../lab/vsphere/image-cache.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { makeImage, makeStoringClass, vmFixture, vmManifest } from '../../lab/vsphere/vm-fixture.ts';
import { diskFolder, installAttachmentKinds, playVolumes, type VolumePlayer } from '../../lab/vsphere/volume-player.ts';
import {
  installPolicyEvaluations,
  playPolicies,
  policyReference,
  type PolicyPlayer,
} from '../../lab/vsphere/policy-player.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { unlessAbsent } from '../flows/clear-leftovers.ts';
import { vcenterOf } from './environment.ts';
import type { HostAlias, ContextBase } from './context-base.ts';
import { isInVcenter } from './subjects.ts';
import {
  attachDisk,
  listBranches,
  listFileFolders,
  makeVm,
  removeBranches,
  removeFileFolders,
  removeVms,
} from './virtual-machine-objects.ts';

const cachedImage = { name: 'cached', providerItemID: 'item-cached' };
const cachedDisks = 2;
const libraryImage = 'tiny';

/** What scenarios do to virtual machines and their objects. */
export function virtualMachineActions({ fixture, kind, subject, roles, aliases, hostOf, read, tell }: ContextBase) {
  const { client, hosts, environment } = fixture;
  const { api } = environment;
  const vcenter = () => vcenterOf(environment);
  const patience = (): AbortSignal => AbortSignal.timeout(20_000);
  const partsOfVm = (alias: HostAlias) => namespaceAndName(hostOf(alias));
  let volumes: { player: VolumePlayer; claim: string } | null = null;
  let policies: { player: PolicyPlayer } | null = null;
  if (isInVcenter(kind)) for (const alias of aliases) roles.set(subject.workflowId(hostOf(alias)), alias);

  return {
    /** As kubectl would make it, and as the bridge would tell of it. */
    async createVm(alias: HostAlias, spec: object = {}): Promise<void> {
      const [namespace, name] = partsOfVm(alias);
      const path = resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace });
      await api.request({ method: 'POST', path, body: vmManifest(namespace, name, spec) }, patience());
      await tell(alias, 'spec');
    },
    async createPolicy(alias: HostAlias, spec: object): Promise<void> {
      const [namespace, name] = partsOfVm(alias);
      const apiVersion = 'vmoperator.vmware.com/v1alpha6';
      await api.request(
        {
          method: 'POST',
          path: resourcePath(apiVersion, 'virtualmachinesetresourcepolicies', { namespace }),
          body: { apiVersion, kind, metadata: { namespace, name }, spec },
        },
        patience(),
      );
      await tell(alias, 'spec');
    },
    /** As `kubectl delete` does without waiting, of a VM or a policy. */
    async remove(alias: HostAlias): Promise<void> {
      await unlessAbsent(() => api.request({ method: 'DELETE', path: subject.path(hostOf(alias)) }, patience()));
      await tell(alias, 'deletion');
    },
    /** From now on the vSphere CSI driver is there, and a claim; returns what a spec names it by. */
    async startVolumes(alias: HostAlias): Promise<object> {
      const [namespace] = partsOfVm(alias);
      await installAttachmentKinds(api);
      const claim = `data-${String(labClock().now())}`;
      volumes = { player: playVolumes({ kubernetes: api, witness: vcenter().witness, namespace }), claim };
      await applyObject(api, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { namespace, name: claim },
        spec: {
          storageClassName: vmFixture.storageClass,
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      });
      return { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] };
    },
    /**
     * From now on the vSphere CSI driver is there, and a class with instance storage; returns what a spec names it by.
     */
    async startInstanceStorage(alias: HostAlias): Promise<object> {
      const [namespace] = partsOfVm(alias);
      await installAttachmentKinds(api);
      await makeStoringClass(api, namespace);
      volumes = { player: playVolumes({ kubernetes: api, witness: vcenter().witness, namespace }), claim: '' };
      return { className: vmFixture.instanceStorage.class };
    },
    /** From now on the host has no room for claims. */
    fillHost: (node: string): void => volumes?.player.fill(node),
    /**
     * What is not so of instance storage: its disks are on its VM, and the VM is on the host that they were made for.
     */
    async judgeInstanceStorage(alias: HostAlias): Promise<string[]> {
      const [namespace, name] = partsOfVm(alias);
      const path = resourcePath('v1', 'persistentvolumeclaims', { namespace });
      const { items } = (await api.request({ method: 'GET', path }, patience())) as {
        items: { metadata: { name: string; uid: string; annotations?: Record<string, string> } }[];
      };
      const object = await read(alias);
      const wanted = (object?.spec?.['volumes'] ?? []) as { persistentVolumeClaim?: { claimName: string } }[];
      const names = wanted.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
      const annotations = object?.metadata.annotations ?? {};
      const host = annotations[virtualMachineAnnotations.instanceStorageHost];
      const node = annotations[virtualMachineAnnotations.instanceStorageNode];
      const { witness } = vcenter();
      const vm = (await witness.listVms(namespace)).find((one) => one.name === name);
      const made = await witness.describeVm(`${inventory.vmFolder}/${namespace}/${name}`);
      return [
        ...(names.length === vmFixture.instanceStorage.sizes.length ? [] : [`the spec has ${names.length} volumes`]),
        ...names.flatMap((claim) => {
          const found = items.find(({ metadata }) => metadata.name === claim);
          if (found === undefined) return [`claim ${claim} is not there`];
          const { uid, annotations: said = {} } = found.metadata;
          return [
            ...(said[claimAnnotations.selectedNode] === node ? [] : [`claim ${claim} is not for host ${node}`]),
            ...(vm?.disks.some((disk) => disk.endsWith(`/${uid}.vmdk`)) === true ? [] : [`${claim} is not on the VM`]),
          ];
        }),
        ...(made?.runtime.host?.value === host
          ? []
          : [`the VM is on ${made?.runtime.host?.value}, and not on ${host}`]),
      ];
    },
    /** The vSphere CSI driver is away meanwhile. */
    pauseVolumes: (isPaused: boolean): void => volumes?.player.pause(isPaused),
    stopVolumes: (): void => void volumes?.player.stop(),
    /** What is not so of the volume: its disk is there, on the VM that is reconciled, and on no other one. */
    async judgeVolume(alias: HostAlias): Promise<string[]> {
      const [namespace, name] = partsOfVm(alias);
      const { witness } = vcenter();
      const claim = (await api.request(
        {
          method: 'GET',
          path: resourcePath('v1', 'persistentvolumeclaims', { namespace, name: volumes?.claim ?? '' }),
        },
        patience(),
      )) as { metadata: { uid: string } };
      const file = `${claim.metadata.uid}.vmdk`;
      const datastore = inventory.datastores[0].split('/').at(-1) ?? '';
      const isThere = (await witness.listFiles({ datastore, path: diskFolder })).includes(file);
      const holders = (await witness.listVms(namespace)).filter(({ disks }) =>
        disks.some((disk) => disk.endsWith(`/${file}`)),
      );
      const object = await read(alias);
      const lifecycle = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle);
      const others = holders.map((vm) => vm.name).filter((one) => one !== name || object === null);
      // A cancel may leave it on its VM, or off.
      const isMissed = lifecycle?.reason === 'Reconciled' && !holders.some((vm) => vm.name === name);
      return [
        ...(isThere ? [] : ['the disk of the volume is gone']),
        ...others.map((other) => `the volume is on ${other}`),
        ...(isMissed ? [`the volume is not on ${name}, which says that it is reconciled`] : []),
      ];
    },
    /** From now on the controller of policies is there, and a policy with two tags; returns what a spec names it by. */
    async startPolicies(alias: HostAlias): Promise<object> {
      const [namespace, vm] = partsOfVm(alias);
      await installPolicyEvaluations(api);
      const name = `gold-${String(labClock().now())}`;
      const player = playPolicies({ kubernetes: api, namespace });
      policies = { player };
      player.define(name, [
        await vcenter().witness.createTag(`${vm}-${name}-1`),
        await vcenter().witness.createTag(`${vm}-${name}-2`),
      ]);
      return { policies: [policyReference(name)] };
    },
    /** The controller of policies is away meanwhile. */
    pausePolicies: (isPaused: boolean): void => policies?.player.pause(isPaused),
    stopPolicies: (): void => void policies?.player.stop(),
    /** What is not so: the VM has the tags of so many policies, two of each, and its status names these. */
    async judgePolicies(alias: HostAlias, count: number): Promise<string[]> {
      const [namespace, name] = partsOfVm(alias);
      const tags = await vcenter().witness.listTags(`${inventory.vmFolder}/${namespace}/${name}`);
      const { policies: said = [] } = ((await read(alias))?.status ?? {}) as { policies?: unknown[] };
      return [
        ...(tags.length === 2 * count ? [] : [`the VM has ${tags.length} tags of ${count} policies`]),
        ...(said.length === count ? [] : [`the status names ${said.length} policies, and not ${count}`]),
      ];
    },
    attachDisk: (alias: HostAlias): Promise<void> => attachDisk(vcenter(), ...partsOfVm(alias)),
    /** A VM of that name that another client has made. Returns its instance UUID. */
    async makeForeignVm(alias: HostAlias): Promise<string> {
      const { witness } = vcenter();
      const [namespace, name] = partsOfVm(alias);
      await makeVm(witness, namespace, name);
      return (await witness.listVms(namespace)).find((vm) => vm.name === name)?.instanceUuid ?? '';
    },
    /** Folders and resource pools of its namespace, and the cluster modules of all. */
    async listMade(alias: HostAlias): Promise<{ branches: string[]; modules: string[] }> {
      const { witness } = vcenter();
      return { branches: await listBranches(witness, partsOfVm(alias)[0]), modules: await witness.listModules() };
    },
    /** The image of {@link cacheImage}, as a spec names it. */
    cachedImage: { image: { kind: 'VirtualMachineImage', name: cachedImage.name } },
    /** An image whose files are cached on every datastore. */
    async cacheImage(): Promise<void> {
      await installImageCaches(api);
      for (const host of hosts)
        await makeCachedImage(api, { namespace: namespaceAndName(host)[0], ...cachedImage }, cachedDisks);
      await fillImageCache(
        api,
        { name: imageCacheName(cachedImage.providerItemID), providerID: cachedImage.providerItemID },
        await makeCachedFiles(vcenter().witness, 'cache', cachedDisks),
      );
    },
    /** The image of {@link makeLibraryImage}, as a spec names it. */
    libraryImage: { image: { kind: 'VirtualMachineImage', name: libraryImage } },
    /** An image of an OVF in a content library of its own. */
    async makeLibraryImage(): Promise<void> {
      const { ovf: providerItemID } = await vcenter().witness.makeLibrary(`images-${String(labClock().now())}`);
      for (const host of hosts)
        await makeImage(api, { namespace: namespaceAndName(host)[0], name: libraryImage, type: 'OVF', providerItemID });
    },
    /** Folders of files that are neither a VM’s nor noted in the object. */
    async findLeftovers(alias: HostAlias): Promise<string[]> {
      const { witness } = vcenter();
      const object = await read(alias);
      const isNoted = object?.metadata.annotations?.[virtualMachineAnnotations.copies] !== undefined;
      const [vms, folders] = await Promise.all([witness.listVms(), listFileFolders(witness)]);
      const known = new Set([
        ...vms.map(({ extraConfig }) => extraConfig[extraConfigKeys.objectUid]),
        ...(isNoted ? [object?.metadata.uid] : []),
      ]);
      return folders
        .filter(({ folder }) => !known.has(folder))
        .map(({ path }) => `${path} is left of a VM that there is not`);
    },
    /** Disks that are linked to others, of a VM that says that it is reconciled. */
    async findLinkedDisks(alias: HostAlias): Promise<string[]> {
      const [namespace, name] = partsOfVm(alias);
      const { conditions } = (await read(alias))?.status ?? {};
      // A cancel may leave them as they are.
      if (findCondition(conditions, virtualMachineConditions.lifecycle)?.reason !== 'Reconciled') return [];
      const vm = await vcenter().witness.describeVm(`${inventory.vmFolder}/${namespace}/${name}`);
      return (vm?.config.hardware.device ?? [])
        .filter(({ backing }) => backing?.parent !== undefined)
        .map(({ backing }) => `${backing?.fileName ?? ''} is linked still`);
    },
    slowTasks: (delaysMs: Parameters<ReturnType<typeof vcenter>['control']['delayTasks']>[0]): Promise<void> =>
      vcenter().control.delayTasks(delaysMs),
    async clearVms(): Promise<void> {
      for (const vm of hosts) {
        await client.workflow
          .getHandle(subject.workflowId(vm))
          .terminate('end of the test')
          .catch(() => undefined);
        const path = subject.path(vm);
        await unlessAbsent(() =>
          api.request(
            { method: 'PATCH', patchType: 'merge', path, body: { metadata: { finalizers: null } } },
            patience(),
          ),
        );
        await unlessAbsent(() => api.request({ method: 'DELETE', path }, patience()));
        await removeVms(vcenter(), namespaceAndName(vm)[0]);
        await removeBranches(vcenter(), namespaceAndName(vm)[0]);
      }
      if (isInVcenter(kind)) await removeFileFolders(vcenter().witness);
    },
  };
}
