import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { identify, type ProcessIdentity } from './process-identity.ts'

/** Starts the process that ends the owner's parts once the owner has ended. It survives the owner and whatever killed it. */
export function startReaper(dataDir: string, owner: ProcessIdentity): ProcessIdentity | undefined {
  const program = fileURLToPath(new URL('./reaper-main.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=32', program, dataDir, String(owner.pid), owner.startTime],
    {
      detached: true,
      stdio: 'ignore',
      env: {},
    },
  )
  child.unref()
  return child.pid === undefined ? undefined : identify(child.pid)
}
