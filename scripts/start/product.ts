/**
 * The whole product as real processes: the stack, the provisioning and the services. `npm start` runs one, tests run
 * several side by side.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLogger, Secret } from '@backstop/kit'
import { provision } from '@backstop/provision'
import {
  choosePorts,
  type ProgressSink,
  type RunningStack,
  type StackUrls,
  silentProgress,
  startStack,
} from '@backstop/stack'
import { type KeptSecrets, keepSecrets } from './kept-secrets.ts'
import { databaseName, environmentOf, SERVICES, type ServiceName, type Surroundings } from './service-environment.ts'
import { createServiceProcess, type ServiceProcess } from './service-process.ts'
import { StartFault } from './start-fault.ts'

/** The ports that a person may know: taken when they are free, else free ones are. */
export type ProductPort = 'ingress' | 'admin-api' | `${ServiceName}-ops`

export interface ProductOptions {
  /** Folder of this product alone: its secrets, logs/ and, when it has a stack of its own, stack/. */
  dataDir: string
  /** What is inherited by the services and tells the stack what is given: `process.env`, as a rule. */
  env: NodeJS.ProcessEnv
  /** Where Kafka and the others answer; a stack is started when left out. */
  stackUrls?: StackUrls
  /** Ports to prefer at the first start of the data folder; later ones take those of the start before. */
  ports?: Partial<Record<ProductPort, number>>
  /** Settings of single services, stronger than all others; they stay over restarts. */
  serviceEnv?: Partial<Record<ServiceName, Record<string, string>>>
  /** Milliseconds until the second look; 60,000 when left out. */
  recheckDelayMs?: number
  /** Only these services are started. */
  only?: readonly ServiceName[]
  /**
   * Put before topics, groups and the database's name, so that several products share one stack: lower-case letters,
   * digits, dots and dashes, e.g. `e2e-7.`.
   */
  topicPrefix?: string
  log?: ProgressSink
  /** Called with each process of a service as soon as it is there, at every restart again. */
  spawned?: (process: ServiceProcess) => void
}

export interface Product {
  urls: { ingress: string; admin: string } & StackUrls
  /** The bootstrap key of the management API. */
  key: string
  topicPrefix: string
  /** The database's name in MongoDB. */
  database: string
  /** One process a service; those left out by `only` are there too, not started. */
  children: Record<ServiceName, ServiceProcess>
  /** The stack that this product started, or undefined when `stackUrls` were given. */
  stack: RunningStack | undefined
  /** Prepares one more instance of a service, on ports of its own, and does not start it. */
  createInstance(service: ServiceName, name: string): Promise<ServiceProcess>
  /** Starts one more instance of a service beside the first, on ports of its own; resolves when it is ready. */
  addInstance(service: ServiceName, name: string, extraEnv?: Record<string, string>): Promise<ServiceProcess>
  /** Every process of a service, those added included. */
  processes(): readonly ServiceProcess[]
  /** Stops the services, then the stack if it is this product's. */
  stop(): Promise<void>
}

/** Where ingress and admin-api listen when nothing else does. */
export const USUAL_PORTS: Record<ProductPort, number> = {
  ingress: 8080,
  'ingress-ops': 8081,
  'reconciler-ops': 8082,
  'notifier-ops': 8083,
  'admin-api-ops': 8084,
  'admin-api': 8090,
}

/**
 * Starts everything and resolves when every service is ready.
 * @throws Error with the end of the log of what did not come up; what was started is stopped again
 */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { dataDir, log = silentProgress } = options
  // First, because a broken file is no reason to wait for a whole stack.
  const secrets = keepSecrets(join(dataDir, 'secrets.json'))
  const stack =
    options.stackUrls === undefined
      ? await startStack({ dataDir: join(dataDir, 'stack'), log, env: options.env, ownerPid: process.pid })
      : undefined
  const stackUrls = options.stackUrls ?? (stack as RunningStack).urls
  let product: Product | undefined
  try {
    await provisionAll(options, stackUrls)
    product = await assemble(options, secrets, stackUrls, stack)
    await startAll(product, options.only ?? SERVICES, log)
    return product
  } catch (error) {
    await (product?.stop() ?? stack?.stop())
    throw error
  }
}

/** How long Kafka, MongoDB and the registry may still need once the stack says they answer. */
const PROVISION_WAIT_MS = 60_000

async function provisionAll(options: ProductOptions, stack: StackUrls): Promise<void> {
  const { topicPrefix = '', log = silentProgress } = options
  const step = log.step('topics, schemas, indexes')
  const logs = join(options.dataDir, 'logs')
  mkdirSync(logs, { recursive: true })
  const logPath = join(logs, 'provision.log')
  step.update('being made')
  const logFile = { write: (line: string) => appendFileSync(logPath, line) }
  try {
    await provision({
      kafka: {
        brokers: stack.kafka.split(','),
        clientId: 'backstop-provision',
        logger: createLogger('provision', 'info', logFile),
      },
      topicPrefix,
      // One broker, one copy: the embedded Kafka is for one machine.
      durability: { replication: 1, minInsync: 1 },
      mongo: { url: new Secret(stack.mongo), dbName: databaseName(topicPrefix) },
      registryUrl: stack.registry,
      waitMs: PROVISION_WAIT_MS,
      report(line) {
        appendFileSync(logPath, `${line}\n`)
        if (line.startsWith('waiting for ')) step.update(line)
      },
    })
    step.done('in place')
  } catch (error) {
    step.fail('could not be made', '')
    throw provisionFault(error, options.env, logPath)
  }
}

/** Where parts were given, their addresses are the likely cause. Only the names are told: a URL may hold a password. */
function provisionFault(error: unknown, env: NodeJS.ProcessEnv, logPath: string): StartFault {
  const given = ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL'].filter(name => env[name])
  const check = given.length === 0 ? '' : `Check ${given.join(', ')}. `
  return new StartFault(error instanceof Error ? error.message : String(error), `${check}More is in ${logPath}`)
}

async function assemble(
  options: ProductOptions,
  secrets: KeptSecrets,
  stackUrls: StackUrls,
  stack: RunningStack | undefined,
): Promise<Product> {
  const { dataDir, topicPrefix = '' } = options
  const ports = await settlePorts(join(dataDir, 'ports.json'), options.ports ?? {})
  const surroundings: Surroundings = {
    stack: stackUrls,
    secrets,
    ingressUrl: `http://127.0.0.1:${ports.ingress}`,
    adminUrl: `http://127.0.0.1:${ports['admin-api']}`,
    topicPrefix,
    recheckDelayMs: options.recheckDelayMs ?? 60_000,
  }
  const processes: ServiceProcess[] = []
  const create = (service: ServiceName, name: string, instance: { main?: number; ops: number }) => {
    const process = createServiceProcess({
      service,
      name,
      env: { ...options.env, ...environmentOf(service, instance, surroundings), ...options.serviceEnv?.[service] },
      logPath: join(dataDir, 'logs', `${name}.log`),
      opsPort: instance.ops,
      ...(instance.main === undefined ? {} : { mainPort: instance.main }),
      spawned: process => options.spawned?.(process),
    })
    processes.push(process)
    return process
  }
  const children = Object.fromEntries(
    SERVICES.map(service => {
      const main = servesOutside(service) ? { main: ports[service] } : {}
      return [service, create(service, service, { ...main, ops: ports[`${service}-ops`] })]
    }),
  ) as Record<ServiceName, ServiceProcess>
  const createInstance = async (service: ServiceName, name: string) => {
    const { main, ops } = await choosePorts({ main: {}, ops: {} })
    return create(service, name, servesOutside(service) ? { main, ops } : { ops })
  }

  return {
    urls: { ...stackUrls, ingress: surroundings.ingressUrl, admin: surroundings.adminUrl },
    key: secrets.bootstrapKey,
    topicPrefix,
    database: databaseName(topicPrefix),
    children,
    stack,
    createInstance,
    async addInstance(service, name, extraEnv) {
      const process = await createInstance(service, name)
      process.start(extraEnv)
      await process.untilReady()
      return process
    },
    processes: () => processes,
    async stop() {
      await Promise.all(processes.map(process => process.stop()))
      await stack?.stop()
    },
  }
}

/**
 * Those of the start before, as long as they are free: a provider, a tunnel or a script that was told an address should
 * find the same one there again. Else the preferred ones, else free ones.
 */
async function settlePorts(
  path: string,
  preferred: Partial<Record<ProductPort, number>>,
): Promise<Record<ProductPort, number>> {
  const before = readPorts(path)
  const names = Object.keys(USUAL_PORTS) as ProductPort[]
  const ports = await choosePorts(
    Object.fromEntries(names.map(name => [name, { remembered: before[name] ?? preferred[name] }])) as Record<
      ProductPort,
      { remembered: number | undefined }
    >,
  )
  writeFileSync(path, `${JSON.stringify(ports, undefined, 2)}\n`)
  return ports
}

function readPorts(path: string): Partial<Record<ProductPort, number>> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<ProductPort, number>>
  } catch {
    return {}
  }
}

function servesOutside(service: ServiceName): service is 'ingress' | 'admin-api' {
  return service === 'ingress' || service === 'admin-api'
}

async function startAll({ children }: Product, only: readonly ServiceName[], log: ProgressSink): Promise<void> {
  const results = await Promise.allSettled(
    only.map(async service => {
      const step = log.step(service)
      step.update('starting')
      children[service].start()
      try {
        await children[service].untilReady()
        step.done('ready')
      } catch (error) {
        step.fail('did not start', '')
        throw error
      }
    }),
  )
  const failed = results.find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
