/**
 * Calls `stop` once when this process should stop: on a signal, or when the bootstrap that started it has ended. Calls `hurry`
 * on a signal more than two seconds later. One Ctrl-C arrives up to three times: from the terminal, npm and the bootstrap.
 */
export function onStopRequest(stop: (why: string) => void, hurry: () => void): void {
  let firstAtMs: number | undefined
  const request = (why: string) => {
    if (firstAtMs === undefined) {
      firstAtMs = performance.now()
      stop(why)
    } else if (performance.now() - firstAtMs > 2_000) {
      hurry()
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => request(signal))
  process.once('disconnect', () => request('the bootstrap has ended'))
  process.channel?.unref()
}
