import { openFakeVsphere } from './fake-vsphere.ts';
import { vsphereContract } from './vsphere.ts';

vsphereContract(openFakeVsphere);
