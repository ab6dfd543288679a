/**
 * Ends a service when the launcher that started it ends, even by kill -9. Otherwise the service would keep running and keep its
 * ports. The launcher loads this file into each service by `node --import` and gives the service an IPC channel.
 */

/**
 * Milliseconds to finish the work in flight. Afterwards the service is killed, which loses nothing, because every step is
 * crash-safe.
 */
const DRAIN_MS = 1_000

function end(): void {
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), DRAIN_MS).unref()
}

// The launcher may have ended before this file was loaded.
if (process.connected) process.once('disconnect', end)
else end()
process.channel?.unref()
