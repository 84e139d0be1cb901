import { isA } from '../../../activities/vsphere/wire/kinds.ts';
import type { CustomizationSpec } from '../../../activities/vsphere/wire/vim/types.ts';
import type { HostState } from './inventory.ts';
import { VsphereFault } from './fault.ts';
import type { Managed, Model, PowerState, Ref, VmState } from './model.ts';

/** `VmPoweredOnEvent`. */
export interface VcenterEvent {
  $type: string;
  key: number;
  createdTime: string;
  vm: Ref;
}

/** What happens to VMs that run, and what their guests do. */
export interface Power {
  /** @throws InvalidPowerState */
  set(vm: Ref, to: PowerState): void;
  /** @throws InvalidPowerState */
  reset(vm: Ref): void;
  /** @throws InvalidPowerState, ToolsUnavailable */
  askGuest(vm: Ref, what: 'shutdown' | 'standby' | 'reboot'): void;
  /** For the next start. @throws CustomizationPending, NicSettingMismatch, InvalidPowerState */
  customize(vm: Ref, spec: CustomizationSpec): void;
  /** Guests take requests and do nothing. */
  deafen(isDeaf: boolean): void;
  /** The newest first. */
  events(vm: Ref, types: readonly string[], most: number): VcenterEvent[];
}

/** Of the guest's own shutdown: until it is off. */
const guestMs = [20, 200] as const;
/** Of a simulation: it may be long. */
const mostEvents = 50;

export function openPower(model: Model, noteChange: (vm: Managed<VmState>) => void): Power {
  const events = new Map<string, VcenterEvent[]>();
  const pending = new Map<string, CustomizationSpec>();
  let isDeaf = false;

  const post = (vm: Ref, $type: string): void => {
    const before = events.get(vm.value) ?? [];
    events.set(vm.value, [{ $type, key: model.next(), createdTime: model.now(), vm }, ...before].slice(0, mostEvents));
  };
  const wrongState = (requestedState: PowerState, { state }: Managed<VmState>): VsphereFault =>
    new VsphereFault('InvalidPowerState', { requestedState, existingState: state.runtime.powerState });

  const set: Power['set'] = (ref, to) => {
    const vm = model.vm(ref);
    const { runtime, config, guest } = vm.state;
    if (runtime.powerState === to || (to === 'suspended' && runtime.powerState !== 'poweredOn'))
      throw wrongState(to, vm);
    const host = model.get<HostState>(runtime.host).state.runtime;
    if (to === 'poweredOn' && (host.connectionState !== 'connected' || host.inMaintenanceMode))
      throw new VsphereFault('InvalidState');
    runtime.powerState = to;
    runtime.bootTime = to === 'poweredOn' ? model.now() : to === 'suspended' ? runtime.bootTime : undefined;
    config.hardware.device = config.hardware.device.map((device) =>
      device.connectable === undefined
        ? device
        : {
            ...device,
            connectable: { ...device.connectable, connected: to === 'poweredOn' && device.connectable.startConnected },
          },
    );
    post(ref, { poweredOn: 'VmPoweredOnEvent', poweredOff: 'VmPoweredOffEvent', suspended: 'VmSuspendedEvent' }[to]);
    if (to === 'poweredOn') applyCustomization(vm);
    // Of a guest that does not run nothing is known.
    if (to === 'poweredOff') guest.toolsRunningStatus = 'guestToolsNotRunning';
    model.changed();
  };

  const applyCustomization = (vm: Managed<VmState>): void => {
    const spec = pending.get(vm.ref.value);
    if (spec === undefined) return;
    pending.delete(vm.ref.value);
    const { config, guest } = vm.state;
    const { identity, nicSettingMap = [] } = spec;
    const name = isA(identity, 'CustomizationLinuxPrep')
      ? identity.hostName
      : isA(identity, 'CustomizationSysprep')
        ? identity.userData.computerName
        : undefined;
    if (isA(name, 'CustomizationFixedName')) guest.hostName = name.name;
    nicSettingMap.forEach(({ adapter: { ip } }, index) => {
      if (!isA(ip, 'CustomizationFixedIp')) return;
      guest.ipAddress ??= ip.ipAddress;
      const card = guest.net[index];
      if (card !== undefined) card.ipAddress = [ip.ipAddress];
    });
    config.tools = { pendingCustomization: '' };
    guest.customizationInfo = { $type: 'GuestInfoCustomizationInfo', customizationStatus: 'TOOLSDEPLOYPKG_SUCCEEDED' };
    noteChange(vm);
  };

  return {
    set,
    reset(ref) {
      const vm = model.vm(ref);
      if (vm.state.runtime.powerState !== 'poweredOn') throw wrongState('poweredOn', vm);
      post(ref, 'VmResettingEvent');
      model.changed();
    },
    askGuest(ref, what) {
      const vm = model.vm(ref);
      const { runtime, guest } = vm.state;
      if (runtime.powerState !== 'poweredOn') throw wrongState('poweredOn', vm);
      if (guest.toolsRunningStatus !== 'guestToolsRunning') throw new VsphereFault('ToolsUnavailable');
      if (isDeaf) return;
      if (what === 'reboot') return post(ref, 'VmGuestRebootEvent');
      const [least, most] = guestMs;
      model.clock.schedule(
        () => {
          if (model.find(ref) !== undefined && runtime.powerState === 'poweredOn')
            set(ref, what === 'shutdown' ? 'poweredOff' : 'suspended');
        },
        least + model.random() * (most - least),
      );
    },
    customize(ref, spec) {
      const vm = model.vm(ref);
      const { config, guest, runtime } = vm.state;
      if (runtime.powerState === 'poweredOn') throw wrongState('poweredOff', vm);
      if ((config.tools.pendingCustomization ?? '') !== '') throw new VsphereFault('CustomizationPending');
      const asked = spec.nicSettingMap?.length ?? 0;
      if (asked !== guest.net.length)
        throw new VsphereFault('NicSettingMismatch', { numberOfNicsInSpec: asked, numberOfNicsInVM: guest.net.length });
      pending.set(ref.value, spec);
      config.tools = { pendingCustomization: model.uuid() };
      guest.customizationInfo = { $type: 'GuestInfoCustomizationInfo', customizationStatus: 'TOOLSDEPLOYPKG_PENDING' };
      noteChange(vm);
    },
    deafen: (deaf) => void (isDeaf = deaf),
    events: (vm, types, most) =>
      (events.get(vm.value) ?? []).filter(({ $type }) => types.includes($type)).slice(0, most),
  };
}
