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

export interface ArrayUpdateSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  operation: string;
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

export interface ClusterAction {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface ClusterRecommendation {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  action?: AnyClusterAction[];
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

export interface CopyDatastoreFile_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  sourceName: string;
  sourceDatacenter?: ManagedObjectReference;
  destinationName: string;
  destinationDatacenter?: ManagedObjectReference;
  force?: boolean;
}

export interface CopyDatastoreFile_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface CopyVirtualDisk_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  sourceName: string;
  sourceDatacenter?: ManagedObjectReference;
  destName: string;
  destDatacenter?: ManagedObjectReference;
  destSpec?: AnyVirtualDiskSpec;
  force?: boolean;
}

export interface CopyVirtualDisk_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface CreateFilter {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  spec: PropertyFilterSpec;
  partialUpdates: boolean;
}

export interface CreateFilterResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface CreateFolder {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
}

export interface CreateFolderResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface CreatePropertyCollector {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface CreatePropertyCollectorResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface CreateResourcePool {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  spec: ResourceConfigSpec;
}

export interface CreateResourcePoolResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
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

export interface CryptoKeyId {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  keyId: string;
  providerId?: KeyProviderId;
}

export interface CustomFieldDef {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: number;
  name: string;
}

export interface CustomFieldStringValue extends CustomFieldValue {
  value: string;
}

export interface CustomFieldValue {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: number;
}

export interface CustomizationAdapterMapping {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  macAddress?: string;
  adapter: CustomizationIPSettings;
}

export interface CustomizationDhcpIpGenerator extends CustomizationIpGenerator {
}

export interface CustomizationDhcpIpV6Generator extends CustomizationIpV6Generator {
}

export interface CustomizationFixedIp extends CustomizationIpGenerator {
  ipAddress: string;
}

export interface CustomizationFixedIpV6 extends CustomizationIpV6Generator {
  ipAddress: string;
  subnetMask: number;
}

export interface CustomizationFixedName extends CustomizationName {
  name: string;
}

export interface CustomizationGlobalIPSettings {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  dnsSuffixList?: string[];
  dnsServerList?: string[];
}

export interface CustomizationGuiRunOnce {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  commandList?: string[];
}

export interface CustomizationGuiUnattended {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  password?: CustomizationPassword;
  timeZone: number;
  autoLogon: boolean;
  autoLogonCount: number;
}

export interface CustomizationIPSettings {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ip: AnyCustomizationIpGenerator;
  subnetMask?: string;
  gateway?: string[];
  ipV6Spec?: CustomizationIPSettingsIpV6AddressSpec;
  dnsServerList?: string[];
  dnsDomain?: string;
}

export interface CustomizationIPSettingsIpV6AddressSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ip?: AnyCustomizationIpV6Generator[];
  gateway?: string[];
}

export interface CustomizationIdentification {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  joinWorkgroup?: string;
  joinDomain?: string;
  domainAdmin?: string;
  domainAdminPassword?: CustomizationPassword;
  domainOU?: string;
}

export interface CustomizationIdentitySettings {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface CustomizationIpGenerator {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface CustomizationIpV6Generator {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface CustomizationLicenseFilePrintData {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  autoMode: string;
  autoUsers?: number;
}

export interface CustomizationLinuxOptions extends CustomizationOptions {
}

export interface CustomizationLinuxPrep extends CustomizationIdentitySettings {
  hostName: AnyCustomizationName;
  domain: string;
  timeZone?: string;
  hwClockUTC?: boolean;
  scriptText?: string;
  resetPassword?: boolean;
  password?: CustomizationPassword;
}

export interface CustomizationName {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface CustomizationOptions {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface CustomizationPassword {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  value: string;
  plainText: boolean;
}

export interface CustomizationSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  options?: AnyCustomizationOptions;
  identity: AnyCustomizationIdentitySettings;
  globalIPSettings: CustomizationGlobalIPSettings;
  nicSettingMap?: CustomizationAdapterMapping[];
}

export interface CustomizationSysprep extends CustomizationIdentitySettings {
  guiUnattended: CustomizationGuiUnattended;
  userData: CustomizationUserData;
  guiRunOnce?: CustomizationGuiRunOnce;
  identification: CustomizationIdentification;
  licenseFilePrintData?: CustomizationLicenseFilePrintData;
  scriptText?: string;
  resetPassword?: boolean;
}

export interface CustomizationSysprepText extends CustomizationIdentitySettings {
  value: string;
}

export interface CustomizationUserData {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  fullName: string;
  orgName: string;
  computerName: AnyCustomizationName;
  productId: string;
}

export interface CustomizationWinOptions extends CustomizationOptions {
  changeSID: boolean;
  deleteAccounts: boolean;
  reboot?: string;
}

export interface CustomizeVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  spec: CustomizationSpec;
}

export interface CustomizeVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface DatastoreHostMount {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: ManagedObjectReference;
  mountInfo: HostMountInfo;
}

export interface DeleteDatastoreFile_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  datacenter?: ManagedObjectReference;
}

export interface DeleteDatastoreFile_TaskResponse {
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

export interface DistributedVirtualSwitchPortConnection {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  switchUuid: string;
  portgroupKey?: string;
  portKey?: string;
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

export interface Event {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: number;
  createdTime: string;
}

export interface EventFilterSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  entity?: EventFilterSpecByEntity;
  eventTypeId?: string[];
  maxCount?: number;
}

export interface EventFilterSpecByEntity {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  entity: ManagedObjectReference;
  recursion: string;
}

export interface FileFault extends VimFault {
  file: string;
}

export interface FileInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  path: string;
  fileSize?: number;
}

export interface FileQueryFlags {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  fileType: boolean;
  fileSize: boolean;
  modification: boolean;
  fileOwner: boolean;
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

export interface GuestInfoCustomizationInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  customizationStatus: string;
  errorMsg?: string;
}

export interface GuestNicInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ipAddress?: string[];
  macAddress?: string;
  deviceConfigId: number;
  dnsConfig?: NetDnsConfigInfo;
  ipConfig?: NetIpConfigInfo;
}

export interface GuestStackInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  dnsConfig?: NetDnsConfigInfo;
  ipRouteConfig?: NetIpRouteConfigInfo;
  ipStackConfig?: KeyValue[];
  dhcpConfig?: NetDhcpConfigInfo;
}

export interface HostDatastoreBrowserSearchResults {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  file?: AnyFileInfo[];
}

export interface HostDatastoreBrowserSearchSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  details?: FileQueryFlags;
  matchPattern?: string[];
}

export interface HostMountInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  accessMode: string;
  mounted?: boolean;
  accessible?: boolean;
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

export interface KeyProviderId {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  id: string;
}

export interface KeyValue {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: string;
  value: string;
}

export interface LatencySensitivity {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  level: string;
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

export interface MakeDirectory {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  datacenter?: ManagedObjectReference;
  createParentDirectories?: boolean;
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

export interface MoveDatastoreFile_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  sourceName: string;
  sourceDatacenter?: ManagedObjectReference;
  destinationName: string;
  destinationDatacenter?: ManagedObjectReference;
  force?: boolean;
}

export interface MoveDatastoreFile_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface MoveVirtualDisk_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  sourceName: string;
  sourceDatacenter?: ManagedObjectReference;
  destName: string;
  destDatacenter?: ManagedObjectReference;
  force?: boolean;
}

export interface MoveVirtualDisk_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface NetDhcpConfigInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ipv6?: NetDhcpConfigInfoDhcpOptions;
  ipv4?: NetDhcpConfigInfoDhcpOptions;
}

export interface NetDhcpConfigInfoDhcpOptions {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  enable: boolean;
  config?: KeyValue[];
}

export interface NetDnsConfigInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  dhcp: boolean;
  hostName: string;
  domainName: string;
  ipAddress?: string[];
  searchDomain?: string[];
}

export interface NetIpConfigInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ipAddress?: NetIpConfigInfoIpAddress[];
  dhcp?: NetDhcpConfigInfo;
  autoConfigurationEnabled?: boolean;
}

export interface NetIpConfigInfoIpAddress {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ipAddress: string;
  prefixLength: number;
  origin?: string;
  state?: string;
  lifetime?: string;
}

export interface NetIpRouteConfigInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ipRoute?: NetIpRouteConfigInfoIpRoute[];
}

export interface NetIpRouteConfigInfoGateway {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  ipAddress?: string;
  device?: string;
}

export interface NetIpRouteConfigInfoIpRoute {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  network: string;
  prefixLength: number;
  gateway: NetIpRouteConfigInfoGateway;
}

export interface NetworkSummary {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  accessible: boolean;
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

export interface ObjectUpdate {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  kind: string;
  obj: ManagedObjectReference;
  changeSet?: PropertyChange[];
  missingSet?: MissingProperty[];
}

export interface OpaqueNetworkSummary extends NetworkSummary {
  opaqueNetworkId: string;
  opaqueNetworkType: string;
}

export interface OptionValue {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: string;
  value: AnyValue;
}

export interface ParaVirtualSCSIController extends VirtualSCSIController {
}

export interface PodDiskLocator {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  diskId: number;
  diskBackingInfo?: AnyVirtualDeviceBackingInfo;
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

export interface PromoteDisks_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  unlink: boolean;
  disks?: VirtualDisk[];
}

export interface PromoteDisks_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface PropertyChange {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  op: string;
  val: AnyValue;
}

export interface PropertyFilterSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  propSet?: PropertySpec[];
  objectSet?: ObjectSpec[];
  reportMissingObjectsInResults?: boolean;
}

export interface PropertyFilterUpdate {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  filter: ManagedObjectReference;
  objectSet?: ObjectUpdate[];
}

export interface PropertySpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  type: string;
  all?: boolean;
  pathSet?: string[];
}

export interface QueryEvents {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  filter: EventFilterSpec;
}

export interface QueryEventsResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval?: AnyEvent[];
}

export interface QueryVirtualDiskUuid {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name: string;
  datacenter?: ManagedObjectReference;
}

export interface QueryVirtualDiskUuidResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: string;
}

export interface RebootGuest {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface RecommendDatastores {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  storageSpec: StoragePlacementSpec;
}

export interface RecommendDatastoresResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: StoragePlacementResult;
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
  expandableReservation?: boolean;
  limit?: number;
  shares?: SharesInfo;
}

export interface ResourceConfigSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  cpuAllocation: ResourceAllocationInfo;
  memoryAllocation: ResourceAllocationInfo;
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

export interface SearchDatastore_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  datastorePath: string;
  searchSpec?: HostDatastoreBrowserSearchSpec;
}

export interface SearchDatastore_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
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
  eventManager?: ManagedObjectReference;
  taskManager?: ManagedObjectReference;
  customFieldsManager?: ManagedObjectReference;
  searchIndex?: ManagedObjectReference;
  fileManager?: ManagedObjectReference;
  virtualDiskManager?: ManagedObjectReference;
  storageResourceManager?: ManagedObjectReference;
}

export interface SharesInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  shares: number;
  level: string;
}

export interface ShutdownGuest {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface StandbyGuest {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface StorageDrsPodSelectionSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  initialVmConfig?: VmPodConfigForPlacement[];
  storagePod?: ManagedObjectReference;
}

export interface StoragePlacementAction extends ClusterAction {
  destination: ManagedObjectReference;
}

export interface StoragePlacementResult {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  recommendations?: ClusterRecommendation[];
}

export interface StoragePlacementSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  type: string;
  podSelectionSpec: StorageDrsPodSelectionSpec;
  configSpec?: VirtualMachineConfigSpec;
  resourcePool?: ManagedObjectReference;
  folder?: ManagedObjectReference;
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

export interface TagId {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  uuid?: string;
}

export interface TagSpec extends ArrayUpdateSpec {
  id: TagId;
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
  activationId?: string;
}

export interface TraversalSpec extends SelectionSpec {
  type: string;
  path: string;
  skip?: boolean;
  selectSet?: AnySelectionSpec[];
}

export interface UpdateConfig {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  name?: string;
  config?: ResourceConfigSpec;
}

export interface UpdateSet {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  version: string;
  filterSet?: PropertyFilterUpdate[];
  truncated?: boolean;
}

export interface UpgradeVM_Task {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  version?: string;
}

export interface UpgradeVM_TaskResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval: ManagedObjectReference;
}

export interface UserSession {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: string;
}

export interface VAppPropertyInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: number;
  classId?: string;
  instanceId?: string;
  id?: string;
  category?: string;
  label?: string;
  type?: string;
  typeReference?: string;
  userConfigurable?: boolean;
  defaultValue?: string;
  value?: string;
  description?: string;
}

export interface VAppPropertySpec extends ArrayUpdateSpec {
  info?: VAppPropertyInfo;
}

export interface VimFault extends MethodFault {
}

export interface VirtualAHCIController extends VirtualSATAController {
}

export interface VirtualBusLogicController extends VirtualSCSIController {
}

export interface VirtualCdrom extends VirtualDevice {
}

export interface VirtualCdromIsoBackingInfo extends VirtualDeviceFileBackingInfo {
}

export interface VirtualCdromRemotePassthroughBackingInfo extends VirtualDeviceRemoteDeviceBackingInfo {
  exclusive: boolean;
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
  connectable?: VirtualDeviceConnectInfo;
  controllerKey?: number;
  unitNumber?: number;
  numaNode?: number;
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
  profile?: AnyVirtualMachineProfileSpec[];
}

export interface VirtualDeviceConnectInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  startConnected: boolean;
  allowGuestControl: boolean;
  connected: boolean;
}

export interface VirtualDeviceDeviceBackingInfo extends VirtualDeviceBackingInfo {
  deviceName: string;
}

export interface VirtualDeviceFileBackingInfo extends VirtualDeviceBackingInfo {
  fileName: string;
  datastore?: ManagedObjectReference;
}

export interface VirtualDeviceRemoteDeviceBackingInfo extends VirtualDeviceBackingInfo {
  deviceName: string;
}

export interface VirtualDisk extends VirtualDevice {
  capacityInKB: number;
  capacityInBytes?: number;
  vDiskId?: ID;
}

export interface VirtualDiskFlatVer2BackingInfo extends VirtualDeviceFileBackingInfo {
  diskMode: string;
  thinProvisioned?: boolean;
  eagerlyScrub?: boolean;
  uuid?: string;
  parent?: VirtualDiskFlatVer2BackingInfo;
  sharing?: string;
  keyId?: CryptoKeyId;
}

export interface VirtualDiskRawDiskMappingVer1BackingInfo extends VirtualDeviceFileBackingInfo {
  diskMode?: string;
  uuid?: string;
}

export interface VirtualDiskSeSparseBackingInfo extends VirtualDeviceFileBackingInfo {
  diskMode: string;
  uuid?: string;
  parent?: VirtualDiskSeSparseBackingInfo;
}

export interface VirtualDiskSparseVer2BackingInfo extends VirtualDeviceFileBackingInfo {
  diskMode: string;
  uuid?: string;
  parent?: VirtualDiskSparseVer2BackingInfo;
}

export interface VirtualDiskSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  diskType: string;
  adapterType: string;
}

export interface VirtualE1000 extends VirtualEthernetCard {
}

export interface VirtualE1000e extends VirtualEthernetCard {
}

export interface VirtualEthernetCard extends VirtualDevice {
  addressType?: string;
  macAddress?: string;
  wakeOnLanEnabled?: boolean;
}

export interface VirtualEthernetCardDistributedVirtualPortBackingInfo extends VirtualDeviceBackingInfo {
  port: DistributedVirtualSwitchPortConnection;
}

export interface VirtualEthernetCardNetworkBackingInfo extends VirtualDeviceDeviceBackingInfo {
  network?: ManagedObjectReference;
}

export interface VirtualEthernetCardOpaqueNetworkBackingInfo extends VirtualDeviceBackingInfo {
  opaqueNetworkId: string;
  opaqueNetworkType: string;
}

export interface VirtualHardware {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  numCPU: number;
  numCoresPerSocket?: number;
  memoryMB: number;
  device?: AnyVirtualDevice[];
  simultaneousThreads?: number;
}

export interface VirtualIDEController extends VirtualController {
}

export interface VirtualLsiLogicController extends VirtualSCSIController {
}

export interface VirtualLsiLogicSASController extends VirtualSCSIController {
}

export interface VirtualMachineBootOptions {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  bootDelay?: number;
  enterBIOSSetup?: boolean;
  efiSecureBootEnabled?: boolean;
  bootRetryEnabled?: boolean;
  bootRetryDelay?: number;
  bootOrder?: AnyVirtualMachineBootOptionsBootableDevice[];
  networkBootProtocol?: string;
}

export interface VirtualMachineBootOptionsBootableCdromDevice extends VirtualMachineBootOptionsBootableDevice {
}

export interface VirtualMachineBootOptionsBootableDevice {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface VirtualMachineBootOptionsBootableDiskDevice extends VirtualMachineBootOptionsBootableDevice {
  deviceKey: number;
}

export interface VirtualMachineBootOptionsBootableEthernetDevice extends VirtualMachineBootOptionsBootableDevice {
  deviceKey: number;
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
  flags?: VirtualMachineFlagInfo;
  numCPUs?: number;
  numCoresPerSocket?: number;
  memoryMB?: number;
  memoryHotAddEnabled?: boolean;
  cpuHotAddEnabled?: boolean;
  deviceChange?: AnyVirtualDeviceConfigSpec[];
  cpuAllocation?: ResourceAllocationInfo;
  memoryAllocation?: ResourceAllocationInfo;
  latencySensitivity?: LatencySensitivity;
  extraConfig?: AnyOptionValue[];
  bootOptions?: VirtualMachineBootOptions;
  vAppConfig?: AnyVmConfigSpec;
  changeTrackingEnabled?: boolean;
  firmware?: string;
  managedBy?: ManagedByInfo;
  memoryReservationLockedToMax?: boolean;
  nestedHVEnabled?: boolean;
  vPMCEnabled?: boolean;
  vmProfile?: AnyVirtualMachineProfileSpec[];
  virtualNuma?: VirtualMachineVirtualNuma;
  simultaneousThreads?: number;
  tagSpecs?: TagSpec[];
}

export interface VirtualMachineDefinedProfileSpec extends VirtualMachineProfileSpec {
  profileId: string;
}

export interface VirtualMachineFileInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  vmPathName?: string;
}

export interface VirtualMachineFileLayoutExDiskLayout {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: number;
  virtualDiskFormat?: string;
  chain?: VirtualMachineFileLayoutExDiskUnit[];
}

export interface VirtualMachineFileLayoutExDiskUnit {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  fileKey?: number[];
}

export interface VirtualMachineFileLayoutExFileInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  key: number;
  name: string;
  type: string;
  size: number;
  uniqueSize?: number;
}

export interface VirtualMachineFlagInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  vvtdEnabled?: boolean;
}

export interface VirtualMachineProfileSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
}

export interface VirtualMachineRelocateSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  datastore?: ManagedObjectReference;
  diskMoveType?: string;
  pool?: ManagedObjectReference;
  host?: ManagedObjectReference;
  disk?: VirtualMachineRelocateSpecDiskLocator[];
  profile?: AnyVirtualMachineProfileSpec[];
}

export interface VirtualMachineRelocateSpecDiskLocator {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  diskId: number;
  datastore: ManagedObjectReference;
  diskBackingInfo?: AnyVirtualDeviceBackingInfo;
  profile?: AnyVirtualMachineProfileSpec[];
}

export interface VirtualMachineSnapshotInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  currentSnapshot?: ManagedObjectReference;
  rootSnapshotList?: VirtualMachineSnapshotTree[];
}

export interface VirtualMachineSnapshotTree {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  snapshot: ManagedObjectReference;
  name: string;
  childSnapshotList?: VirtualMachineSnapshotTree[];
}

export interface VirtualMachineVirtualNuma {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  coresPerNumaNode?: number;
}

export interface VirtualMachineVirtualNumaInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  coresPerNumaNode?: number;
  autoCoresPerNumaNode?: boolean;
}

export interface VirtualNVMEController extends VirtualController {
  sharedBus?: string;
}

export interface VirtualPCIPassthrough extends VirtualDevice {
}

export interface VirtualPCIPassthroughAllowedDevice {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  vendorId: number;
  deviceId: number;
}

export interface VirtualPCIPassthroughDynamicBackingInfo extends VirtualDeviceDeviceBackingInfo {
  allowedDevice?: VirtualPCIPassthroughAllowedDevice[];
  customLabel?: string;
}

export interface VirtualPCIPassthroughPluginBackingInfo extends VirtualDeviceBackingInfo {
}

export interface VirtualPCIPassthroughVmiopBackingInfo extends VirtualPCIPassthroughPluginBackingInfo {
  vgpu?: string;
}

export interface VirtualPCNet32 extends VirtualEthernetCard {
}

export interface VirtualSATAController extends VirtualController {
}

export interface VirtualSCSIController extends VirtualController {
  sharedBus: string;
}

export interface VirtualSriovEthernetCard extends VirtualEthernetCard {
}

export interface VirtualTPM extends VirtualDevice {
}

export interface VirtualVmxnet extends VirtualEthernetCard {
}

export interface VirtualVmxnet2 extends VirtualVmxnet {
}

export interface VirtualVmxnet3 extends VirtualVmxnet {
  uptv2Enabled?: boolean;
}

export interface VmConfigInfo {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  property?: VAppPropertyInfo[];
  ovfEnvironmentTransport?: string[];
}

export interface VmConfigSpec {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  property?: VAppPropertySpec[];
  ovfEnvironmentTransport?: string[];
}

export interface VmPodConfigForPlacement {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  storagePod: ManagedObjectReference;
  disk?: PodDiskLocator[];
}

export interface WaitForUpdatesEx {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  version?: string;
  options?: WaitOptions;
}

export interface WaitForUpdatesExResponse {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  returnval?: UpdateSet;
}

export interface WaitOptions {
  /** Its type, where that is not plain from where it stands. */
  $type?: string;
  maxWaitSeconds?: number;
  maxObjectUpdates?: number;
}

export type AnyClusterAction = ClusterAction | StoragePlacementAction;
export type AnyCustomizationIdentitySettings = CustomizationIdentitySettings | CustomizationLinuxPrep | CustomizationSysprep | CustomizationSysprepText;
export type AnyCustomizationIpGenerator = CustomizationIpGenerator | CustomizationDhcpIpGenerator | CustomizationFixedIp;
export type AnyCustomizationIpV6Generator = CustomizationIpV6Generator | CustomizationDhcpIpV6Generator | CustomizationFixedIpV6;
export type AnyCustomizationName = CustomizationName | CustomizationFixedName;
export type AnyCustomizationOptions = CustomizationOptions | CustomizationLinuxOptions | CustomizationWinOptions;
export type AnyDescription = Description;
export type AnyEvent = Event;
export type AnyFileInfo = FileInfo;
export type AnyMethodFault = MethodFault | InvalidProperty | RuntimeFault | InvalidArgument | InvalidRequest | MethodNotFound | ManagedObjectNotFound | SecurityError | NoPermission | SystemError | VimFault | DuplicateName | FileFault | InvalidState | InvalidPowerState | TaskInProgress;
export type AnyOptionValue = OptionValue;
export type AnySelectionSpec = SelectionSpec | TraversalSpec;
export type AnyVirtualDevice = VirtualDevice | VirtualCdrom | VirtualController | VirtualIDEController | VirtualNVMEController | VirtualSATAController | VirtualAHCIController | VirtualSCSIController | ParaVirtualSCSIController | VirtualBusLogicController | VirtualLsiLogicController | VirtualLsiLogicSASController | VirtualDisk | VirtualEthernetCard | VirtualE1000 | VirtualE1000e | VirtualPCNet32 | VirtualSriovEthernetCard | VirtualVmxnet | VirtualVmxnet2 | VirtualVmxnet3 | VirtualPCIPassthrough | VirtualTPM;
export type AnyVirtualDeviceBackingInfo = VirtualDeviceBackingInfo | VirtualDeviceDeviceBackingInfo | VirtualEthernetCardNetworkBackingInfo | VirtualPCIPassthroughDynamicBackingInfo | VirtualDeviceFileBackingInfo | VirtualCdromIsoBackingInfo | VirtualDiskFlatVer2BackingInfo | VirtualDiskRawDiskMappingVer1BackingInfo | VirtualDiskSeSparseBackingInfo | VirtualDiskSparseVer2BackingInfo | VirtualDeviceRemoteDeviceBackingInfo | VirtualCdromRemotePassthroughBackingInfo | VirtualEthernetCardDistributedVirtualPortBackingInfo | VirtualEthernetCardOpaqueNetworkBackingInfo | VirtualPCIPassthroughPluginBackingInfo | VirtualPCIPassthroughVmiopBackingInfo;
export type AnyVirtualDeviceConfigSpec = VirtualDeviceConfigSpec;
export type AnyVirtualDiskSpec = VirtualDiskSpec;
export type AnyVirtualMachineBootOptionsBootableDevice = VirtualMachineBootOptionsBootableDevice | VirtualMachineBootOptionsBootableCdromDevice | VirtualMachineBootOptionsBootableDiskDevice | VirtualMachineBootOptionsBootableEthernetDevice;
export type AnyVirtualMachineProfileSpec = VirtualMachineProfileSpec | VirtualMachineDefinedProfileSpec;
export type AnyVmConfigSpec = VmConfigSpec;

/** By name, for values whose type the schema leaves open. */
export interface VimTypes {
  AboutInfo: AboutInfo;
  ArrayUpdateSpec: ArrayUpdateSpec;
  CancelTask: CancelTask;
  CloneVM_Task: CloneVM_Task;
  CloneVM_TaskResponse: CloneVM_TaskResponse;
  ClusterAction: ClusterAction;
  ClusterRecommendation: ClusterRecommendation;
  ContinueRetrievePropertiesEx: ContinueRetrievePropertiesEx;
  ContinueRetrievePropertiesExResponse: ContinueRetrievePropertiesExResponse;
  CopyDatastoreFile_Task: CopyDatastoreFile_Task;
  CopyDatastoreFile_TaskResponse: CopyDatastoreFile_TaskResponse;
  CopyVirtualDisk_Task: CopyVirtualDisk_Task;
  CopyVirtualDisk_TaskResponse: CopyVirtualDisk_TaskResponse;
  CreateFilter: CreateFilter;
  CreateFilterResponse: CreateFilterResponse;
  CreateFolder: CreateFolder;
  CreateFolderResponse: CreateFolderResponse;
  CreatePropertyCollector: CreatePropertyCollector;
  CreatePropertyCollectorResponse: CreatePropertyCollectorResponse;
  CreateResourcePool: CreateResourcePool;
  CreateResourcePoolResponse: CreateResourcePoolResponse;
  CreateVM_Task: CreateVM_Task;
  CreateVM_TaskResponse: CreateVM_TaskResponse;
  CryptoKeyId: CryptoKeyId;
  CustomFieldDef: CustomFieldDef;
  CustomFieldStringValue: CustomFieldStringValue;
  CustomFieldValue: CustomFieldValue;
  CustomizationAdapterMapping: CustomizationAdapterMapping;
  CustomizationDhcpIpGenerator: CustomizationDhcpIpGenerator;
  CustomizationDhcpIpV6Generator: CustomizationDhcpIpV6Generator;
  CustomizationFixedIp: CustomizationFixedIp;
  CustomizationFixedIpV6: CustomizationFixedIpV6;
  CustomizationFixedName: CustomizationFixedName;
  CustomizationGlobalIPSettings: CustomizationGlobalIPSettings;
  CustomizationGuiRunOnce: CustomizationGuiRunOnce;
  CustomizationGuiUnattended: CustomizationGuiUnattended;
  CustomizationIPSettings: CustomizationIPSettings;
  CustomizationIPSettingsIpV6AddressSpec: CustomizationIPSettingsIpV6AddressSpec;
  CustomizationIdentification: CustomizationIdentification;
  CustomizationIdentitySettings: CustomizationIdentitySettings;
  CustomizationIpGenerator: CustomizationIpGenerator;
  CustomizationIpV6Generator: CustomizationIpV6Generator;
  CustomizationLicenseFilePrintData: CustomizationLicenseFilePrintData;
  CustomizationLinuxOptions: CustomizationLinuxOptions;
  CustomizationLinuxPrep: CustomizationLinuxPrep;
  CustomizationName: CustomizationName;
  CustomizationOptions: CustomizationOptions;
  CustomizationPassword: CustomizationPassword;
  CustomizationSpec: CustomizationSpec;
  CustomizationSysprep: CustomizationSysprep;
  CustomizationSysprepText: CustomizationSysprepText;
  CustomizationUserData: CustomizationUserData;
  CustomizationWinOptions: CustomizationWinOptions;
  CustomizeVM_Task: CustomizeVM_Task;
  CustomizeVM_TaskResponse: CustomizeVM_TaskResponse;
  DatastoreHostMount: DatastoreHostMount;
  DeleteDatastoreFile_Task: DeleteDatastoreFile_Task;
  DeleteDatastoreFile_TaskResponse: DeleteDatastoreFile_TaskResponse;
  Description: Description;
  Destroy_Task: Destroy_Task;
  Destroy_TaskResponse: Destroy_TaskResponse;
  DistributedVirtualSwitchPortConnection: DistributedVirtualSwitchPortConnection;
  DuplicateName: DuplicateName;
  DynamicProperty: DynamicProperty;
  Event: Event;
  EventFilterSpec: EventFilterSpec;
  EventFilterSpecByEntity: EventFilterSpecByEntity;
  FileFault: FileFault;
  FileInfo: FileInfo;
  FileQueryFlags: FileQueryFlags;
  FindAllByUuid: FindAllByUuid;
  FindAllByUuidResponse: FindAllByUuidResponse;
  FindByInventoryPath: FindByInventoryPath;
  FindByInventoryPathResponse: FindByInventoryPathResponse;
  FindChild: FindChild;
  FindChildResponse: FindChildResponse;
  GuestInfoCustomizationInfo: GuestInfoCustomizationInfo;
  GuestNicInfo: GuestNicInfo;
  GuestStackInfo: GuestStackInfo;
  HostDatastoreBrowserSearchResults: HostDatastoreBrowserSearchResults;
  HostDatastoreBrowserSearchSpec: HostDatastoreBrowserSearchSpec;
  HostMountInfo: HostMountInfo;
  ID: ID;
  InvalidArgument: InvalidArgument;
  InvalidPowerState: InvalidPowerState;
  InvalidProperty: InvalidProperty;
  InvalidRequest: InvalidRequest;
  InvalidState: InvalidState;
  KeyProviderId: KeyProviderId;
  KeyValue: KeyValue;
  LatencySensitivity: LatencySensitivity;
  LocalizableMessage: LocalizableMessage;
  LocalizedMethodFault: LocalizedMethodFault;
  Login: Login;
  LoginResponse: LoginResponse;
  Logout: Logout;
  MakeDirectory: MakeDirectory;
  ManagedByInfo: ManagedByInfo;
  ManagedObjectNotFound: ManagedObjectNotFound;
  MethodFault: MethodFault;
  MethodNotFound: MethodNotFound;
  MissingProperty: MissingProperty;
  MoveDatastoreFile_Task: MoveDatastoreFile_Task;
  MoveDatastoreFile_TaskResponse: MoveDatastoreFile_TaskResponse;
  MoveVirtualDisk_Task: MoveVirtualDisk_Task;
  MoveVirtualDisk_TaskResponse: MoveVirtualDisk_TaskResponse;
  NetDhcpConfigInfo: NetDhcpConfigInfo;
  NetDhcpConfigInfoDhcpOptions: NetDhcpConfigInfoDhcpOptions;
  NetDnsConfigInfo: NetDnsConfigInfo;
  NetIpConfigInfo: NetIpConfigInfo;
  NetIpConfigInfoIpAddress: NetIpConfigInfoIpAddress;
  NetIpRouteConfigInfo: NetIpRouteConfigInfo;
  NetIpRouteConfigInfoGateway: NetIpRouteConfigInfoGateway;
  NetIpRouteConfigInfoIpRoute: NetIpRouteConfigInfoIpRoute;
  NetworkSummary: NetworkSummary;
  NoPermission: NoPermission;
  ObjectContent: ObjectContent;
  ObjectSpec: ObjectSpec;
  ObjectUpdate: ObjectUpdate;
  OpaqueNetworkSummary: OpaqueNetworkSummary;
  OptionValue: OptionValue;
  ParaVirtualSCSIController: ParaVirtualSCSIController;
  PodDiskLocator: PodDiskLocator;
  PowerOffVM_Task: PowerOffVM_Task;
  PowerOffVM_TaskResponse: PowerOffVM_TaskResponse;
  PowerOnVM_Task: PowerOnVM_Task;
  PowerOnVM_TaskResponse: PowerOnVM_TaskResponse;
  PromoteDisks_Task: PromoteDisks_Task;
  PromoteDisks_TaskResponse: PromoteDisks_TaskResponse;
  PropertyChange: PropertyChange;
  PropertyFilterSpec: PropertyFilterSpec;
  PropertyFilterUpdate: PropertyFilterUpdate;
  PropertySpec: PropertySpec;
  QueryEvents: QueryEvents;
  QueryEventsResponse: QueryEventsResponse;
  QueryVirtualDiskUuid: QueryVirtualDiskUuid;
  QueryVirtualDiskUuidResponse: QueryVirtualDiskUuidResponse;
  RebootGuest: RebootGuest;
  RecommendDatastores: RecommendDatastores;
  RecommendDatastoresResponse: RecommendDatastoresResponse;
  ReconfigVM_Task: ReconfigVM_Task;
  ReconfigVM_TaskResponse: ReconfigVM_TaskResponse;
  ResetVM_Task: ResetVM_Task;
  ResetVM_TaskResponse: ResetVM_TaskResponse;
  ResourceAllocationInfo: ResourceAllocationInfo;
  ResourceConfigSpec: ResourceConfigSpec;
  RetrieveOptions: RetrieveOptions;
  RetrievePropertiesEx: RetrievePropertiesEx;
  RetrievePropertiesExResponse: RetrievePropertiesExResponse;
  RetrieveResult: RetrieveResult;
  RetrieveServiceContent: RetrieveServiceContent;
  RetrieveServiceContentResponse: RetrieveServiceContentResponse;
  RuntimeFault: RuntimeFault;
  SearchDatastore_Task: SearchDatastore_Task;
  SearchDatastore_TaskResponse: SearchDatastore_TaskResponse;
  SecurityError: SecurityError;
  SelectionSpec: SelectionSpec;
  ServiceContent: ServiceContent;
  SharesInfo: SharesInfo;
  ShutdownGuest: ShutdownGuest;
  StandbyGuest: StandbyGuest;
  StorageDrsPodSelectionSpec: StorageDrsPodSelectionSpec;
  StoragePlacementAction: StoragePlacementAction;
  StoragePlacementResult: StoragePlacementResult;
  StoragePlacementSpec: StoragePlacementSpec;
  SuspendVM_Task: SuspendVM_Task;
  SuspendVM_TaskResponse: SuspendVM_TaskResponse;
  SystemError: SystemError;
  TagId: TagId;
  TagSpec: TagSpec;
  TaskInProgress: TaskInProgress;
  TaskInfo: TaskInfo;
  TraversalSpec: TraversalSpec;
  UpdateConfig: UpdateConfig;
  UpdateSet: UpdateSet;
  UpgradeVM_Task: UpgradeVM_Task;
  UpgradeVM_TaskResponse: UpgradeVM_TaskResponse;
  UserSession: UserSession;
  VAppPropertyInfo: VAppPropertyInfo;
  VAppPropertySpec: VAppPropertySpec;
  VimFault: VimFault;
  VirtualAHCIController: VirtualAHCIController;
  VirtualBusLogicController: VirtualBusLogicController;
  VirtualCdrom: VirtualCdrom;
  VirtualCdromIsoBackingInfo: VirtualCdromIsoBackingInfo;
  VirtualCdromRemotePassthroughBackingInfo: VirtualCdromRemotePassthroughBackingInfo;
  VirtualController: VirtualController;
  VirtualDevice: VirtualDevice;
  VirtualDeviceBackingInfo: VirtualDeviceBackingInfo;
  VirtualDeviceConfigSpec: VirtualDeviceConfigSpec;
  VirtualDeviceConnectInfo: VirtualDeviceConnectInfo;
  VirtualDeviceDeviceBackingInfo: VirtualDeviceDeviceBackingInfo;
  VirtualDeviceFileBackingInfo: VirtualDeviceFileBackingInfo;
  VirtualDeviceRemoteDeviceBackingInfo: VirtualDeviceRemoteDeviceBackingInfo;
  VirtualDisk: VirtualDisk;
  VirtualDiskFlatVer2BackingInfo: VirtualDiskFlatVer2BackingInfo;
  VirtualDiskRawDiskMappingVer1BackingInfo: VirtualDiskRawDiskMappingVer1BackingInfo;
  VirtualDiskSeSparseBackingInfo: VirtualDiskSeSparseBackingInfo;
  VirtualDiskSparseVer2BackingInfo: VirtualDiskSparseVer2BackingInfo;
  VirtualDiskSpec: VirtualDiskSpec;
  VirtualE1000: VirtualE1000;
  VirtualE1000e: VirtualE1000e;
  VirtualEthernetCard: VirtualEthernetCard;
  VirtualEthernetCardDistributedVirtualPortBackingInfo: VirtualEthernetCardDistributedVirtualPortBackingInfo;
  VirtualEthernetCardNetworkBackingInfo: VirtualEthernetCardNetworkBackingInfo;
  VirtualEthernetCardOpaqueNetworkBackingInfo: VirtualEthernetCardOpaqueNetworkBackingInfo;
  VirtualHardware: VirtualHardware;
  VirtualIDEController: VirtualIDEController;
  VirtualLsiLogicController: VirtualLsiLogicController;
  VirtualLsiLogicSASController: VirtualLsiLogicSASController;
  VirtualMachineBootOptions: VirtualMachineBootOptions;
  VirtualMachineBootOptionsBootableCdromDevice: VirtualMachineBootOptionsBootableCdromDevice;
  VirtualMachineBootOptionsBootableDevice: VirtualMachineBootOptionsBootableDevice;
  VirtualMachineBootOptionsBootableDiskDevice: VirtualMachineBootOptionsBootableDiskDevice;
  VirtualMachineBootOptionsBootableEthernetDevice: VirtualMachineBootOptionsBootableEthernetDevice;
  VirtualMachineCloneSpec: VirtualMachineCloneSpec;
  VirtualMachineConfigSpec: VirtualMachineConfigSpec;
  VirtualMachineDefinedProfileSpec: VirtualMachineDefinedProfileSpec;
  VirtualMachineFileInfo: VirtualMachineFileInfo;
  VirtualMachineFileLayoutExDiskLayout: VirtualMachineFileLayoutExDiskLayout;
  VirtualMachineFileLayoutExDiskUnit: VirtualMachineFileLayoutExDiskUnit;
  VirtualMachineFileLayoutExFileInfo: VirtualMachineFileLayoutExFileInfo;
  VirtualMachineFlagInfo: VirtualMachineFlagInfo;
  VirtualMachineProfileSpec: VirtualMachineProfileSpec;
  VirtualMachineRelocateSpec: VirtualMachineRelocateSpec;
  VirtualMachineRelocateSpecDiskLocator: VirtualMachineRelocateSpecDiskLocator;
  VirtualMachineSnapshotInfo: VirtualMachineSnapshotInfo;
  VirtualMachineSnapshotTree: VirtualMachineSnapshotTree;
  VirtualMachineVirtualNuma: VirtualMachineVirtualNuma;
  VirtualMachineVirtualNumaInfo: VirtualMachineVirtualNumaInfo;
  VirtualNVMEController: VirtualNVMEController;
  VirtualPCIPassthrough: VirtualPCIPassthrough;
  VirtualPCIPassthroughAllowedDevice: VirtualPCIPassthroughAllowedDevice;
  VirtualPCIPassthroughDynamicBackingInfo: VirtualPCIPassthroughDynamicBackingInfo;
  VirtualPCIPassthroughPluginBackingInfo: VirtualPCIPassthroughPluginBackingInfo;
  VirtualPCIPassthroughVmiopBackingInfo: VirtualPCIPassthroughVmiopBackingInfo;
  VirtualPCNet32: VirtualPCNet32;
  VirtualSATAController: VirtualSATAController;
  VirtualSCSIController: VirtualSCSIController;
  VirtualSriovEthernetCard: VirtualSriovEthernetCard;
  VirtualTPM: VirtualTPM;
  VirtualVmxnet: VirtualVmxnet;
  VirtualVmxnet2: VirtualVmxnet2;
  VirtualVmxnet3: VirtualVmxnet3;
  VmConfigInfo: VmConfigInfo;
  VmConfigSpec: VmConfigSpec;
  VmPodConfigForPlacement: VmPodConfigForPlacement;
  WaitForUpdatesEx: WaitForUpdatesEx;
  WaitForUpdatesExResponse: WaitForUpdatesExResponse;
  WaitOptions: WaitOptions;
}
