import type { ReconfigSpec, VmConfig } from '../../../contracts/virtual-machine/config.ts';
import type { BootstrapKind } from '../../../contracts/virtual-machine/lifecycle.ts';
import {
  defaultVmAnnotation,
  extraConfigKeys,
  managedBy,
  takenOverHash,
  virtualMachineAnnotations,
} from '../../../contracts/virtual-machine/metadata.ts';
import type { VirtualMachinePatch } from '../../../contracts/virtual-machine/mutations.ts';
import { matchCards, readCardRecord } from '../../../contracts/virtual-machine/network-cards.ts';
import type { Lacking, ObservedVm } from '../../../contracts/virtual-machine/observation.ts';
import { hardwareVersionForVolumes } from '../../../contracts/virtual-machine/volumes.ts';
import type { Outcome } from './context.ts';
import { changesOf, joinParts, type ByPart } from './changes-of.ts';
import { timeChanges } from './advanced-keys.ts';
import { diffBootOrder } from './boot-order.ts';
import { diffClassDevices } from './class-devices.ts';
import { diffControllers } from './controllers.ts';
import { diffCompute, diffExtraConfig, diffSettings, joinSpecs, diffBootDisk, diffCdroms } from './diff-config.ts';
import { diffNetworkCards, interfacesOf } from './diff-network.ts';
import { isLinux } from './guest-family.ts';
import { diffNuma } from './numa.ts';
import {
  describeApplied,
  diffWantedKeys,
  judgeResize,
  ownershipMetadata,
  wantCompute,
  wantExtraConfig,
} from './want-config.ts';
import { diffPolicyTags, judgePolicies } from './policies.ts';
import { lackOfIsos } from './prerequisites.ts';
import { isPromotion, waitForPromotion } from './running-task.ts';
import { planRestartIntent } from './restart.ts';
import { execute, lack, patch, recheck, stop, success, type VmContext } from './context.ts';

/** What the configuration differs in, by the conditions that report it. */
export interface ConfigDifference {
  /** Null: nothing that can be changed now. */
  spec: ReconfigSpec | null;
  /** What has to wait until the VM is off, or is left alone no more, for the message. */
  whenOff: ByPart;
  /** What cannot be done as the VM, or the spec, is, for the message. */
  unmet: { network: string[]; compute: string[] };
  /** What of the controllers is not as it shall be, as sentences. */
  controllers: string[];
}

/**
 * Makes the configuration what the spec asks for, in one ReconfigVM_Task of only what differs.
 */
export function planConfig(context: VmContext): Outcome {
  const { desired, observed, settings, vm } = context;
  const { config, moId } = vm;
  if (config === null) return stop('InvalidConfig', `vCenter does not return the configuration of ${vm.name}`);
  if (!isConnected(context))
    return stop('NotConnected', `${vm.name} is ${vm.connectionState}: its host is away, or its files are`);
  if (vm.resourcePool === null) return stop('NoResourcePool', `${vm.name} is in no resource pool; is it a template?`);

  const due = planDue(context, config.changeVersion, moId);
  if (due.kind === 'execute' && isPromotion(vm.task)) return waitForPromotion(context);
  if (due.kind === 'execute' && vm.task !== null) {
    return execute('config', [
      `Wait for ${vm.task.descriptionId} on ${vm.name}`,
      { kind: 'awaitTask', task: vm.task.id, deadlineMs: settings.taskMs },
    ]);
  }
  if (due.kind !== 'success') return due;
  if (isLeftAlone(vm)) return recheckLacks(context);
  const resize = judgeResize(desired, observed.prerequisites.class, settings);
  if (resize.apply !== null && vm.powerState === 'poweredOff') {
    return patch('config', `Note that class ${resize.apply.name} was applied`, {
      annotations: { [virtualMachineAnnotations.lastResizedClass]: describeApplied(resize.apply) },
    });
  }
  return recheckLacks(context);
}

/** Before its first start it waits for them, later they hold nothing up. */
function recheckLacks(context: VmContext): Outcome {
  const { desired, observed, settings, nowMs } = context;
  const lacking = lackOfIsos(desired.cdroms, observed.prerequisites) ?? lackOfModule(context);
  if (lacking === null) return success;
  const { reason, message, mayPass } = lacking;
  const retryAtMs = nowMs + (mayPass ? settings.pollMs : settledRecheckMs);
  return { kind: 'failed', requeue: true, reason, message, retryAtMs, holdsUp: false };
}

function planDue(context: VmContext, changeVersion: string, moId: string): Outcome {
  const { vm } = context;
  const upgrade = neededHardware(context);
  if (upgrade !== null && !isLeftAlone(vm))
    return execute('config', [
      `Upgrade ${vm.name} to hardware version ${upgrade}`,
      { kind: 'upgradeHardware', moId, version: upgrade },
    ]);
  const module = wantedModule(context);
  if (module !== null && !isLeftAlone(vm)) {
    return execute(
      'config',
      [`Attach ${vm.name} to cluster module ${module}`, { kind: 'attachClusterModule', moId, module }],
      [
        'Note which module it is in',
        {
          kind: 'patchVirtualMachine',
          patches: [{ annotations: { [virtualMachineAnnotations.clusterModuleUuid]: module } }],
        },
      ],
    );
  }
  const { spec } = diffConfig(context);
  if (spec !== null)
    return execute('config', [
      `Reconfigure ${vm.name}: ${Object.keys(spec).join(', ')}`,
      { kind: 'reconfigure', moId, changeVersion, spec },
    ]);
  return isLeftAlone(vm) ? success : planBootstrap(context);
}

/**
 * One that is suspended cannot be changed, one that an administrator has paused shall not be: only its metadata is
 * written.
 */
export const isLeftAlone = (vm: ObservedVm): boolean => vm.powerState === 'suspended' || isPaused(vm);

export const isPaused = ({ config }: Pick<ObservedVm, 'config'>): boolean =>
  config?.extraConfig[extraConfigKeys.paused]?.toLowerCase() === 'true';

export const isConnected = ({ vm }: Pick<VmContext, 'vm'>): boolean =>
  vm.connectionState === null || vm.connectionState === 'connected';

/** What differs, as things are. */
export function diffConfig(context: VmContext): ConfigDifference {
  const { desired, vm } = context;
  const { config } = vm;
  if (config === null)
    return { spec: null, whenOff: changesOf(null), unmet: { network: [], compute: [] }, controllers: [] };
  const whole = diffWhole(context, config);
  if (!isLeftAlone(vm)) return whole;
  const extraConfig = diffExtraConfig(ownershipMetadata(desired), config.extraConfig);
  return {
    ...whole,
    spec: joinSpecs([metadataOf(config), { ...(extraConfig.length > 0 && { extraConfig }) }]),
    whenOff: joinParts(whole.whenOff, changesOf(whole.spec)),
  };
}

const metadataOf = (config: VmConfig): ReconfigSpec => ({
  ...(config.managedBy?.extensionKey === managedBy.extensionKey ? {} : { managedBy }),
  ...(config.annotation === '' ? { annotation: defaultVmAnnotation } : {}),
});

function diffWhole(context: VmContext, config: VmConfig): ConfigDifference {
  const { desired, observed, settings, vm } = context;
  const isOff = vm.powerState === 'poweredOff';
  const applied = judgeResize(desired, observed.prerequisites.class, settings).apply;
  const wanted = wantCompute(desired.size, applied, { cpuMHz: vm.cpuMHz, current: config });
  const compute = diffCompute(wanted, config, isOff);
  const set = diffSettings(desired.config, config, isOff);
  const numa = diffNuma(desired.config, compute.spec.numCPUs ?? config.numCPUs, config, isOff);
  const boot = diffBootOrder(desired, config, observed.recorded.volumes);
  const wantedCards = desired.networkDisabled ? [] : desired.networkCards;
  const cards = diffNetworkCards(
    wantedCards,
    observed.prerequisites.network,
    config,
    isOff,
    isMemoryReserved(desired, config),
  );
  const cdroms = diffCdroms(desired.cdroms, observed.prerequisites.isos, config.cdroms, isOff);
  const ofClass = isOff && settings.resize === 'all' ? applied : null;
  const controllers = diffControllers(desired.controllers, config.controllers, isOff);
  const bootDisk = diffBootDisk(desired.config.bootDiskBytes, config.disks, vm.hasSnapshots === true);
  const deviceChange = [
    ...controllers.changes,
    ...(ofClass === null ? [] : diffClassDevices(ofClass.devices, config.pciDevices)),
    ...cards.changes,
    ...cdroms.changes,
    ...bootDisk.changes,
  ];
  const wantedKeys = { ...wantExtraConfig(desired, ofClass, config.extraConfig), ...cards.extraConfig };
  const keys = timeChanges(diffWantedKeys(wantedKeys, config.extraConfig), wantedKeys, config.extraConfig, isOff);
  const extraConfig = [...keys.changes, ...planRestartIntent(context)];
  const policyTags = diffPolicyTags(judgePolicies(context, vm), config.extraConfig);
  return {
    spec: joinSpecs([
      metadataOf(config),
      compute.spec,
      set.spec,
      numa.spec,
      boot.spec,
      policyTags,
      { deviceChange, extraConfig },
    ]),
    whenOff: {
      compute: [...compute.whenOff, ...set.whenOff, ...numa.whenOff, ...hardwareWhenOff(context, config)],
      network: cards.whenOff,
      cdrom: cdroms.whenOff,
      extraConfig: keys.whenOff,
      // At any time.
      policies: [],
    },
    unmet: { network: cards.unmet, compute: [...numa.unmet, ...boot.unmet, ...bootDisk.unmet] },
    controllers: controllers.mismatches,
  };
}

const hardwareWhenOff = ({ desired, vm }: VmContext, { hardwareVersion }: VmConfig): string[] => {
  const wanted = desired.config.minHardwareVersion ?? 0;
  const isNow = vm.powerState === 'poweredOff' && !isLeftAlone(vm);
  return isNow || wanted <= hardwareVersion ? [] : [`hardware version ${hardwareVersion} → ${wanted}`];
};
/** UPT needs it. */
const isMemoryReserved = (
  { config: wanted, size }: Pick<VmContext['desired'], 'config' | 'size'>,
  config: Pick<VmConfig, 'memoryReservationLockedToMax'>,
): boolean =>
  (wanted.memoryReservationLockedToMax ?? config.memoryReservationLockedToMax) ||
  (size.memoryRequestMiB !== null && size.memoryRequestMiB === size.memoryMiB);

/** Null: it is new enough, or cannot be upgraded now. */
function neededHardware({ desired, vm }: VmContext): number | null {
  // As VM Operator makes a VM with volumes; one that has run already is not made newer unasked.
  const ofVolumes = desired.volumes.length > 0 && !desired.firstBootDone ? hardwareVersionForVolumes : 0;
  const wanted = Math.max(desired.config.minHardwareVersion ?? 0, ofVolumes);
  if (vm.config === null || vm.powerState !== 'poweredOff') return null;
  return wanted > vm.config.hardwareVersion ? wanted : null;
}

/** Why it is not known whether it is in the module that is asked for; null: it is known, or none is. */
const lackOfModule = ({ desired, vm }: VmContext): Lacking | null =>
  desired.clusterModule === null || vm.unknownModule === undefined
    ? null
    : { ...vm.unknownModule, message: `Cluster module ${desired.clusterModule}: ${vm.unknownModule.message}` };

/** The module that it has to be put into; null: it is in it, or may be, or none is asked for, or it is not made yet. */
function wantedModule({ desired, observed, vm }: VmContext): string | null {
  const policy = observed.prerequisites.resourcePolicy;
  if (desired.clusterModule === null || policy?.kind !== 'found' || vm.unknownModule !== undefined) return null;
  const module = policy.value.modules[desired.clusterModule] ?? null;
  return module === vm.clusterModule ? null : module;
}

/**
 * Sets up the guest: what goes into the VM's configuration whenever it has changed, a customization while the VM is
 * off. Each is applied once per change, or once more at the next power-on where the spec asks for that. The addresses
 * of the cards belong to it: a guest finds its interfaces by them.
 */
export function planBootstrap(context: VmContext): Outcome {
  const { desired, observed, vm, memory } = context;
  const { bootstrap, bootstrapHashes: done } = desired;
  // A newer spec has ended the steps between: not noted, it would be applied once more.
  if (memory.customized?.moId === vm.moId && memory.customized.noted !== done.custom)
    return patch('config', noteCustomization, {
      annotations: { [virtualMachineAnnotations.bootstrapCustomHash]: memory.customized.noted },
    });
  const fetched = observed.prerequisites.bootstrap;
  if (bootstrap.disabled || fetched === null || vm.config === null) return success;
  const isTakenOver = done.config === takenOverHash || done.custom === takenOverHash;
  // Its guest needs no Secrets any more, and they may be gone.
  if (isTakenOver && (fetched.kind !== 'found' || fetched.value.missingKeys.length > 0)) return success;
  if (fetched.kind === 'notFound') return lackOfSecret(context, fetched.message);
  if (fetched.kind !== 'found') {
    const { settings, nowMs } = context;
    const isUnanswered = fetched.kind === 'failed' || fetched.kind === 'internalError';
    const isSoon = isUnanswered || isNeededToStart(desired);
    return recheck(bootstrapNotReady, fetched.message, nowMs + (isSoon ? settings.pollMs : settledRecheckMs));
  }
  const { missingKeys, configHash, customHash, isDefault } = fetched.value;
  const { keys: cards, addresses } = cardsOfInterfaces(context, vm.config);
  const ofConfig = bootstrap.kind === 'CloudInit' ? addresses : null;
  // Sysprep makes Windows anew: another card alone is no reason for that.
  const ofCustom = bootstrap.kind === 'Sysprep' ? null : addresses;
  if (isTakenOver)
    return patch('config', `Note what the guest of ${desired.name} was set up with before it was taken over`, {
      annotations: {
        ...(done.config === takenOverHash && {
          [virtualMachineAnnotations.bootstrapConfigHash]: configHash && notedText(configHash, ofConfig),
        }),
        ...(done.custom === takenOverHash && {
          [virtualMachineAnnotations.bootstrapCustomHash]: customHash && notedText(customHash, ofCustom),
        }),
      },
    });
  if (missingKeys.length > 0)
    return lackOfSecret(context, `There is no ${missingKeys.join(', ')} in the Secrets of the bootstrap`);
  if (isDefault && !isFirstStartOfLinux(desired, vm.config.guestId)) return success;

  const { moId } = vm;
  const noted = { config: readNoted(done.config), custom: readNoted(done.custom) };
  if (configHash !== null && !isNoted(noted.config, configHash, ofConfig)) {
    const text = notedText(configHash, ofConfig);
    return execute(
      'config',
      [
        `Write the ${bootstrap.kind ?? 'bootstrap'} data into ${desired.name}`,
        { kind: 'bootstrap', moId, part: 'config', hash: configHash, cards, noted: text },
      ],
      [
        'Note which bootstrap data were written',
        {
          kind: 'patchVirtualMachine',
          patches: [
            {
              annotations: {
                [virtualMachineAnnotations.bootstrapConfigHash]: text,
              },
            },
          ],
        },
      ],
    );
  }
  const isPending = (vm.config.extraConfig[extraConfigKeys.deployPackage] ?? '') !== '';
  if (customHash === null || vm.powerState !== 'poweredOff') return success;
  const isDue = bootstrap.atNextPowerOn ?? !isNoted(noted.custom, customHash, ofCustom);
  if (!isDue) return success;
  const text = notedText(customHash, ofCustom);
  const latch = bootstrap.atNextPowerOn === true ? latchPatch(bootstrap.kind, false) : {};
  const note: VirtualMachinePatch = {
    annotations: { [virtualMachineAnnotations.bootstrapCustomHash]: text },
    ...latch,
  };
  // A customization is done by the next start; one that waits for that already is not replaced. Before the first start
  // it is drover's own, whatever is noted.
  if (isPending) {
    const isAskedFor = noted.custom === null ? isNotStarted(desired) : isNoted(noted.custom, customHash, ofCustom);
    return isAskedFor ? patch('config', noteCustomization, note) : success;
  }
  const missing = cards.findIndex((key) => key === null);
  if (missing !== -1)
    return recheck(
      'NetworkNotReady',
      `${vm.name} has no card for ${desired.networkCards[missing]?.name ?? ''} yet, and its guest would be customized without it`,
      context.nowMs + context.settings.pollMs,
    );
  return execute(
    'config',
    [
      `Have ${desired.name} customized at its next start`,
      { kind: 'bootstrap', moId, part: 'custom', hash: customHash, cards, noted: text },
    ],
    [noteCustomization, { kind: 'patchVirtualMachine', patches: [note] }],
  );
}

const noteCustomization = 'Note which customization was asked for';

/**
 * Secrets are not watched. Many are removed for good once the guest is set up: no run waits for those. The digest that
 * it leaves names them, and the bridge asks for their versions from time to time.
 */
const lackOfSecret = ({ desired, settings, nowMs }: VmContext, message: string): Outcome =>
  isNeededToStart(desired)
    ? recheck(bootstrapNotReady, message, nowMs + settings.pollMs)
    : lack(bootstrapNotReady, `${message}. Create it again, or set spec.bootstrap.disabled`);

const bootstrapNotReady = 'BootstrapNotReady';

/** What is wrong with a Secret, or who may read it, is put right by a user. */
const settledRecheckMs = 10 * 60_000;

/**
 * Whether it must not start without what it is set up from: at its first start, and where the spec asks for a
 * customization at the next.
 */
export const isNeededToStart = ({
  firstBootDone,
  bootstrap,
}: Pick<VmContext['desired'], 'firstBootDone' | 'bootstrap'>): boolean =>
  !firstBootDone || bootstrap.atNextPowerOn === true;

/** Whether it is customized at its next power-on, too. */
export const latchPatch = (
  kind: BootstrapKind | null,
  customizeAtNextPowerOn: boolean,
): Pick<VirtualMachinePatch, 'spec'> =>
  kind === 'LinuxPrep' || kind === 'Sysprep'
    ? { spec: { bootstrap: { [kind === 'LinuxPrep' ? 'linuxPrep' : 'sysprep']: { customizeAtNextPowerOn } } } }
    : {};

/**
 * What a spec without a bootstrap comes to is for a VM that drover has made, and that has not run yet: no guest that
 * lives is changed.
 */
const isFirstStartOfLinux = (desired: VmContext['desired'], guestId: string): boolean =>
  isNotStarted(desired) && isLinux(guestId);

/** drover has made it, and it has not run yet. */
const isNotStarted = ({
  creatingSince,
  firstBootDone,
}: Pick<VmContext['desired'], 'creatingSince' | 'firstBootDone'>): boolean => creatingSince !== null && !firstBootDone;

/**
 * Device keys and MAC addresses of the cards that the interfaces of the spec are, in its order; null: there is none, or
 * it has none yet.
 */
function cardsOfInterfaces(
  { desired, observed }: VmContext,
  { networkCards, extraConfig }: VmConfig,
): { keys: (number | null)[]; addresses: (string | null)[] } {
  const wanted = desired.networkDisabled ? [] : desired.networkCards;
  const matched = matchCards(
    interfacesOf(wanted, observed.prerequisites.network),
    networkCards,
    readCardRecord(extraConfig),
  );
  const cards = wanted.map(({ name }) => matched.get(name) ?? null);
  return {
    keys: cards.map((card) => card?.key ?? null),
    addresses: cards.map((card) => card?.macAddress ?? null),
  };
}

/** What was noted of bootstrap data: their hash, and the addresses that were in them; null: these are not known. */
interface NotedSetup {
  hash: string;
  addresses: string | null;
}

function readNoted(text: string | null): NotedSetup | null {
  if (text === null) return null;
  const [hash = '', addresses = null] = text.split('@');
  return { hash, addresses };
}

/** @param addresses null: they do not matter */
const isNoted = (noted: NotedSetup | null, hash: string, addresses: readonly (string | null)[] | null): boolean =>
  noted !== null &&
  noted.hash === hash &&
  (addresses === null || noted.addresses === null || noted.addresses === addressText(addresses));

const notedText = (hash: string, addresses: readonly (string | null)[] | null): string =>
  addresses === null || addresses.length === 0 ? hash : `${hash}@${addressText(addresses)}`;

const addressText = (addresses: readonly (string | null)[]): string => addresses.map((one) => one ?? '').join(',');
