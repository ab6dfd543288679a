import { spawn } from 'node:child_process'
import { request as sendRequest } from 'node:http'
import { until } from '@backstop/kit/test'
import type { StackUrls } from '@backstop/stack'
import type { Product } from '../../../scripts/start/product.ts'
import type { ServiceName } from '../../../scripts/start/service-environment.ts'
import type { ServiceProcess } from '../../../scripts/start/service-process.ts'
import { shiftedBy } from '../../setup/shifted-clock.ts'
import type { Random } from '../world/random.ts'
import type { HttpAnswer, HttpRequest } from '../world/simulated-http.ts'
import { LINKED_SERVERS, type Link, type LinkedServer, openLink } from './link.ts'

/** The processes of a run. Two consume for each group, so that partitions move. */
export const MEMBERS = {
  ingress: 'ingress',
  'admin-api': 'admin-api',
  reconciler: 'reconciler',
  'reconciler-2': 'reconciler',
  notifier: 'notifier',
  'notifier-2': 'notifier',
} as const satisfies Record<string, ServiceName>

/** Milliseconds after which a process that ended by itself is started again. */
const RESTART_AFTER_MS = 1_000
const READY_WITHIN_MS = 120_000
/** Milliseconds after which a process that is not ready is looked at again, because it may have ended meanwhile. */
const LOOK_AGAIN_MS = 2_000

interface Member {
  readonly name: string
  readonly process: ServiceProcess
  readonly links: Readonly<Record<LinkedServer, Link>>
  readonly environment: Record<string, string>
  /** Milliseconds until the next start, if somebody ended the process on purpose. */
  downMs: number | undefined
}

export interface RealClusterOptions {
  /** A product of which no service runs yet. */
  readonly product: Product
  readonly stack: StackUrls
  readonly random: Random
  /** Longest difference of a process's clock, in milliseconds. */
  readonly clockMs: number
  readonly trace: (text: string) => void
  /** Told of a process that ended by itself. */
  readonly onWrong: (text: string) => void
}

/** The processes of the product, each with its own links to the servers. A process that ended is started again, as a cluster does. */
export class RealCluster {
  readonly #options: RealClusterOptions
  readonly #members = new Map<string, Member>()
  readonly #watches: Promise<void>[] = []
  #isStopping = false

  constructor(options: RealClusterOptions) {
    this.#options = options
  }

  /** Starts every process. Resolves when all are ready. @throws Error if one is not */
  async start(): Promise<void> {
    const { product } = this.#options
    for (const [name, service] of Object.entries(MEMBERS)) {
      const process = name === service ? product.children[service] : await product.createInstance(service, name)
      const { links, environment } = await this.#open()
      const member: Member = { name, process, links, environment, downMs: undefined }
      this.#members.set(name, member)
      process.start(environment)
      this.#watches.push(this.#keepRunning(member))
    }
    await this.untilReady()
  }

  /** Resolves when every process is ready, also one that ends meanwhile and is started again. @throws Error after two minutes */
  async untilReady(): Promise<void> {
    for (const { name, process } of this.#members.values()) {
      const isReady = async () => (await process.awaitReady(LOOK_AGAIN_MS)).kind === 'ready'
      await until(`${name} to be ready`, isReady, { timeoutMs: READY_WITHIN_MS, seen: () => process.lastLogLines(3) })
    }
  }

  /** Sends a request to a process of a service. Undefined if it does not answer. */
  async request(
    service: 'ingress' | 'admin-api',
    asked: HttpRequest,
    withinMs: number,
  ): Promise<HttpAnswer | undefined> {
    const { process } = this.#member(service)
    return ask(process.mainUrl ?? '', asked, withinMs).catch(() => undefined)
  }

  /** The links of a process, or of all, to a server. */
  links(name: string, server: LinkedServer): Link[] {
    const members = name === 'all' ? [...this.#members.values()] : [this.#member(name)]
    return members.map(({ links }) => links[server])
  }

  /** Ends a process, and starts it again after a while. */
  end(name: string, signal: 'SIGKILL' | 'SIGTERM', downMs: number): void {
    const member = this.#member(name)
    member.downMs = downMs
    member.process.kill(signal)
  }

  /** Stops a process for a while, as a long pause of its host does. */
  freeze(name: string, forMs: number): void {
    const { pid } = this.#member(name).process
    if (pid !== undefined) freezeProcess(pid, forMs)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    for (const { process } of this.#members.values()) process.kill('SIGCONT')
    await Promise.all([...this.#members.values()].map(({ process }) => process.stop(2_000)))
    await Promise.all(this.#watches)
    for (const { links } of this.#members.values()) await Promise.all(Object.values(links).map(link => link.stop()))
  }

  #member(name: string): Member {
    const member = this.#members.get(name)
    if (member === undefined) throw new Error(`No process is called ${name}`)
    return member
  }

  async #open(): Promise<Pick<Member, 'links' | 'environment'>> {
    const { stack, random, clockMs } = this.#options
    const links = Object.fromEntries(
      await Promise.all(LINKED_SERVERS.map(async server => [server, await openLink(server, stack[server])] as const)),
    ) as Record<LinkedServer, Link>
    const aheadMs = clockMs === 0 ? 0 : random.between(-clockMs, clockMs)
    const environment = {
      KAFKA_BROKERS: links.kafka.url,
      MONGO_URL: links.mongo.url,
      SCHEMA_REGISTRY_URL: links.registry.url,
      ...(aheadMs === 0 ? {} : shiftedBy(aheadMs)),
    }
    return { links, environment }
  }

  async #keepRunning(member: Member): Promise<void> {
    const { trace, onWrong } = this.#options
    const { name, process, environment } = member
    for (;;) {
      const end = await process.exited
      if (this.#isStopping) return
      const { downMs } = member
      const how = `${name} ends (${end.signal ?? `code ${end.code}`})`
      trace(how)
      if (downMs === undefined) onWrong(`${how} by itself: ${process.lastLogLines(5).join(' | ')}`)
      member.downMs = undefined
      await new Promise(resolve => setTimeout(resolve, downMs ?? RESTART_AFTER_MS))
      if (this.#isStopping) return
      process.start(environment)
      trace(`${name} starts again`)
    }
  }
}

/** A shell ends the pause, also if this process does not live to do it. */
export function freezeProcess(pid: number, forMs: number): void {
  const script = 'kill -STOP "$0"; sleep "$1"; kill -CONT "$0"'
  spawn('/bin/sh', ['-c', script, String(pid), String(forMs / 1_000)], { stdio: 'ignore', detached: true }).unref()
}

function ask(base: string, { method, path, headers, body }: HttpRequest, withinMs: number): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(`${base}${path}`, { method, headers, signal: AbortSignal.timeout(withinMs) }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
