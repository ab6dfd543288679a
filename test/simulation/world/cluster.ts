import type { Egress } from '@backstop/kit/egress'
import type { Command } from '@backstop/kit/simulated-mongo'
import { createFixedCodec } from '@backstop/kit/test'
import { codecOfLastRelease } from './last-release.ts'
import { type Fate, SimulatedProcess } from './process.ts'
import {
  openAdminApi,
  openIngress,
  openNotifier,
  openReconciler,
  type RunningApp,
  type Servers,
  type ServingApp,
} from './product.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { type HttpAnswer, type HttpRequest, request, serverOn } from './simulated-http.ts'

const OPEN = {
  ingress: openIngress,
  reconciler: openReconciler,
  notifier: openNotifier,
  'admin-api': openAdminApi,
} as const

export type ServiceName = keyof typeof OPEN

/** The order of docs/upgrade.md: a service that reads new messages is updated before those that write them. */
const UPDATE_ORDER: readonly ServiceName[] = ['notifier', 'reconciler', 'admin-api', 'ingress']

interface Member {
  readonly service: ServiceName
  readonly process: SimulatedProcess
  readonly app: RunningApp
  isStarted: boolean
}

/** The time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 30_000

export interface ClusterOptions {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly servers: Omit<Servers, 'egressOf' | 'codec'>
  readonly replicas: number
  /** Whether the processes exchange messages of the last release until `update`. */
  readonly isLastRelease: boolean
  /** Longest difference of a process's clock, in milliseconds. */
  readonly clockMs: () => number
  readonly fateOf: (command: Command, process: SimulatedProcess) => Fate
  readonly trace: (text: string) => void
  /** Records a command that a server carried out. */
  readonly detail: (text: string) => void
  egressOf(process: SimulatedProcess): Egress
}

/** The processes of the product. A process that ended is started again, as a cluster does. */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #members = new Map<string, Member>()
  /** The names of processes that were updated. */
  readonly #updated = new Set<string>()
  #count = 0

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  start(): void {
    for (const service of Object.keys(OPEN) as ServiceName[]) {
      for (let replica = 1; replica <= this.#options.replicas; replica += 1)
        this.#open(service, `${service}-${replica}`)
    }
  }

  /** The processes that run. */
  running(): SimulatedProcess[] {
    return [...this.#members.values()].map(({ process }) => process).filter(process => process.isAlive)
  }

  /** Ends a process as SIGTERM does: it may finish its work, for as long as a cluster waits. */
  terminate(process: SimulatedProcess): void {
    const member = [...this.#members.values()].find(one => one.process === process)
    if (member === undefined || !member.isStarted) return
    const end = () => process.kill()
    this.#options.scheduler.schedule(GRACE_MS, end)
    member.app.stop().then(end, end)
  }

  /** Replaces the processes of the last release one after the other. */
  update(): void {
    const { scheduler, random } = this.#options
    let atMs = 0
    for (const service of UPDATE_ORDER) {
      for (const name of [...this.#members.keys()].filter(key => this.#members.get(key)?.service === service)) {
        atMs += random.between(1_000, 10_000)
        scheduler.schedule(atMs, () => {
          this.#updated.add(name)
          const { process, isStarted } = this.#members.get(name)!
          if (isStarted) this.terminate(process)
          else process.kill()
        })
      }
    }
  }

  /** Sends a request to a process of a service. Undefined if none answers: none runs, or it ended or hangs. */
  async request(
    service: 'ingress' | 'admin-api',
    asked: HttpRequest,
    withinMs: number,
  ): Promise<HttpAnswer | undefined> {
    const { scheduler, random, trace } = this.#options
    const ready = [...this.#members.values()].filter(
      one =>
        one.service === service &&
        one.process.isAlive &&
        !one.process.isFrozen &&
        (one.app as ServingApp).unready() === undefined,
    )
    if (ready.length === 0) return undefined
    const { app, process } = random.pick(ready)
    return new Promise(resolve => {
      const expired = new AbortController()
      process.onEnd(() => expired.abort())
      const cancel = scheduler.schedule(withinMs, () => expired.abort())
      const end = (answer: HttpAnswer | undefined) => {
        cancel()
        trace(`${process.name} answers ${asked.method} ${asked.path.split('?')[0]} ${answer?.status}`)
        resolve(answer)
      }
      request(serverOn((app as ServingApp).port()), asked, expired.signal).then(end, () => end(undefined))
    })
  }

  #open(service: ServiceName, name: string): void {
    const { scheduler, random, servers, fateOf, trace, detail, egressOf } = this.#options
    this.#count += 1
    const longestMs = this.#options.clockMs()
    const aheadMs = longestMs === 0 ? 0 : random.between(-longestMs, longestMs)
    const process = new SimulatedProcess({
      name: `${name}/${this.#count}`,
      scheduler,
      aheadMs,
      fateOf,
      trace: (process, command) => detail(`${process} ${command}`),
    })
    const isLastRelease = this.#options.isLastRelease && !this.#updated.has(name)
    const codec = isLastRelease ? codecOfLastRelease() : createFixedCodec()
    const app = OPEN[service]({ ...servers, egressOf, codec }, process)
    const member: Member = { service, process, app, isStarted: false }
    this.#members.set(name, member)
    process.onEnd(() => {
      trace(`${process.name} ends`)
      scheduler.schedule(random.between(500, 8_000), () => this.#open(service, name))
    })
    const started = () => {
      member.isStarted = true
    }
    app.start().then(started, (error: unknown) => {
      servers.onFatal(process.name, error)
      process.kill()
    })
  }
}
