import { gzipSync } from 'node:zlib';

/** gzip in base64, as what reads a VM's ExtraConfig takes large values. The same text comes to the same value. */
export const pack = (text: string): string => gzipSync(text).toString('base64');
