import { vsphereContract } from '../contracts/vsphere.ts';
import { openLabVsphere } from './vsphere-world.ts';

vsphereContract(openLabVsphere);
