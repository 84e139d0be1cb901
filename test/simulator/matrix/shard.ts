import { serveShard } from './shards.ts';

await serveShard();
