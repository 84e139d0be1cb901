// Written by `npm run vim-types` from the types of govmomi (vim25/types, © Broadcom, Apache-2.0); not by hand.
import type { AnyValue, ManagedObjectReference } from '../values.ts';

export interface AboutInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  version: string;
  build: string;
  apiVersion: string;
  instanceUuid?: string;
}

export interface CancelTask {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface CloneVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  folder: ManagedObjectReference;
  name: string;
  spec: VirtualMachineCloneSpec;
}

export interface CloneVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface ContinueRetrievePropertiesEx {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  token: string;
}

export interface ContinueRetrievePropertiesExResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: RetrieveResult;
}

export interface CreateVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  config: VirtualMachineConfigSpec;
  pool: ManagedObjectReference;
  host?: ManagedObjectReference;
}

export interface CreateVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface Description {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  label: string;
  summary: string;
}

export interface Destroy_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface Destroy_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface DuplicateName extends VimFault {
  name: string;
  object: ManagedObjectReference;
}

export interface DynamicProperty {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  val: AnyValue;
}

export interface FindAllByUuid {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  datacenter?: ManagedObjectReference;
  uuid: string;
  vmSearch: boolean;
  instanceUuid?: boolean;
}

export interface FindAllByUuidResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval?: ManagedObjectReference[];
}

export interface FindByInventoryPath {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  inventoryPath: string;
}

export interface FindByInventoryPathResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval?: ManagedObjectReference;
}

export interface FindChild {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  entity: ManagedObjectReference;
  name: string;
}

export interface FindChildResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval?: ManagedObjectReference;
}

export interface ID {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  id: string;
}

export interface InvalidArgument extends RuntimeFault {
  invalidProperty?: string;
}

export interface InvalidPowerState extends InvalidState {
  requestedState?: string;
  existingState: string;
}

export interface InvalidProperty extends MethodFault {
  name: string;
}

export interface InvalidRequest extends RuntimeFault {
}

export interface InvalidState extends VimFault {
}

export interface LocalizableMessage {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: string;
  message?: string;
}

export interface LocalizedMethodFault {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  fault: AnyMethodFault;
  localizedMessage?: string;
}

export interface Login {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  userName: string;
  password: string;
  locale?: string;
}

export interface LoginResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: UserSession;
}

export interface Logout {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface ManagedByInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  extensionKey: string;
  type: string;
}

export interface ManagedObjectNotFound extends RuntimeFault {
  obj: ManagedObjectReference;
}

export interface MethodFault {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  faultMessage?: LocalizableMessage[];
}

export interface MethodNotFound extends InvalidRequest {
  receiver: ManagedObjectReference;
  method: string;
}

export interface MissingProperty {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  path: string;
  fault: LocalizedMethodFault;
}

export interface NoPermission extends SecurityError {
  object?: ManagedObjectReference;
  privilegeId?: string;
}

export interface ObjectContent {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  obj: ManagedObjectReference;
  propSet?: DynamicProperty[];
  missingSet?: MissingProperty[];
}

export interface ObjectSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  obj: ManagedObjectReference;
  skip?: boolean;
  selectSet?: AnySelectionSpec[];
}

export interface OptionValue {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: string;
  value: AnyValue;
}

export interface ParaVirtualSCSIController extends VirtualSCSIController {
}

export interface PowerOffVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface PowerOffVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface PowerOnVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  host?: ManagedObjectReference;
}

export interface PowerOnVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface PropertyFilterSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  propSet?: PropertySpec[];
  objectSet?: ObjectSpec[];
}

export interface PropertySpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  type: string;
  all?: boolean;
  pathSet?: string[];
}

export interface RebootGuest {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface ReconfigVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  spec: VirtualMachineConfigSpec;
}

export interface ReconfigVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface ResetVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface ResetVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface ResourceAllocationInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  reservation?: number;
  limit?: number;
}

export interface RetrieveOptions {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  maxObjects?: number;
}

export interface RetrievePropertiesEx {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  specSet?: PropertyFilterSpec[];
  options: RetrieveOptions;
}

export interface RetrievePropertiesExResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval?: RetrieveResult;
}

export interface RetrieveResult {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  token?: string;
  objects?: ObjectContent[];
}

export interface RetrieveServiceContent {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface RetrieveServiceContentResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ServiceContent;
}

export interface RuntimeFault extends MethodFault {
}

export interface SecurityError extends RuntimeFault {
}

export interface SelectionSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name?: string;
}

export interface ServiceContent {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  rootFolder: ManagedObjectReference;
  propertyCollector: ManagedObjectReference;
  about: AboutInfo;
  sessionManager?: ManagedObjectReference;
  searchIndex?: ManagedObjectReference;
}

export interface ShutdownGuest {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface StandbyGuest {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface SuspendVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface SuspendVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface SystemError extends RuntimeFault {
  reason: string;
}

export interface TaskInProgress extends VimFault {
  task: ManagedObjectReference;
}

export interface TaskInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: string;
  name?: string;
  descriptionId: string;
  entity?: ManagedObjectReference;
  state: string;
  cancelable: boolean;
  error?: LocalizedMethodFault;
  result?: AnyValue;
  progress?: number;
}

export interface TraversalSpec extends SelectionSpec {
  type: string;
  path: string;
  skip?: boolean;
  selectSet?: AnySelectionSpec[];
}

export interface UserSession {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: string;
}

export interface VimFault extends MethodFault {
}

export interface VirtualController extends VirtualDevice {
  busNumber: number;
}

export interface VirtualDevice {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: number;
  deviceInfo?: AnyDescription;
  backing?: AnyVirtualDeviceBackingInfo;
  controllerKey?: number;
  unitNumber?: number;
}

export interface VirtualDeviceBackingInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface VirtualDeviceConfigSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  operation?: string;
  fileOperation?: string;
  device: AnyVirtualDevice;
}

export interface VirtualDeviceFileBackingInfo extends VirtualDeviceBackingInfo {
  fileName: string;
  datastore?: ManagedObjectReference;
}

export interface VirtualDisk extends VirtualDevice {
  capacityInKB: number;
  vDiskId?: ID;
}

export interface VirtualDiskFlatVer2BackingInfo extends VirtualDeviceFileBackingInfo {
  diskMode: string;
  thinProvisioned?: boolean;
  uuid?: string;
  parent?: VirtualDiskFlatVer2BackingInfo;
}

export interface VirtualHardware {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  numCPU: number;
  numCoresPerSocket?: number;
  memoryMB: number;
  device?: AnyVirtualDevice[];
}

export interface VirtualMachineCloneSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  location: VirtualMachineRelocateSpec;
  template: boolean;
  config?: VirtualMachineConfigSpec;
  powerOn: boolean;
  snapshot?: ManagedObjectReference;
}

export interface VirtualMachineConfigSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  changeVersion?: string;
  name?: string;
  version?: string;
  uuid?: string;
  instanceUuid?: string;
  guestId?: string;
  annotation?: string;
  files?: VirtualMachineFileInfo;
  numCPUs?: number;
  numCoresPerSocket?: number;
  memoryMB?: number;
  deviceChange?: AnyVirtualDeviceConfigSpec[];
  cpuAllocation?: ResourceAllocationInfo;
  memoryAllocation?: ResourceAllocationInfo;
  extraConfig?: AnyOptionValue[];
  managedBy?: ManagedByInfo;
}

export interface VirtualMachineFileInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  vmPathName?: string;
}

export interface VirtualMachineRelocateSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  datastore?: ManagedObjectReference;
  diskMoveType?: string;
  pool?: ManagedObjectReference;
  host?: ManagedObjectReference;
}

export interface VirtualSCSIController extends VirtualController {
  sharedBus: string;
}

export type AnyDescription = Description;
export type AnyMethodFault = MethodFault | InvalidProperty | RuntimeFault | InvalidArgument | InvalidRequest | MethodNotFound | ManagedObjectNotFound | SecurityError | NoPermission | SystemError | VimFault | DuplicateName | InvalidState | InvalidPowerState | TaskInProgress;
export type AnyOptionValue = OptionValue;
export type AnySelectionSpec = SelectionSpec | TraversalSpec;
export type AnyVirtualDevice = VirtualDevice | VirtualController | VirtualSCSIController | ParaVirtualSCSIController | VirtualDisk;
export type AnyVirtualDeviceBackingInfo = VirtualDeviceBackingInfo | VirtualDeviceFileBackingInfo | VirtualDiskFlatVer2BackingInfo;
export type AnyVirtualDeviceConfigSpec = VirtualDeviceConfigSpec;

/** By name, for those whose place does not tell. */
export interface VimTypes {
  AboutInfo: AboutInfo;
  CancelTask: CancelTask;
  CloneVM_Task: CloneVM_Task;
  CloneVM_TaskResponse: CloneVM_TaskResponse;
  ContinueRetrievePropertiesEx: ContinueRetrievePropertiesEx;
  ContinueRetrievePropertiesExResponse: ContinueRetrievePropertiesExResponse;
  CreateVM_Task: CreateVM_Task;
  CreateVM_TaskResponse: CreateVM_TaskResponse;
  Description: Description;
  Destroy_Task: Destroy_Task;
  Destroy_TaskResponse: Destroy_TaskResponse;
  DuplicateName: DuplicateName;
  DynamicProperty: DynamicProperty;
  FindAllByUuid: FindAllByUuid;
  FindAllByUuidResponse: FindAllByUuidResponse;
  FindByInventoryPath: FindByInventoryPath;
  FindByInventoryPathResponse: FindByInventoryPathResponse;
  FindChild: FindChild;
  FindChildResponse: FindChildResponse;
  ID: ID;
  InvalidArgument: InvalidArgument;
  InvalidPowerState: InvalidPowerState;
  InvalidProperty: InvalidProperty;
  InvalidRequest: InvalidRequest;
  InvalidState: InvalidState;
  LocalizableMessage: LocalizableMessage;
  LocalizedMethodFault: LocalizedMethodFault;
  Login: Login;
  LoginResponse: LoginResponse;
  Logout: Logout;
  ManagedByInfo: ManagedByInfo;
  ManagedObjectNotFound: ManagedObjectNotFound;
  MethodFault: MethodFault;
  MethodNotFound: MethodNotFound;
  MissingProperty: MissingProperty;
  NoPermission: NoPermission;
  ObjectContent: ObjectContent;
  ObjectSpec: ObjectSpec;
  OptionValue: OptionValue;
  ParaVirtualSCSIController: ParaVirtualSCSIController;
  PowerOffVM_Task: PowerOffVM_Task;
  PowerOffVM_TaskResponse: PowerOffVM_TaskResponse;
  PowerOnVM_Task: PowerOnVM_Task;
  PowerOnVM_TaskResponse: PowerOnVM_TaskResponse;
  PropertyFilterSpec: PropertyFilterSpec;
  PropertySpec: PropertySpec;
  RebootGuest: RebootGuest;
  ReconfigVM_Task: ReconfigVM_Task;
  ReconfigVM_TaskResponse: ReconfigVM_TaskResponse;
  ResetVM_Task: ResetVM_Task;
  ResetVM_TaskResponse: ResetVM_TaskResponse;
  ResourceAllocationInfo: ResourceAllocationInfo;
  RetrieveOptions: RetrieveOptions;
  RetrievePropertiesEx: RetrievePropertiesEx;
  RetrievePropertiesExResponse: RetrievePropertiesExResponse;
  RetrieveResult: RetrieveResult;
  RetrieveServiceContent: RetrieveServiceContent;
  RetrieveServiceContentResponse: RetrieveServiceContentResponse;
  RuntimeFault: RuntimeFault;
  SecurityError: SecurityError;
  SelectionSpec: SelectionSpec;
  ServiceContent: ServiceContent;
  ShutdownGuest: ShutdownGuest;
  StandbyGuest: StandbyGuest;
  SuspendVM_Task: SuspendVM_Task;
  SuspendVM_TaskResponse: SuspendVM_TaskResponse;
  SystemError: SystemError;
  TaskInProgress: TaskInProgress;
  TaskInfo: TaskInfo;
  TraversalSpec: TraversalSpec;
  UserSession: UserSession;
  VimFault: VimFault;
  VirtualController: VirtualController;
  VirtualDevice: VirtualDevice;
  VirtualDeviceBackingInfo: VirtualDeviceBackingInfo;
  VirtualDeviceConfigSpec: VirtualDeviceConfigSpec;
  VirtualDeviceFileBackingInfo: VirtualDeviceFileBackingInfo;
  VirtualDisk: VirtualDisk;
  VirtualDiskFlatVer2BackingInfo: VirtualDiskFlatVer2BackingInfo;
  VirtualHardware: VirtualHardware;
  VirtualMachineCloneSpec: VirtualMachineCloneSpec;
  VirtualMachineConfigSpec: VirtualMachineConfigSpec;
  VirtualMachineFileInfo: VirtualMachineFileInfo;
  VirtualMachineRelocateSpec: VirtualMachineRelocateSpec;
  VirtualSCSIController: VirtualSCSIController;
}
