import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withLock } from './exclusive-lock.ts'
import { StackRecordFile } from './part-records.ts'
import { endProcess } from './process-end.ts'
import { isAlive } from './process-identity.ts'

const [dataDir = '', pid = '', startTime = ''] = process.argv.slice(2)
const owner = { pid: Number(pid), startTime }
const records = new StackRecordFile(dataDir)

while (isAlive(owner)) await sleep(500)

await withLock(join(dataDir, 'lock'), { timeoutMs: 60_000 }, async () => {
  // A later start may have taken parts over by now: those have another owner and stay.
  const orphans = records.partsOwnedBy(owner)
  const { parts } = records.read()
  await Promise.all(orphans.map(name => endProcess(parts[name]!, 3_000)))
  records.change(record => {
    for (const name of orphans) delete record.parts[name]
  })
})
