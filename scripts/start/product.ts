/** The whole product as real processes: the stack, provisioning and the services. Tests run several at once. */
import { appendFileSync, mkdirSync } from 'node:fs'
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
import { type ChosenPorts, chooseProductPorts, type ProductPort } from './product-ports.ts'
import { databaseName, environmentOf, SERVICES, type ServiceName, type Surroundings } from './service-environment.ts'
import { createServiceProcess, type ServiceProcess } from './service-process.ts'
import { StartFault } from './start-fault.ts'
import { type KeptSecrets, keepSecrets } from './stored-secrets.ts'
import { type Supervision, superviseService, superviseStack } from './supervise.ts'

export interface ProductOptions {
  /** Folder of this product alone: its secrets, logs/ and, if it has a stack of its own, stack/. */
  dataDir: string
  /** Inherited by the services, and the source of the stack's given URLs: `process.env`, as a rule. */
  env: NodeJS.ProcessEnv
  /** URLs of Kafka and the others; a stack is started when left out. */
  stackUrls?: StackUrls
  /** Preferred ports at the first start of the data folder. Later starts take the ports of the last one. */
  ports?: Partial<Record<ProductPort, number>>
  /** Settings of single services. They override all others and stay over restarts. */
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
  /** Called with each process of a service as soon as it exists, at every restart again. */
  spawned?: (process: ServiceProcess) => void
  /**
   * Services and parts of the stack that end by themselves, during the start too, are reported and started again. Left alone
   * when left out: tests kill them on purpose.
   */
  supervision?: Supervision
}

export interface Product {
  urls: { ingress: string; admin: string } & StackUrls
  /** The bootstrap key of the management API. */
  key: string
  topicPrefix: string
  /** The database's name in MongoDB. */
  database: string
  /** One process per service. Those left out by `only` are not started. */
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

/**
 * Starts everything and resolves when every service is ready.
 * @throws Error with the end of the log of the service or part that did not start; everything else is stopped again
 */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { dataDir, log = silentProgress } = options
  // First: a broken file should be reported before the whole stack has started.
  const secrets = keepSecrets(join(dataDir, 'secrets.json'))
  const stackDir = join(dataDir, 'stack')
  const stack =
    options.stackUrls === undefined
      ? await startStack({ dataDir: stackDir, log, env: options.env, endWithProcess: true })
      : undefined
  let isStopping = false
  const supervision = withStop(options.supervision, () => isStopping)
  const partsRestarted = stack && supervision && superviseStack(stack, join(stackDir, 'logs'), supervision)
  const processes: ServiceProcess[] = []
  const stop = async () => {
    isStopping = true
    await partsRestarted?.()
    await Promise.all(processes.map(process => process.stop()))
    await stack?.stop()
  }
  try {
    const stackUrls = options.stackUrls ?? (stack as RunningStack).urls
    await provisionAll(options, stackUrls)
    const chosen = await chooseProductPorts(join(dataDir, 'ports.json'), options.ports ?? {})
    const product = { ...assemble(options, secrets, stackUrls, chosen, processes), stack, stop }
    await startAll(product, chosen, { only: options.only ?? SERVICES, log, supervision })
    return product
  } catch (error) {
    await stop()
    throw error
  }
}

function withStop(supervision: Supervision | undefined, isStopping: () => boolean): Supervision | undefined {
  return supervision && { ...supervision, isStopping: () => isStopping() || supervision.isStopping() }
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

/** Given addresses are the likely cause. The message has only the names of the variables: a URL may hold a password. */
function provisionFault(error: unknown, env: NodeJS.ProcessEnv, logPath: string): StartFault {
  const given = ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL'].filter(name => env[name])
  const check = given.length === 0 ? '' : `Check ${given.join(', ')}. `
  return new StartFault(error instanceof Error ? error.message : String(error), `${check}More is in ${logPath}`)
}

function assemble(
  options: ProductOptions,
  secrets: KeptSecrets,
  stackUrls: StackUrls,
  { ports }: ChosenPorts,
  processes: ServiceProcess[],
): Omit<Product, 'stack' | 'stop'> {
  const { dataDir, topicPrefix = '' } = options
  const surroundings: Surroundings = {
    stack: stackUrls,
    secrets,
    ingressUrl: `http://127.0.0.1:${ports.ingress}`,
    adminUrl: `http://127.0.0.1:${ports['admin-api']}`,
    topicPrefix,
    recheckDelayMs: options.recheckDelayMs ?? 60_000,
  }
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
    createInstance,
    async addInstance(service, name, extraEnv) {
      const process = await createInstance(service, name)
      process.start(extraEnv)
      await process.untilReady()
      return process
    },
    processes: () => processes,
  }
}

function servesOutside(service: ServiceName): service is 'ingress' | 'admin-api' {
  return service === 'ingress' || service === 'admin-api'
}

async function startAll(
  { children }: Pick<Product, 'children'>,
  { ports, inUse }: ChosenPorts,
  { only, log, supervision }: { only: readonly ServiceName[]; log: ProgressSink; supervision: Supervision | undefined },
): Promise<void> {
  const results = await Promise.allSettled(
    only.map(async service => {
      const step = log.step(service)
      step.update('starting')
      try {
        await start(children[service], supervision)
      } catch (error) {
        step.fail('did not start', '')
        throw error
      }
      const wanted = servesOutside(service) ? inUse[service] : undefined
      step.done(
        wanted === undefined
          ? 'ready'
          : `ready on port ${ports[service as ProductPort]}: another process uses ${wanted}`,
      )
    }),
  )
  const failed = results.find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** Resolves when the service is ready. */
function start(service: ServiceProcess, supervision: Supervision | undefined): Promise<void> {
  if (supervision !== undefined) return superviseService(service, supervision)
  service.start()
  return service.untilReady()
}
