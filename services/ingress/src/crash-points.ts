/** The places where a test kills this service (see kit's crashPoint), in the order in which a request reaches them. */
export const INGRESS_CRASH_POINTS = [
  /** The event is authenticated and queued, but not sent. The provider gets no answer and posts it again. */
  'ingress.before-send',
  /** The broker has the event, but the provider got no answer and posts it again. Both messages have the same message id. */
  'ingress.after-send',
] as const

export type IngressCrashPoint = (typeof INGRESS_CRASH_POINTS)[number]
