import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import {
  defaultVmAnnotation,
  extraConfigKeys,
  managedBy,
  virtualMachineAnnotations,
} from '../../../contracts/virtual-machine/marks.ts';
import type { VmFacts } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import { diffCompute, diffExtraConfig, diffSettings, joinSpecs } from './diff-config.ts';
import { diffBootDisk, diffCdroms, diffNetworkCards } from './diff-devices.ts';
import { describeApplied, judgeResize } from './judge-resize.ts';
import { planBootstrap } from './plan-bootstrap.ts';
import { planRestartIntent } from './plan-restart.ts';
import type { VmContext } from '../step.ts';
import { act, patch, stop, success } from '../step.ts';
import { ownershipMark, wantCompute, wantExtraConfig } from './want-config.ts';

/** What the configuration differs in, by the conditions that tell of it. */
export interface ConfigDifference {
  /** Null: nothing that can be changed now. */
  spec: ReconfigSpec | null;
  /** What has to wait until the VM is off, in words. */
  whenOff: { compute: string[]; network: string[]; cdrom: string[] };
}

/**
 * Makes the configuration what the spec asks for, in one ReconfigVM_Task of only what differs. Sources: seed 000 "Config Reconciliation
 * Process"; vm-and-machine.md A.7.
 */
export function planConfig(context: VmContext): Outcome {
  const { desired, observed, settings, vm } = context;
  const { config, moId } = vm;
  if (config === null) return stop('InvalidConfig', `vCenter does not tell the configuration of ${vm.name}`);
  if (!isConnected(context))
    return stop('NotConnected', `${vm.name} is ${vm.connectionState}: its host is away, or its files are`);
  if (vm.resourcePool === null) return stop('NoResourcePool', `${vm.name} is in no resource pool; is it a template?`);

  const due = planDue(context, config.changeVersion, moId);
  if (due.kind === 'act' && vm.task !== null) {
    return act('config', [
      `Wait for ${vm.task.descriptionId} on ${vm.name}`,
      { do: 'awaitTask', task: vm.task.id, deadlineMs: settings.taskMs },
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
    return act('config', [
      `Upgrade ${vm.name} to hardware version ${upgrade}`,
      { do: 'upgradeHardware', moId, version: upgrade },
    ]);
  const module = wantedModule(context);
  if (module !== null && !isLeftAlone(vm)) {
    return act(
      'config',
      [`Attach ${vm.name} to cluster module ${module}`, { do: 'attachClusterModule', moId, module }],
      [
        'Note which module it is in',
        {
          do: 'patchVirtualMachine',
          patches: [{ annotations: { [virtualMachineAnnotations.clusterModuleUuid]: module } }],
        },
      ],
    );
  }
  const { spec } = diffConfig(context);
  if (spec !== null)
    return act('config', [
      `Reconfigure ${vm.name}: ${Object.keys(spec).join(', ')}`,
      { do: 'reconfigure', moId, changeVersion, spec },
    ]);
  return isLeftAlone(vm) ? success : planBootstrap(context);
}

/** One that is suspended cannot be changed, one that an administrator has paused shall not be: it only gets its marks. */
const isLeftAlone = (vm: VmFacts): boolean => vm.powerState === 'suspended' || isPaused(vm);

export const isPaused = ({ config }: Pick<VmFacts, 'config'>): boolean =>
  config?.extraConfig[extraConfigKeys.paused]?.toLowerCase() === 'true';

export const isConnected = ({ vm }: Pick<VmContext, 'vm'>): boolean =>
  vm.connectionState === null || vm.connectionState === 'connected';

/** What differs, as things are. */
export function diffConfig(context: VmContext): ConfigDifference {
  const { desired, observed, settings, vm } = context;
  const { config } = vm;
  const whenOff = { compute: [] as string[], network: [] as string[], cdrom: [] as string[] };
  if (config === null) return { spec: null, whenOff };
  const isOff = vm.powerState === 'poweredOff';
  const marks: ReconfigSpec = {
    ...(config.managedBy?.extensionKey === managedBy.extensionKey ? {} : { managedBy }),
    ...(config.annotation === '' ? { annotation: defaultVmAnnotation } : {}),
  };
  if (isLeftAlone(vm)) {
    const extraConfig = diffExtraConfig(ownershipMark(desired), config.extraConfig);
    return { spec: joinSpecs([marks, { ...(extraConfig.length > 0 && { extraConfig }) }]), whenOff };
  }

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
    spec: joinSpecs([marks, compute.spec, set.spec, { deviceChange, extraConfig }]),
    whenOff: { compute: [...compute.whenOff, ...set.whenOff], network: cards.whenOff, cdrom: cdroms.whenOff },
  };
}

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
