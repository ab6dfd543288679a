/** Starts the whole product as processes: the stack, provisioning and the services. Tests run several products at once. */
import { join } from 'node:path'
import {
  choosePorts,
  type ProgressSink,
  type RunningStack,
  type StackUrls,
  silentProgress,
  startStack,
} from '@backstop/stack'
import { revisionOf } from '../release/version.ts'
import { type ChosenPorts, chooseProductPorts, type ProductPort } from './product-ports.ts'
import { provisionInChild } from './provision-in-child.ts'
import { databaseName, environmentOf, type ProductContext, SERVICES, type ServiceName } from './service-environment.ts'
import { createServiceProcess, type ServiceProcess } from './service-process.ts'
import { PortInUseFault } from './start-fault.ts'
import { fingerprintOf, loadOrCreateSecrets, type StoredSecrets } from './stored-secrets.ts'
import { type Supervision, superviseService, superviseStack } from './supervise.ts'

export interface ProductOptions {
  /** The folder of this product: its secrets, logs/, and stack/ if it has its own stack. */
  dataDir: string
  /** The environment that the services inherit and that may have the URLs of the stack. Usually `process.env`. */
  env: NodeJS.ProcessEnv
  /** The URLs of Kafka, MongoDB, the registry and the mail server. By default a stack is started. */
  stackUrls?: StackUrls
  /** The preferred ports at the first start of the data folder. Later starts use the ports of the last start. */
  ports?: Partial<Record<ProductPort, number>>
  /** Settings of single services. They override all other settings and are kept at restarts. */
  serviceEnv?: Partial<Record<ServiceName, Record<string, string>>>
  /** Milliseconds until the second look; 60,000 by default. */
  recheckDelayMs?: number
  /** Creates the topics, schemas and indexes; the deploy job in a process of its own by default. */
  provision?: (stack: StackUrls, topicPrefix: string) => Promise<void>
  /** The services to start; all by default. */
  only?: readonly ServiceName[]
  /**
   * The prefix of topics, consumer groups and the database's name, so that several products can share one stack. Lower-case
   * letters, digits, dots and dashes, e.g. `e2e-7.`.
   */
  topicPrefix?: string
  log?: ProgressSink
  /** Called with each process of a service as soon as it exists, also at restarts. */
  spawned?: (process: ServiceProcess) => void
  /**
   * Reports and restarts services and parts of the stack that end unexpectedly, also during the start. Without it they are not
   * restarted, because tests kill them on purpose.
   */
  supervision?: Supervision
  /** The folder of the code of an instance at its next start, by the instance's name; this checkout by default. */
  codeFolderOf?: (instance: string) => string
}

export interface Product {
  urls: { ingress: string; admin: string } & StackUrls
  /** The bootstrap key of the management API. */
  key: string
  /** Identifies the keys that encrypt secrets in MongoDB, without revealing them. */
  secretsFingerprint: string
  topicPrefix: string
  /** The database's name in MongoDB. */
  database: string
  /** One process for each service. The services that `only` omits are not started. */
  children: Record<ServiceName, ServiceProcess>
  /** The stack that this product started; undefined if `stackUrls` were given. */
  stack: RunningStack | undefined
  /** Creates one more instance of a service with its own ports, and does not start it. */
  createInstance(service: ServiceName, name: string): Promise<ServiceProcess>
  /** Starts one more instance of a service with its own ports. Resolves when it is ready. */
  addInstance(service: ServiceName, name: string, extraEnv?: Record<string, string>): Promise<ServiceProcess>
  /** All processes of services, including added instances. */
  processes(): readonly ServiceProcess[]
  /** Stops the services, and then the stack if this product started it. */
  stop(): Promise<void>
}

/**
 * Starts everything. Resolves when every service is ready.
 * @throws Error with the last log lines of the service or part that did not start, after everything else was stopped
 */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { dataDir, log = silentProgress } = options
  // The secrets are read first, so that a broken file is reported before the stack starts.
  const secrets = loadOrCreateSecrets(join(dataDir, 'secrets.json'))
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
    const provision = options.provision ?? (stack => provisionInChild(options, stack))
    await provision(stackUrls, options.topicPrefix ?? '')
    for (let attempt = 1; ; attempt++) {
      const chosen = await chooseProductPorts(join(dataDir, 'ports.json'), options.ports ?? {})
      const product = { ...assemble(options, secrets, stackUrls, chosen, processes), stack, stop }
      try {
        await startAll(product, chosen, { only: options.only ?? SERVICES, log, supervision })
        return product
      } catch (error) {
        if (!(error instanceof PortInUseFault) || attempt === MOST_PORT_CHOICES) throw error
        // Another process took the port after it was chosen. The addresses are settings of the other services, so all start again.
        await Promise.all(processes.splice(0).map(process => process.stop()))
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** How often the ports of the services are chosen before a start fails. */
const MOST_PORT_CHOICES = 5

function withStop(supervision: Supervision | undefined, isStopping: () => boolean): Supervision | undefined {
  return supervision && { ...supervision, isStopping: () => isStopping() || supervision.isStopping() }
}

function assemble(
  options: ProductOptions,
  secrets: StoredSecrets,
  stackUrls: StackUrls,
  { ports }: ChosenPorts,
  processes: ServiceProcess[],
): Omit<Product, 'stack' | 'stop'> {
  const { dataDir, topicPrefix = '' } = options
  const context: ProductContext = {
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
      env: {
        BACKSTOP_REVISION: revisionOf(options.codeFolderOf?.(name) ?? import.meta.dirname),
        ...options.env,
        ...environmentOf(service, instance, context),
        ...options.serviceEnv?.[service],
      },
      logPath: join(dataDir, 'logs', `${name}.log`),
      opsPort: instance.ops,
      ...(instance.main === undefined ? {} : { mainPort: instance.main }),
      spawned: process => options.spawned?.(process),
      ...(options.codeFolderOf === undefined ? {} : { codeFolder: () => options.codeFolderOf!(name) }),
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
    urls: { ...stackUrls, ingress: context.ingressUrl, admin: context.adminUrl },
    key: secrets.bootstrapKey,
    secretsFingerprint: fingerprintOf(secrets),
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
        if (error instanceof PortInUseFault)
          step.fail(`another process took port ${error.port}, so another port is chosen`, '')
        else step.fail('did not start', '')
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
  const failures = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  // Another failure would be the same on another port.
  const failure = failures.find(reason => !(reason instanceof PortInUseFault)) ?? failures[0]
  if (failure !== undefined) throw failure
}

/** Resolves when the service is ready. */
function start(service: ServiceProcess, supervision: Supervision | undefined): Promise<void> {
  if (supervision !== undefined) return superviseService(service, supervision)
  service.start()
  return service.untilReady()
}
