import { once } from 'node:events'
import { join } from 'node:path'
import { stopPartsOwnedBy } from './embedded-stack.ts'
import { withLock } from './exclusive-lock.ts'

/**
 * Time between SIGTERM and SIGKILL, in milliseconds. Stored data survives a SIGKILL, and the parts should end within 2
 * s.
 */
const GRACE_MS = 1_000

const [dataDir = '', pid = '', startTime = ''] = process.argv.slice(2)

if (process.connected) await once(process, 'disconnect')

// The lock, because a later start may be adopting parts now. Adopted parts have another owner and keep running.
await withLock(join(dataDir, 'lock'), { timeoutMs: 60_000 }, () =>
  stopPartsOwnedBy({ pid: Number(pid), startTime }, dataDir, GRACE_MS),
)
