import { describeNewHosts } from '../contracts/nova-hosts.ts';
import { describeHypervisorActivities } from '../contracts/nova-hypervisors.ts';
import { describeDeletionRaces } from '../contracts/nova-races.ts';
import { describeSmokeChecks } from '../contracts/nova-smoke-checks.ts';
import { describeNovaActivities } from '../contracts/nova.ts';
import { describeReleases } from '../contracts/placement-releases.ts';
import { describeOnLab } from './contract-openstack/on-lab.ts';

describeOnLab('the lab', {}, (test) => {
  describe('drover’s activities on Nova', () => {
    describeNovaActivities(test);
  });
  // Last: the host that is added stays in the fleet.
  describe('Nova and Placement, with a host that comes and goes', () => {
    describeNewHosts(test);
    describeHypervisorActivities(test);
    describeSmokeChecks(test);
    describeReleases(test);
    describeDeletionRaces(test);
  });
});
