/**
 * Starts a stack and holds it until it is killed: stands for a launcher or a test run that ends in a bad way.
 * hold-stack.ts <data folder> <part,part…> [--reaped]; prints the pids, as JSON, when all is up.
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
