/** Every place where a test kills this service (see kit's crashPoint), in the order of a request. */
export const INGRESS_CRASH_POINTS = [
  /** Authenticated and queued, not yet sent: the provider gets no answer and posts again. */
  'ingress.before-send',
  /** The broker has it, the provider does not know: it posts again, and the message id tells the two apart. */
  'ingress.after-send',
] as const

export type IngressCrashPoint = (typeof INGRESS_CRASH_POINTS)[number]
