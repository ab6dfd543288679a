/** The four services, in the order in which they are shown. */
export const SERVICES = ['ingress', 'reconciler', 'notifier', 'admin-api'] as const
export type ServiceName = (typeof SERVICES)[number]
