import { verbOf } from './http.ts';

test.each([
  ['GET', '/redfish/v1/', 'GET /redfish/v1'],
  ['GET', '/redfish/v1/Systems/System.Embedded.1', 'GET /redfish/v1/Systems/{id}'],
  [
    'POST',
    '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset',
    'POST /redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset',
  ],
  ['DELETE', '/redfish/v1/SessionService/Sessions/7', 'DELETE /redfish/v1/SessionService/Sessions/{id}'],
  ['GET', '/redfish/v1/a/b/c/d/e/f/g', 'GET /redfish/v1/{id}/{id}/{id}/{id}'],
])('%s %s', (method, path, verb) => {
  expect(verbOf(method, path)).toBe(verb);
});
