/** What can stand in a path and is no id of anything. */
const words = new Set(['redfish', 'v1', 'Systems', 'Actions', 'ComputerSystem.Reset', 'SessionService', 'Sessions']);

/** What a request does, without ids: `POST /redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset`. Pure. */
export function verbOf(method: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  return `${method} /${segments
    .slice(0, 6)
    .map((segment) => (words.has(segment) ? segment : '{id}'))
    .join('/')}`;
}
