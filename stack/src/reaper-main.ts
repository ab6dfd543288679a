import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stopPartsOwnedBy } from './embedded-stack.ts'
import { withLock } from './exclusive-lock.ts'
import { isAlive } from './process-identity.ts'

const [dataDir = '', pid = '', startTime = ''] = process.argv.slice(2)
const owner = { pid: Number(pid), startTime }

while (isAlive(owner)) await sleep(500)

// A later start may be taking parts over right now: those have another owner afterwards, and stay.
await withLock(join(dataDir, 'lock'), { timeoutMs: 60_000 }, () => stopPartsOwnedBy(owner, dataDir, 3_000))
