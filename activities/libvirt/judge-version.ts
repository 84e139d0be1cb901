import { isOlder } from '../preflight/versions.ts';

export interface VersionVerdict {
  isEnough: boolean;
  expectation: string;
  seen: string;
}

/**
 * Whether a daemon is new enough. Pure. A version that cannot be read is not.
 *
 * @param version as the daemon says it, `major.minor.release`
 * @param minimum likewise; parts that are missing count as 0
 */
export function judgeVersion(version: string, minimum: string): VersionVerdict {
  return {
    isEnough: isOlder(version, minimum) === false,
    expectation: `libvirt ${minimum} or newer`,
    seen: `libvirt ${version}`,
  };
}
