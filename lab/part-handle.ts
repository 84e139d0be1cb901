import { join } from 'node:path';
import { readJsonIfThere } from './private-files.ts';

/** Where a part's handle is while it is up. */
export const handleFile = (partDir: string): string => join(partDir, 'handle.json');

/** What the part in that directory has handed out; undefined where it is not up. */
export const readHandle = (partDir: string): object | undefined =>
  readJsonIfThere(handleFile(partDir)) as object | undefined;
