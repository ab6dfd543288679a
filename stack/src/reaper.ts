import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { identify, type ProcessIdentity } from './process-identity.ts'

/**
 * Starts the reaper: a process that stops the parts of this process when this process has ended, even by a kill -9. The
 * reaper notices the end because the system closes the IPC channel.
 */
export function startReaper(dataDir: string): ProcessIdentity | undefined {
  const owner = identify(process.pid)
  if (owner === undefined) return undefined
  const program = fileURLToPath(new URL('./reaper-main.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=32', program, dataDir, String(owner.pid), owner.startTime],
    {
      // A separate process group, so that Ctrl-C does not end the reaper before the parts.
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
    },
  )
  child.on('error', () => {}) // seen by the missing pid
  child.channel?.unref()
  child.unref()
  return child.pid === undefined ? undefined : identify(child.pid)
}
