/**
 * Starts a stack and runs until it is killed, to simulate a launcher or a test run that crashes.
 * hold-stack.ts <data folder> <part,part…> [--reaped]; prints the pids as JSON when all parts are ready.
 */
import { type PartName, silentProgress, startStack } from '../src/index.ts'

const [dataDir = '', parts = '', reaped] = process.argv.slice(2)
const only = parts.split(',') as PartName[]
const env = {
  ...process.env,
  BACKSTOP_STACK: 'embedded',
  KAFKA_BROKERS: '',
  MONGO_URL: '',
  SCHEMA_REGISTRY_URL: '',
  SMTP_URL: '',
}

const stack = await startStack({ dataDir, log: silentProgress, only, env, endWithProcess: reaped === '--reaped' })
console.log(JSON.stringify(Object.fromEntries(only.map(name => [name, stack.parts[name].pid]))))
setInterval(() => {}, 60_000)
