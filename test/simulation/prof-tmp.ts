import inspector from 'node:inspector'
import { writeFileSync } from 'node:fs'
import { replaceModules } from './world/globals.ts'
const out = process.argv[2] as string
const from = Number(process.argv[3]), n = Number(process.argv[4])
const realWrite = writeFileSync
const cpu = process.cpuUsage
replaceModules()
const { prepare, run } = await import('./run.ts')
prepare()
const session = new inspector.Session(); session.connect()
for (let i = 0; i < 5; i++) await run({ seed: from + i } as never, false)
session.post('Profiler.enable'); session.post('Profiler.setSamplingInterval', { interval: 1000 })
session.post('Profiler.start')
const b = cpu()
for (let i = 0; i < n; i++) { const c = cpu(); await run({ seed: from + 5 + i } as never, false); const d = cpu(c); process.stdout.write(`${from + 5 + i}:${Math.round((d.user + d.system) / 1000)} `) }
const u = cpu(b)
process.stdout.write(`\nper run ${(u.user + u.system) / 1000 / n} ms\n`)
session.post('Profiler.stop', (_e, r) => { realWrite(out, JSON.stringify((r as any).profile)); process.exit(0) })
