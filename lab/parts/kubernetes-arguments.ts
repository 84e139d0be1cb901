import { join } from 'node:path';

/**
 * etcd listens on UNIX sockets in the part's private directory only: it has no authentication, and an open port of
 * loopback would let every local user pass by RBAC. The names are relative to the working directory, because a path
 * longer than 107 bytes cannot be bound; etcd insists on something of the form of a port.
 */
export const ETCD_SOCKET = 'etcd.sock:0';
const ETCD_PEER_SOCKET = 'etcd-peer.sock:0';

export function etcdArguments(): string[] {
  return [
    '--name=lab',
    '--data-dir=etcd',
    // A lab's data need not survive a power cut, and it survives a kill without fsync.
    '--unsafe-no-fsync',
    `--listen-client-urls=unix://${ETCD_SOCKET}`,
    `--advertise-client-urls=unix://${ETCD_SOCKET}`,
    `--listen-peer-urls=unix://${ETCD_PEER_SOCKET}`,
    `--initial-advertise-peer-urls=unix://${ETCD_PEER_SOCKET}`,
    `--initial-cluster=lab=unix://${ETCD_PEER_SOCKET}`,
    '--log-level=warn',
  ];
}

export function kubeApiserverArguments(dir: string, port: number): string[] {
  const pki = join(dir, 'pki');
  return [
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${pki}`,
    `--etcd-servers=unix://${ETCD_SOCKET}`,
    `--token-auth-file=${join(pki, 'tokens.csv')}`,
    '--anonymous-auth=false',
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(pki, 'service-account.pub')}`,
    `--service-account-signing-key-file=${join(pki, 'service-account.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--profiling=false',
  ];
}

export function kubeControllerManagerArguments(dir: string, kubeconfig: string): string[] {
  const controllers = [
    'serviceaccount-controller',
    'serviceaccount-token-controller',
    'root-ca-certificate-publisher-controller',
    'namespace-controller',
    'garbage-collector-controller',
    'clusterrole-aggregation-controller',
    'persistentvolume-binder-controller',
    'persistentvolume-expander-controller',
    'persistentvolumeclaim-protection-controller',
    'persistentvolume-protection-controller',
    'resourcequota-controller',
    'ttl-after-finished-controller',
  ];
  return [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    // With the manager's own identity for all, the certificate publisher and the role aggregation get 403.
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${join(dir, 'pki', 'service-account.key')}`,
    `--root-ca-file=${join(dir, 'pki', 'apiserver.crt')}`,
    // Its default is below /usr/libexec, outside of the lab.
    `--flex-volume-plugin-dir=${join(dir, 'flex-volumes')}`,
    '--profiling=false',
    `--controllers=${controllers.join(',')}`,
  ];
}
