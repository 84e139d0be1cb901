/** What a test or another process needs to use the OpenStack part of a lab. */
export interface OpenStackHandle {
  /** The part's directory. */
  readonly dir: string;
  readonly region: string;
  /** Keystone's v3 URL, as `auth_url`. */
  readonly authUrl: string;
  /** Nova's URL with its `/v2.1`. */
  readonly computeUrl: string;
  readonly placementUrl: string;
  /** A clouds.yaml (mode 0600) with the clouds of `CloudName`. */
  readonly cloudsFile: string;
  /** Shell exports of the cloud `lab`, for programs that know no clouds.yaml (mode 0600). */
  readonly openrcFile: string;
  /** Base URL of the control port; see `fleet.ts`. */
  readonly controlUrl: string;
  /** What the control port wants in X-Lab-Token (mode 0600). */
  readonly controlTokenFile: string;
  /** The image of most servers, as `imageRef`. */
  readonly imageId: string;
  /** Another, with the tag `amphora`. */
  readonly amphoraImageId: string;
  /** Folder of the JSON lines that `journal.ts` reads. */
  readonly journalDir: string;
  /** In the place of files, where the services are a model: entries by the file's name without its ending. */
  readonly readJournal?: (name: string) => readonly unknown[];
}

/**
 * The clouds in the lab's clouds.yaml. `lab`: user `drover` with the role admin, by application credential.
 * `lab-password`: the same user by password. `lab-admin`: the bootstrap administrator. `lab-member`: a user with the
 * role member only, in the same project.
 */
export type CloudName = 'lab' | 'lab-password' | 'lab-admin' | 'lab-member';

/** Names (and ids) of the flavors that every lab has; see `controlplane/seed_flavors.py` for their sizes. */
export type FlavorName = 'lab.tiny' | 'lab.small' | 'lab.medium' | 'lab.large' | 'lab.huge' | 'lab.trait' | 'lab.vgpu';
