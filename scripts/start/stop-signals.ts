/**
 * Calls back once when this process is asked to stop: by a signal, or because the bootstrap that started it is gone.
 * One Ctrl-C arrives up to three times (terminal, npm, bootstrap), so what follows within two seconds is the same wish;
 * a later one is impatience.
 */
export function onStopWish(stop: (why: string) => void, hurry: () => void): void {
  let firstAtMs: number | undefined
  const wish = (why: string) => {
    if (firstAtMs === undefined) {
      firstAtMs = performance.now()
      stop(why)
    } else if (performance.now() - firstAtMs > 2_000) {
      hurry()
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => wish(signal))
  process.once('disconnect', () => wish('the starting process is gone'))
  process.channel?.unref()
}
