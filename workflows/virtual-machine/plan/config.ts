import type { ReconfigSpec, VmConfig } from '../../../contracts/virtual-machine/config.ts';
import {
  defaultVmAnnotation,
  extraConfigKeys,
  managedBy,
  takenOverHash,
  virtualMachineAnnotations,
} from '../../../contracts/virtual-machine/metadata.ts';
import type { ObservedVm } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome } from './context.ts';
import { changesOf, joinParts, type ByPart } from './changes-of.ts';
import {
  diffCompute,
  diffExtraConfig,
  diffSettings,
  joinSpecs,
  diffBootDisk,
  diffCdroms,
  diffNetworkCards,
} from './diff-config.ts';
import { describeApplied, judgeResize, ownershipMetadata, wantCompute, wantExtraConfig } from './want-config.ts';
import { planRestartIntent } from './restart.ts';
import { execute, patch, recheck, stop, success, type VmContext } from './context.ts';

/** What the configuration differs in, by the conditions that report it. */
export interface ConfigDifference {
  /** Null: nothing that can be changed now. */
  spec: ReconfigSpec | null;
  /** What has to wait until the VM is off, or is left alone no more, for the message. */
  whenOff: ByPart;
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
  if (due.kind === 'execute' && vm.task !== null) {
    return execute('config', [
      `Wait for ${vm.task.descriptionId} on ${vm.name}`,
      { kind: 'awaitTask', task: vm.task.id, deadlineMs: settings.taskMs },
    ]);
  }
  if (due.kind !== 'success' || isLeftAlone(vm)) return due;
  const resize = judgeResize(desired, observed.prerequisites.class, settings);
  if (resize.apply !== null && vm.powerState === 'poweredOff') {
    return patch('config', `Note that class ${resize.apply.name} was applied`, {
      annotations: { [virtualMachineAnnotations.lastResizedClass]: describeApplied(resize.apply) },
    });
  }
  return success;
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

/** One that is suspended cannot be changed, one that an administrator has paused shall not be: only its metadata is written. */
export const isLeftAlone = (vm: ObservedVm): boolean => vm.powerState === 'suspended' || isPaused(vm);

export const isPaused = ({ config }: Pick<ObservedVm, 'config'>): boolean =>
  config?.extraConfig[extraConfigKeys.paused]?.toLowerCase() === 'true';

export const isConnected = ({ vm }: Pick<VmContext, 'vm'>): boolean =>
  vm.connectionState === null || vm.connectionState === 'connected';

/** What differs, as things are. */
export function diffConfig(context: VmContext): ConfigDifference {
  const { desired, vm } = context;
  const { config } = vm;
  if (config === null) return { spec: null, whenOff: changesOf(null) };
  const { spec, whenOff } = diffWhole(context, config);
  if (!isLeftAlone(vm)) return { spec, whenOff };
  const extraConfig = diffExtraConfig(ownershipMetadata(desired), config.extraConfig);
  return {
    spec: joinSpecs([metadataOf(config), { ...(extraConfig.length > 0 && { extraConfig }) }]),
    whenOff: joinParts(whenOff, changesOf(spec)),
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
  const compute = diffCompute(wantCompute(desired.size, applied, vm.cpuMHz), config, isOff);
  const set = diffSettings(desired.config, config, isOff);
  const cards = desired.networkDisabled
    ? { changes: [], whenOff: [] }
    : diffNetworkCards(desired.networkCards, observed.prerequisites.network, config.networkCards, isOff);
  const cdroms = diffCdroms(desired.cdroms, observed.prerequisites.isos, config.cdroms, isOff);
  const deviceChange = [
    ...cards.changes,
    ...cdroms.changes,
    ...diffBootDisk(desired.config.bootDiskBytes, config.disks),
  ];
  const ofClass = isOff && settings.resize === 'all' ? applied : null;
  const extraConfig = [
    ...diffExtraConfig(wantExtraConfig(desired, ofClass, config.extraConfig), config.extraConfig),
    ...planRestartIntent(context),
  ];
  return {
    spec: joinSpecs([metadataOf(config), compute.spec, set.spec, { deviceChange, extraConfig }]),
    whenOff: {
      compute: [...compute.whenOff, ...set.whenOff, ...hardwareWhenOff(context, config)],
      network: cards.whenOff,
      cdrom: cdroms.whenOff,
      extraConfig: [],
    },
  };
}

const hardwareWhenOff = ({ desired, vm }: VmContext, { hardwareVersion }: VmConfig): string[] => {
  const wanted = desired.config.minHardwareVersion ?? 0;
  const isNow = vm.powerState === 'poweredOff' && !isLeftAlone(vm);
  return isNow || wanted <= hardwareVersion ? [] : [`hardware version ${hardwareVersion} → ${wanted}`];
};

/** Null: it is new enough, or cannot be upgraded now. */
function neededHardware({ desired, vm }: VmContext): number | null {
  const wanted = desired.config.minHardwareVersion;
  if (wanted === null || vm.config === null || vm.powerState !== 'poweredOff') return null;
  return wanted > vm.config.hardwareVersion ? wanted : null;
}

/** The module that it has to be put into; null: it is in it, or none is asked for, or it is not made yet. */
function wantedModule({ desired, observed, vm }: VmContext): string | null {
  const policy = observed.prerequisites.resourcePolicy;
  if (desired.clusterModule === null || policy?.kind !== 'found') return null;
  const module = policy.value.modules[desired.clusterModule] ?? null;
  return module === vm.clusterModule ? null : module;
}

/**
 * Sets up the guest: what goes into the VM's configuration whenever it has changed, a customization while the VM is off. Each is applied once
 * per change, or once more at the next power-on where the spec asks for that.
 */
export function planBootstrap(context: VmContext): Outcome {
  const { desired, observed, vm } = context;
  const { bootstrap, bootstrapHashes: done } = desired;
  const fetched = observed.prerequisites.bootstrap;
  if (bootstrap.disabled || fetched === null || vm.config === null) return success;
  const isTakenOver = done.config === takenOverHash || done.custom === takenOverHash;
  // Its guest needs no Secrets any more, and they may be gone.
  if (isTakenOver && (fetched.kind !== 'found' || fetched.value.missingKeys.length > 0)) return success;
  if (fetched.kind !== 'found') return recheck('BootstrapNotReady', fetched.message, bootstrapRecheckMs(context));
  const { missingKeys, configHash, customHash } = fetched.value;
  if (isTakenOver)
    return patch('config', `Note what the guest of ${desired.name} was set up with before it was taken over`, {
      annotations: {
        ...(done.config === takenOverHash && { [virtualMachineAnnotations.bootstrapConfigHash]: configHash }),
        ...(done.custom === takenOverHash && { [virtualMachineAnnotations.bootstrapCustomHash]: customHash }),
      },
    });
  if (missingKeys.length > 0)
    return recheck(
      'RequiredKeyNotFound',
      `There is no ${missingKeys.join(', ')} in the Secrets of the bootstrap`,
      bootstrapRecheckMs(context),
    );

  const { moId } = vm;
  if (configHash !== null && configHash !== done.config) {
    return execute(
      'config',
      [
        `Write the ${bootstrap.kind ?? 'bootstrap'} data into ${desired.name}`,
        { kind: 'bootstrap', moId, part: 'config', hash: configHash },
      ],
      [
        'Note which bootstrap data were written',
        {
          kind: 'patchVirtualMachine',
          patches: [{ annotations: { [virtualMachineAnnotations.bootstrapConfigHash]: configHash } }],
        },
      ],
    );
  }
  const isPending = (vm.config.extraConfig[extraConfigKeys.deployPackage] ?? '') !== '';
  // A customization is done by the next start; one that waits for that already is not replaced.
  if (customHash === null || vm.powerState !== 'poweredOff' || isPending) return success;
  const isDue = bootstrap.atNextPowerOn ?? customHash !== done.custom;
  if (!isDue) return success;
  const latch =
    bootstrap.atNextPowerOn === true && bootstrap.kind !== null
      ? {
          spec: {
            bootstrap: {
              [bootstrap.kind === 'LinuxPrep' ? 'linuxPrep' : 'sysprep']: { customizeAtNextPowerOn: false },
            },
          },
        }
      : {};
  return execute(
    'config',
    [
      `Have ${desired.name} customized at its next start`,
      { kind: 'bootstrap', moId, part: 'custom', hash: customHash },
    ],
    [
      'Note which customization was asked for',
      {
        kind: 'patchVirtualMachine',
        patches: [{ annotations: { [virtualMachineAnnotations.bootstrapCustomHash]: customHash }, ...latch }],
      },
    ],
  );
}

/** Secrets are not watched. Many are removed for good once the guest is set up. */
const bootstrapRecheckMs = ({ desired, settings, nowMs }: VmContext): number =>
  nowMs + (isNeededToStart(desired) ? settings.pollMs : settledRecheckMs);

const settledRecheckMs = 10 * 60_000;

/** Whether it must not start without what it is set up from: at its first start, and where the spec asks for a customization at the next. */
export const isNeededToStart = ({
  firstBootDone,
  bootstrap,
}: Pick<VmContext['desired'], 'firstBootDone' | 'bootstrap'>): boolean =>
  !firstBootDone || bootstrap.atNextPowerOn === true;
