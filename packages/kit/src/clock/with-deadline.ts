/** Rejects with `expired()` if `work` has not settled after `ms` milliseconds. `work` itself continues. */
export function withDeadline<T>(work: Promise<T>, ms: number, expired: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(expired()), Math.max(0, ms))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Resolves when `work` is fulfilled or rejected, or after `ms` milliseconds, for clean-up that must not hang. */
export async function waitUntilSettled(work: Promise<unknown>, ms: number): Promise<'settled' | 'expired'> {
  const outcome = work.then(
    () => 'settled' as const,
    () => 'settled' as const,
  )
  return withDeadline(outcome, ms, () => new Error('expired')).catch(() => 'expired')
}
