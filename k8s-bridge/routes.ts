import { eviction } from './eviction-route.ts';
import type { HypervisorRouteSettings } from './hypervisor-routes.ts';
import { hypervisorRoutes } from './hypervisor-routes.ts';
import { resourcePolicyRoute } from './resource-policy-route.ts';
import type { Route } from './route.ts';
import type { VirtualMachineRouteSettings } from './virtual-machine-routes.ts';
import { virtualMachineRoute } from './virtual-machine-routes.ts';

/** The next kind is one more row. Of several rows of a kind, the first speaks for its objects in metrics. */
export const routesFor = (settings: HypervisorRouteSettings & VirtualMachineRouteSettings): readonly Route[] => [
  eviction,
  ...hypervisorRoutes(settings),
  virtualMachineRoute(settings),
  resourcePolicyRoute,
];
