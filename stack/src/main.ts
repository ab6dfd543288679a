import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { stopDockerProject } from './docker-stack.ts'
import { stopPartsOwnedBy, stopRecordedParts, withDataFolder } from './embedded-stack.ts'
import { StackRecordFile } from './part-records.ts'
import { identify, isAlive } from './process-identity.ts'
import { progressOn } from './progress.ts'
import { PART_NAMES, StackError, type StackUrls } from './stack-contract.ts'
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
  let stop = async (): Promise<void> => {
    await stopPartsOwnedBy(identify(process.pid)!, dataDir)
    process.exit(130)
  }
  // One handler from the start to the end: a signal between two handlers would be lost, or would end the process at once.
  const stopped = detach ? undefined : onStopSignal(() => stop())
  const stack = await startStack({ dataDir, keepRunning: detach, env: process.env, log: progressOn(process.stderr) })
  stop = () => stack.stop()
  console.log(json ? JSON.stringify({ kind: stack.kind, urls: stack.urls }) : exportLines(stack.urls))
  if (detach) return 0
  const keepAlive = setInterval(() => {}, 60_000)
  await stopped
  clearInterval(keepAlive)
  return 0
}

/** Calls `stop` at the first stop signal. Resolves when it has stopped. */
async function onStopSignal(stop: () => Promise<void>): Promise<void> {
  await new Promise<void>(resolve => {
    for (const signal of STOP_SIGNALS) process.once(signal, resolve)
  })
  console.error('Stopping')
  await stop()
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
