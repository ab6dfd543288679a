import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { stopDockerProject } from './docker-stack.ts'
import { stopPartsOwnedBy, stopRecordedParts, withDataFolder } from './embedded-stack.ts'
import { StackRecordFile } from './part-records.ts'
import { identify, isAlive } from './process-identity.ts'
import { progressOn } from './progress.ts'
import { PART_NAMES, type RunningStack, StackError, type StackUrls } from './stack-contract.ts'
import { startStack } from './start-stack.ts'

const USAGE = `Usage: npx node stack/src/main.ts up [--data DIR] [--json] [--detach]   start, print the URLs, run until Ctrl-C
       npx node stack/src/main.ts down [--data DIR]                     stop
       npx node stack/src/main.ts status [--data DIR] [--json]          say what is up`

const DEFAULT_DATA = fileURLToPath(new URL('../../.backstop/stack', import.meta.url))

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface Flags {
  dataDir: string
  json: boolean
  detach: boolean
}

async function up({ dataDir, json, detach }: Flags): Promise<number> {
  const stopHalfStarted = async () => {
    console.error('Stopping')
    await stopPartsOwnedBy(identify(process.pid)!, dataDir)
    process.exit(130)
  }
  if (!detach) for (const signal of STOP_SIGNALS) process.once(signal, stopHalfStarted)
  const stack = await startStack({ dataDir, keepRunning: detach, env: process.env, log: progressOn(process.stderr) })
  console.log(json ? JSON.stringify({ kind: stack.kind, urls: stack.urls }) : exportLines(stack.urls))
  for (const signal of STOP_SIGNALS) process.off(signal, stopHalfStarted)
  if (detach) return 0
  await waitForStopSignal(stack)
  return 0
}

async function waitForStopSignal(stack: RunningStack): Promise<void> {
  await new Promise<void>(resolve => {
    const keepAlive = setInterval(() => {}, 60_000)
    for (const signal of STOP_SIGNALS) {
      process.once(signal, () => {
        clearInterval(keepAlive)
        resolve()
      })
    }
  })
  console.error('Stopping')
  await stack.stop()
}

async function down({ dataDir }: Flags): Promise<number> {
  const stopped = await withDataFolder(dataDir, () => stopRecordedParts(dataDir))
  if (await stopDockerProject(dataDir, process.env)) stopped.push(...PART_NAMES)
  console.error(stopped.length > 0 ? `Stopped ${stopped.join(', ')}` : 'Nothing was up')
  return 0
}

async function status({ dataDir, json }: Flags): Promise<number> {
  const { parts, ports } = new StackRecordFile(dataDir).read()
  const rows = PART_NAMES.map(name => {
    const part = parts[name]
    return { name, up: part !== undefined && isAlive(part), pid: part?.pid, port: ports[name], program: part?.program }
  })
  if (json) console.log(JSON.stringify(rows))
  else
    for (const row of rows)
      console.log(row.up ? `${row.name}: up, pid ${row.pid}, port ${row.port}` : `${row.name}: not up`)
  return rows.every(row => row.up) ? 0 : 1
}

/**
 * The `export` lines for a shell's `eval`: the variables of the services, and those of the tests (packages/kit/test).
 */
function exportLines(urls: StackUrls): string {
  const variables = {
    KAFKA_BROKERS: urls.kafka,
    MONGO_URL: urls.mongo,
    SCHEMA_REGISTRY_URL: urls.registry,
    SMTP_URL: urls.smtp,
    MAIL_URL: urls.mail,
    BACKSTOP_TEST_KAFKA: urls.kafka,
    BACKSTOP_TEST_MONGO: urls.mongo,
    BACKSTOP_TEST_REGISTRY: urls.registry,
    BACKSTOP_TEST_SMTP: urls.smtp,
    BACKSTOP_TEST_MAIL: urls.mail,
  }
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'`)
    .join('\n')
}

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      json: { type: 'boolean', default: false },
      detach: { type: 'boolean', default: false },
    },
  })
  const flags = { dataDir: values.data ?? DEFAULT_DATA, json: values.json, detach: values.detach }
  const commands: Record<string, (flags: Flags) => Promise<number>> = { up, down, status }
  const command = commands[positionals[0] ?? '']
  if (command !== undefined) return command(flags)
  console.error(USAGE)
  return 2
}

try {
  process.exitCode = await run()
} catch (error) {
  console.error(error instanceof StackError ? `${error.message}${error.remedy ? `\n→ ${error.remedy}` : ''}` : error)
  process.exitCode = 1
}
