import { namespaceAndName } from '../../contracts/kinds/object.ts';
import { mebibytesOf } from '../../contracts/quantity.ts';
import { extraConfigKeys } from '../../contracts/virtual-machine/metadata.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import type { DescribedDevice, DescribedVm } from '../../lab/vsphere/witness.ts';
import type { ScenarioContext } from './context.ts';
import { vcenterOf } from './environment.ts';
import type { Scenario } from './scenario.ts';

/** How a scenario of a virtual machine is judged by what vCenter shows. */

export const namespaceOf = ({ hostOf }: ScenarioContext): string => namespaceAndName(hostOf('A'))[0];

/** Its path in the vCenter. */
export const pathOf = (context: ScenarioContext): string => `${inventory.vmFolder}/${context.hostOf('A')}`;

/** The VM as another client sees it; null: there is none. */
export const describe = (context: ScenarioContext): Promise<DescribedVm | null> =>
  vcenterOf(context.fixture.environment).witness.describeVm(pathOf(context));

/** Where a user has cancelled the run, it rests where it was. */
export const unlessStopped =
  (judge: (context: ScenarioContext) => Promise<string[]>): NonNullable<Scenario['judge']> =>
  async (context) => {
    const object = await context.read('A');
    return object !== null && context.subject.isStopped(object) ? [] : await judge(context);
  };

export const judgePower = async (context: ScenarioContext, wanted: string): Promise<string[]> => {
  const is = (await describe(context))?.runtime.powerState;
  return is === wanted ? [] : [`the VM is ${is}, and not ${wanted}`];
};

/** Its CPUs and memory are those of the class. */
export async function judgeSize(
  context: ScenarioContext,
  className: keyof typeof vmFixture.classes,
): Promise<string[]> {
  const { numCPU = 0, memoryMB = 0 } = (await describe(context))?.config.hardware ?? {};
  const { cpus, memory } = vmFixture.sizes[className];
  return numCPU === cpus && memoryMB === mebibytesOf(memory)
    ? []
    : [`the VM has ${numCPU} CPUs and ${memoryMB} MiB, and its class ${className} has ${cpus} and ${memory}`];
}

/** Of ExtraConfig. */
export async function judgeKeys(context: ScenarioContext, wanted: Readonly<Record<string, string>>): Promise<string[]> {
  const { extraConfig = [] } = (await describe(context))?.config ?? {};
  return Object.entries(wanted).flatMap(([name, value]) => {
    const is = extraConfig.find(({ key }) => key === name)?.value;
    return is === value ? [] : [`its ${name} is ${is ?? 'nothing'}, and not ${value}`];
  });
}

/** A SCSI controller of each of these buses is there. */
export async function judgeBuses(context: ScenarioContext, wanted: readonly number[]): Promise<string[]> {
  const devices = (await describe(context))?.config.hardware.device ?? [];
  const buses = devices.flatMap(({ busNumber, sharedBus }) => (sharedBus === undefined ? [] : (busNumber ?? [])));
  const missing = wanted.filter((bus) => !buses.includes(bus));
  return missing.map((bus) => `it has no SCSI controller of bus ${bus}, but of ${buses.join(', ')}`);
}

const sortOf = ({ macAddress, backing }: DescribedDevice): string =>
  macAddress === undefined ? (backing?.fileName?.endsWith('.vmdk') === true ? 'disk' : 'other') : 'card';

/** What it boots from, first first: `card`, `disk`. */
export async function judgeBootOrder(context: ScenarioContext, wanted: readonly string[]): Promise<string[]> {
  const { bootOptions, hardware } = (await describe(context))?.config ?? {};
  const order = (bootOptions?.bootOrder ?? []).map(({ deviceKey }) => {
    const device = hardware?.device.find(({ key }) => key === deviceKey);
    return device === undefined ? 'other' : sortOf(device);
  });
  return order.join() === wanted.join()
    ? []
    : [`it boots from ${order.join(', ') || 'what comes first'}, and not from ${wanted.join(', ')}`];
}

/** It is the very VM that has that instance UUID, as large as it was, and has its object's mark. */
export async function judgeAdopted(context: ScenarioContext, before: DescribedVm | undefined): Promise<string[]> {
  const [now, object] = [await describe(context), await context.read('A')];
  const sizeOf = (vm: DescribedVm | null | undefined): string =>
    `${vm?.config.hardware.numCPU} CPUs and ${vm?.config.hardware.memoryMB} MiB`;
  return [
    ...(now?.id === before?.id ? [] : [`the VM is ${now?.id ?? 'gone'}, and was ${before?.id}`]),
    ...(sizeOf(now) === sizeOf(before) ? [] : [`the VM has ${sizeOf(now)}, and had ${sizeOf(before)}`]),
    ...(await judgeKeys(context, { [extraConfigKeys.objectUid]: object?.metadata.uid ?? '' })),
  ];
}

/** How often vCenter was asked for it. */
export async function countRequests(context: ScenarioContext, method: string): Promise<number> {
  const requests = await vcenterOf(context.fixture.environment).control.requests();
  return requests.filter((request) => request.method === method).length;
}
