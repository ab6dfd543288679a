/**
 * Preloaded into each service that the launcher starts (`node --import`), with an IPC channel to the launcher. When the launcher
 * ends, even by a kill -9, the service ends too: otherwise it would keep its ports and continue without anybody who stops it.
 */

/** Long enough to finish what is in flight. A service that is killed afterwards loses nothing: every step is crash-safe. */
const DRAIN_MS = 1_000

function end(): void {
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), DRAIN_MS).unref()
}

// The launcher may have ended before this file was loaded.
if (process.connected) process.once('disconnect', end)
else end()
process.channel?.unref()
