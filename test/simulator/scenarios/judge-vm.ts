import { namespaceAndName } from '../../../contracts/kinds/object.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import type { DescribedVm } from '../../../lab/vsphere/witness.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { vcenterOf } from '../../faults/environment.ts';
import type { Scenario } from '../../faults/scenario.ts';

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

/** How often vCenter was asked for it. */
export async function countRequests(context: ScenarioContext, method: string): Promise<number> {
  const requests = await vcenterOf(context.fixture.environment).control.requests();
  return requests.filter((request) => request.method === method).length;
}
