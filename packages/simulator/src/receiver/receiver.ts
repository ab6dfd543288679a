/** A customer's endpoint for alerts, on loopback: stores every delivery and checks its signatures. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOnLoopback } from '../listen-on-loopback.ts'
import { checkServiceSignature, checkStandardWebhook, type SignatureCheck } from './check-signature.ts'

export interface ReceivedDelivery {
  /** The number of the delivery, from 1, in the order of arrival. */
  number: number
  receivedAtMs: number
  method: string
  path: string
  headers: Readonly<Record<string, string | undefined>>
  rawBody: Buffer
  /** The parsed body; undefined if it is not JSON. */
  body: unknown
  /** The webhook-id, which is the same for every attempt of a delivery. */
  webhookId: string | undefined
  serviceSignature: SignatureCheck
  standardWebhook: SignatureCheck
  /** The status of the answer, or `silence`. */
  answered: number | 'silence'
}

/** The answer of the receiver. `silence` never answers; `cut` closes the connection after reading the delivery. */
export type ReceiverAnswer =
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: string; afterMs?: number }
  | { kind: 'silence' }
  | { kind: 'cut' }

export interface ReceiverOptions {
  /** The port; a free port by default. */
  port?: number
  /** The loopback address; 127.0.0.1 by default. */
  host?: string
  /** The secret of the channel. Without a secret, deliveries must have no signature. */
  secret?: string
  /** Milliseconds since the epoch. */
  now: () => number
  /** The answer; 200 by default. */
  answer?: (delivery: Omit<ReceivedDelivery, 'answered'>) => ReceiverAnswer
}

export interface Receiver {
  url: string
  port: number
  /** Oldest first. */
  deliveries(): readonly ReceivedDelivery[]
  onDelivery(listener: (delivery: ReceivedDelivery) => void): () => void
  /**
   * Waits for the first delivery that matches `wanted`. Earlier deliveries are included.
   * @throws Error after `withinMs` that names the expected and the received deliveries
   */
  waitFor(what: string, wanted: (delivery: ReceivedDelivery) => boolean, withinMs: number): Promise<ReceivedDelivery>
  /** Changes the answer. */
  answerWith(answer: NonNullable<ReceiverOptions['answer']>): void
  useSecret(secret: string | undefined): void
  stop(): Promise<void>
}

const ok: ReceiverAnswer = { kind: 'answer', status: 200, body: '{"ok":true}' }

/** Starts a receiver. It listens until stop(). */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const deliveries: ReceivedDelivery[] = []
  const listeners = new Set<(delivery: ReceivedDelivery) => void>()
  let { secret } = options
  let answer = options.answer ?? (() => ok)

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const rawBody = Buffer.concat(chunks)
    const header = (name: string) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    }
    const received = {
      number: deliveries.length + 1,
      receivedAtMs: options.now(),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: Object.fromEntries(Object.keys(request.headers).map(name => [name, header(name)])),
      rawBody,
      body: parsed(rawBody),
      webhookId: header('webhook-id'),
      serviceSignature: checkServiceSignature(rawBody, header, secret),
      standardWebhook: checkStandardWebhook(rawBody, header, secret, Math.floor(options.now() / 1000)),
    }
    const wanted = answer(received)
    const delivery: ReceivedDelivery = { ...received, answered: wanted.kind === 'answer' ? wanted.status : 'silence' }
    deliveries.push(delivery)
    for (const listener of listeners) listener(delivery)
    respond(response, wanted)
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy())
  })
  const { url, port, stop } = await listenOnLoopback(server, options.port, options.host)

  return {
    url,
    port,
    deliveries: () => deliveries,
    onDelivery(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    waitFor(what, wanted, withinMs) {
      const already = deliveries.find(wanted)
      if (already !== undefined) return Promise.resolve(already)
      return new Promise((resolve, reject) => {
        const listener = (delivery: ReceivedDelivery) => {
          if (!wanted(delivery)) return
          clearTimeout(deadline)
          listeners.delete(listener)
          resolve(delivery)
        }
        const deadline = setTimeout(() => {
          listeners.delete(listener)
          reject(new Error(`Waited ${withinMs} ms for ${what}; ${deliveries.length} other deliveries came`))
        }, withinMs)
        listeners.add(listener)
      })
    },
    answerWith(next) {
      answer = next
    },
    useSecret(next) {
      secret = next
    },
    stop,
  }
}

function respond(response: ServerResponse, answer: ReceiverAnswer): void {
  if (answer.kind === 'silence') return
  if (answer.kind === 'cut') {
    response.destroy()
    return
  }
  const send = () => {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.body ?? '')
  }
  if (answer.afterMs === undefined) send()
  else setTimeout(send, answer.afterMs)
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
