import { retryHandledAnnotation } from '../contracts/eviction/annotations.ts';
import { annotations } from '../contracts/ids.ts';
import { resourcePolicyFinalizer } from '../contracts/virtual-machine/marks.ts';
import { eviction } from './eviction-route.ts';
import type { HypervisorRouteSettings } from './hypervisor-routes.ts';
import { hypervisorRoutes } from './hypervisor-routes.ts';
import { ownRoute, type Route } from './route.ts';
import type { VirtualMachineRouteSettings } from './virtual-machine-routes.ts';
import { virtualMachineRoute } from './virtual-machine-routes.ts';

/** A VirtualMachineSetResourcePolicy concerns the run that makes what it names. */
export const resourcePolicyRoute: Route = {
  ...ownRoute('VirtualMachineSetResourcePolicy'),
  watchesAnnotation: (key) => key === annotations.mode,
  retryHandled: retryHandledAnnotation,
  finalizer: resourcePolicyFinalizer,
};

/** The next kind is one more row. Of several rows of a kind, the first speaks for its objects in metrics. */
export const routesFor = (settings: HypervisorRouteSettings & VirtualMachineRouteSettings): readonly Route[] => [
  eviction,
  ...hypervisorRoutes(settings),
  virtualMachineRoute(settings),
  resourcePolicyRoute,
];
