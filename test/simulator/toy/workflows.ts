export { reconcileWidget } from './reconcile.ts';
