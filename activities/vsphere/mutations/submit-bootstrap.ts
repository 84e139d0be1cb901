import { ApplicationFailure } from '@temporalio/common';

import { errors } from '../../../contracts/errors.ts';
import type {
  GuestConfig,
  GuestCustomization,
  GuestSetup,
  ReadBootstrap,
} from '../../../contracts/virtual-machine/bootstrap.ts';
import type { Submission, VirtualMachineVsphereActivities } from '../../../contracts/virtual-machine/activities.ts';
import type { NetworkCard } from '../../../contracts/virtual-machine/config.ts';
import { droverFailure, failureCode, failureDetail } from '../../../runtime/failure.ts';
import { finalFailure } from '../../lib/wait.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { isCustomizationPending } from '../observation/config.ts';
import { networkCardsOf } from '../observation/devices.ts';
import { confirmApi } from './confirm-api.ts';
import { configOf, readOwnedThere } from './find-vm.ts';
import { vmRef } from '../wire/values.ts';
import { option } from '../specs/config-spec.ts';
import { customizationSpec, neededApi } from '../specs/customization.ts';
import { vAppChange } from '../specs/v-app.ts';
import { reconfigure } from './submit-reconfigure.ts';
import type { VirtualMachine } from '../types.ts';
import { vim } from '../wire/kinds.ts';
import type { VmConfigInfo } from '../wire/vim/types.ts';

type Bootstrap = Parameters<VirtualMachineVsphereActivities['submitBootstrap']>[0];

/**
 * Sets the guest up, if what its Secrets come to is what was decided on. Their values are in the request to vCenter and
 * nowhere else.
 */
export async function submitBootstrap(tools: Tools, read: ReadBootstrap, request: Bootstrap): Promise<Submission> {
  const vm = await readOwnedThere(tools, request);
  const setup = await readDecided(tools, read, request);
  return request.part === 'config'
    ? writeConfig(tools, request, vm, decided(setup, 'config', request))
    : customize(tools, request, vm, decided(setup, 'custom', request));
}

/** It could be read when the step was planned. Where it no longer can, the next observation shows why. */
async function readDecided({ scope }: Tools, read: ReadBootstrap, { object, kind }: Bootstrap): Promise<GuestSetup> {
  try {
    return await read(object, kind, scope.signal);
  } catch (error) {
    const code = failureCode(error);
    if (
      !(error instanceof ApplicationFailure) ||
      code === null ||
      (errors[code].retryable && code !== 'ObjectConflict')
    )
      throw error;
    throw outdated(failureDetail(error));
  }
}

/** @throws ObjectConflict */
function decided<Part extends 'config' | 'custom'>(
  setup: GuestSetup,
  part: Part,
  { owner: { namespacedName }, hash }: Bootstrap,
): NonNullable<GuestSetup[Part]> {
  const { missingKeys, [part]: found } = setup;
  if (missingKeys.length > 0)
    throw outdated(
      `There is no ${missingKeys.join(', ')} in the Secrets of the bootstrap of ${namespacedName} any more`,
    );
  if (found === null || found.hash !== hash)
    throw outdated(`The bootstrap of ${namespacedName}, or a Secret of it, has changed since it was read`);
  return found;
}

/** A failure that Temporal does not retry: the next observation decides. */
const outdated = (detail: string): Error =>
  finalFailure(droverFailure('ObjectConflict', `Nothing was written: ${detail}`));

/** What is so already is well: an earlier attempt has written it. */
async function writeConfig(
  tools: Tools,
  request: Bootstrap,
  vm: VirtualMachine,
  config: GuestConfig,
): Promise<Submission> {
  const { changeVersion, extraConfig: before } = configOf(vm);
  const addresses = cardsThere(request, vm).map((card) => card?.macAddress ?? null);
  const wanted = Object.entries(config.extraConfig(addresses));
  const changed = wanted.filter(([key, value]) => (before[key] ?? '') !== value);
  const hasVApp = Object.keys(config.vAppProperties).length > 0;
  const vApp = hasVApp ? vAppChange(config.vAppProperties, await readVApp(tools, request.vmId), vm.name) : null;
  if (changed.length === 0 && vApp === null) return null;
  const spec = {
    extraConfig: changed.map(([key, value]) => option({ key, value })),
    ...(vApp !== null && { vAppConfig: vApp }),
  };
  const after = {
    hash: request.hash,
    extraConfigKeys: changed.map(([key]) => key),
    vAppProperties: vApp?.property?.map(({ info }) => info?.id) ?? [],
  };
  return reconfigure(tools, 'submitBootstrap', request, spec, { changeVersion }, after, true);
}

/** The cards that the interfaces of the spec are, in its order; null: none yet. @throws ObjectConflict */
function cardsThere({ cards, owner }: Bootstrap, vm: VirtualMachine): (NetworkCard | null)[] {
  const there = networkCardsOf(configOf(vm).devices);
  return cards.map((key) => {
    const card = there.find((one) => one.key === key) ?? null;
    if (card !== null || key === null) return card;
    throw outdated(`${vm.name} (${vm.id}), the VM of ${owner.namespacedName}, has no network card ${key} any more`);
  });
}

/** Null: it has none. */
async function readVApp({ gateway, scope: { signal } }: Tools, vmId: string): Promise<VmConfigInfo | null> {
  const [object] = await gateway.retrieve(
    { propSet: [{ type: 'VirtualMachine', pathSet: ['config.vAppConfig'] }], objectSet: [{ obj: vmRef(vmId) }] },
    signal,
  );
  return vim('VmConfigInfo').safeParse(object?.properties['config.vAppConfig']).data ?? null;
}

/** One that waits for the next start is not replaced: it is an earlier attempt's, or another user's. */
async function customize(
  tools: Tools,
  request: Bootstrap,
  vm: VirtualMachine,
  custom: GuestCustomization,
): Promise<Submission> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  const { vmId, hash, owner } = request;
  if (isCustomizationPending(vm)) return null;
  const cards = cardsThere(request, vm);
  const cardless = custom.interfaces.filter((_, index) => !cards[index]);
  if (cardless.length > 0)
    throw outdated(
      `${vm.name} (${vmId}) has no network card for ${cardless.map(({ name }) => name).join(', ')} of ${owner.namespacedName}`,
    );
  const api = await confirmApi(tools, neededApi(custom.identity));
  const mapped = networkCardsOf(configOf(vm).devices).map(({ key, macAddress }) => ({
    macAddress,
    asked: custom.interfaces[cards.findIndex((card) => card?.key === key)] ?? null,
  }));
  const spec = customizationSpec(custom, mapped);
  try {
    const taskId = await mutateVmByTask(tools, {
      action: 'submitBootstrap',
      request,
      before: { powerState: vm.powerState },
      after: { hash, customized: custom.identity.kind },
      submit: () =>
        gateway.submit('CustomizeVM_Task', vmRef(vmId), { spec }, signal, {
          isSecret: true,
          ...api,
        }),
    });
    return { taskId, purpose: { kind: 'customize', vmId } };
  } catch (error) {
    // Another attempt, or another user, was faster.
    if (
      failureCode(error) === 'VirtualMachineStateRefused' &&
      isCustomizationPending(await readOwnedThere(tools, request))
    )
      return null;
    throw error;
  }
}
