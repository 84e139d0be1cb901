import { isFailure } from './kubernetes-faults.ts';

/** Writers are few: an object that changes this often under a write is not left to this writer alone. */
const attempts = 5;

/** Reads, decides and writes again when another writer was faster. The last conflict is thrown. */
export async function retryConflicts<Result>(readAndWrite: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readAndWrite();
    } catch (error) {
      if (!isFailure(error, 'ObjectConflict') || attempt === attempts) throw error;
    }
  }
}
