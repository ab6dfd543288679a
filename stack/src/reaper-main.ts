import { once } from 'node:events'
import { join } from 'node:path'
import { stopPartsOwnedBy } from './embedded-stack.ts'
import { withLock } from './exclusive-lock.ts'

/** Between SIGTERM and SIGKILL. Stored data survives a SIGKILL; the parts should have ended within 2 s. */
const GRACE_MS = 1_000

const [dataDir = '', pid = '', startTime = ''] = process.argv.slice(2)

if (process.connected) await once(process, 'disconnect')

// A later start may be adopting parts at this moment. Those have another owner afterwards, and stay up.
await withLock(join(dataDir, 'lock'), { timeoutMs: 60_000 }, () =>
  stopPartsOwnedBy({ pid: Number(pid), startTime }, dataDir, GRACE_MS),
)
