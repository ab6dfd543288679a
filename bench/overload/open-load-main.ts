/**
 * Posts prepared, signed events at an even rate, whether or not the answers keep up: each request is due at its time, and its latency
 * counts from then. A request that finds no free socket waits for one, in order, while its time runs.
 */
import { Client } from '../ingress/client.ts'
import { signedRequests } from '../ingress/requests.ts'
import type { OpenLoadMessage, OpenLoadOrder } from './open-load.ts'
import { type Phase, PhaseTally } from './phases.ts'

/** Interval of the clock that posts the due requests, in milliseconds. */
const TICK_MS = 1
/** How long a request may take from the time when it was due, in milliseconds: as long as a provider waits. */
const ANSWER_WITHIN_MS = 10_000

/** A request that is due. */
interface Due {
  readonly atMs: number
  readonly phaseBeganMs: number
  readonly tally: PhaseTally
}

class OpenLoad {
  readonly #nextRequest: () => Buffer
  readonly #clients: readonly Client[]
  readonly #free = new Set<Client>()
  readonly #inFlight = new Map<Client, Due>()
  /** Requests that wait for a free socket. The first ones are undefined after they were posted. */
  #backlog: Due[] = []
  #posted = 0
  accepted = 0

  constructor({ port, sockets, requests }: OpenLoadOrder) {
    const prepared = signedRequests(requests)
    let next = 0
    this.#nextRequest = () => prepared[next++ % prepared.length]!
    const events = {
      onFree: (client: Client) => this.#useFree(client),
      onAnswer: (status: string, client: Client) => this.#finish(client, status),
      onClose: (client: Client) => {
        this.#free.delete(client)
        this.#finish(client, 'none')
      },
    }
    this.#clients = Array.from({ length: sockets }, () => new Client(port, events))
  }

  /** Opens every socket, a few at a time, because the queue of connections that the kernel has accepted is short. */
  async open(): Promise<void> {
    for (const [index, client] of this.#clients.entries()) {
      client.open()
      if (index % 50 === 0) await wait(TICK_MS)
    }
    while (this.#free.size < this.#clients.length) await wait(TICK_MS)
  }

  async run({ perSecond, lengthMs }: Phase, tally: PhaseTally): Promise<void> {
    const phaseBeganMs = performance.now()
    const total = Math.floor((perSecond * lengthMs) / 1_000)
    for (let made = 0; made < total; await wait(TICK_MS)) {
      const due = Math.min(total, Math.floor(((performance.now() - phaseBeganMs) / 1_000) * perSecond))
      for (; made < due; made++) this.#post({ atMs: phaseBeganMs + (made / perSecond) * 1_000, phaseBeganMs, tally })
      this.#endLate()
    }
  }

  /** Waits until each request has its answer, or its time is over. */
  async close(): Promise<void> {
    while (this.#inFlight.size > 0 || this.#posted < this.#backlog.length) {
      await wait(TICK_MS)
      this.#endLate()
    }
    for (const client of this.#clients) client.stop()
  }

  #post(due: Due): void {
    for (const client of this.#free) {
      this.#free.delete(client)
      this.#postOn(client, due)
      return
    }
    due.tally.waitedForSocket += 1
    this.#backlog.push(due)
  }

  #useFree(client: Client): void {
    const due = this.#backlog[this.#posted]
    if (due === undefined) {
      this.#free.add(client)
      return
    }
    this.#takeOfBacklog()
    this.#postOn(client, due)
  }

  #takeOfBacklog(): void {
    this.#posted += 1
    if (this.#posted < this.#backlog.length) return
    this.#backlog = []
    this.#posted = 0
  }

  #postOn(client: Client, due: Due): void {
    this.#inFlight.set(client, due)
    client.post(this.#nextRequest())
  }

  #finish(client: Client, status: string): void {
    const due = this.#inFlight.get(client)
    if (due === undefined) return
    this.#inFlight.delete(client)
    this.#count(due, status)
  }

  #count({ atMs, phaseBeganMs, tally }: Due, status: string): void {
    if (status === '200') this.accepted += 1
    tally.add(status, atMs - phaseBeganMs, performance.now() - atMs)
  }

  /** Ends the requests whose time is over. Both collections are in the order in which requests are due, or nearly. */
  #endLate(): void {
    const before = performance.now() - ANSWER_WITHIN_MS
    for (let due = this.#backlog[this.#posted]; due !== undefined && due.atMs < before; ) {
      this.#takeOfBacklog()
      this.#count(due, 'none')
      due = this.#backlog[this.#posted]
    }
    for (const [client, due] of this.#inFlight) {
      if (due.atMs >= before) return
      this.#finish(client, 'none')
      client.reset()
    }
  }
}

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const report = (message: OpenLoadMessage) => process.send?.(message)

async function measure(order: OpenLoadOrder): Promise<void> {
  const load = new OpenLoad(order)
  await load.open()
  const tallies = order.phases.map(({ lengthMs }) => new PhaseTally(lengthMs))
  for (const [index, phase] of order.phases.entries()) {
    report({ kind: 'phase', index })
    await load.run(phase, tallies[index]!)
  }
  report({ kind: 'phase', index: order.phases.length })
  await load.close()
  report({ kind: 'done', outcomes: tallies.map(tally => tally.outcome()), accepted: load.accepted })
}

// Keeps the process alive until it is stopped.
process.channel?.ref()
process.on('message', message => void measure(message as OpenLoadOrder))
