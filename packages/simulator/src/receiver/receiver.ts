/** A customer's endpoint for alerts, on loopback: keeps every delivery and says what its signatures are worth. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOnLoopback } from '../listen-on-loopback.ts'
import { checkServiceSignature, checkStandardWebhook, type SignatureCheck } from './check-signature.ts'

export interface ReceivedDelivery {
  /** From 1, in the order of arrival. */
  number: number
  receivedAtMs: number
  method: string
  path: string
  headers: Readonly<Record<string, string | undefined>>
  rawBody: Buffer
  /** The parsed body, or undefined when it is no JSON. */
  body: unknown
  /** The same for every attempt of one delivery. */
  webhookId: string | undefined
  serviceSignature: SignatureCheck
  standardWebhook: SignatureCheck
  /** The status that was answered, or `silence`. */
  answered: number | 'silence'
}

/** What the receiver answers. `silence` keeps the caller waiting; `cut` takes the delivery and closes without a word. */
export type ReceiverAnswer =
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: string; afterMs?: number }
  | { kind: 'silence' }
  | { kind: 'cut' }

export interface ReceiverOptions {
  /** A free one when left out. */
  port?: number
  /** An address of loopback; 127.0.0.1 when left out. */
  host?: string
  /** The secret shared with the channel; without one, deliveries must carry no signature. */
  secret?: string
  /** Milliseconds since the epoch. */
  now: () => number
  /** What to answer; 200 when left out. */
  answer?: (delivery: Omit<ReceivedDelivery, 'answered'>) => ReceiverAnswer
}

export interface Receiver {
  url: string
  port: number
  /** Oldest first. */
  deliveries(): readonly ReceivedDelivery[]
  onDelivery(listener: (delivery: ReceivedDelivery) => void): () => void
  /**
   * The first delivery, past or coming, for which `wanted` holds.
   * @throws Error after `withinMs`, naming what was waited for and what came instead
   */
  waitFor(what: string, wanted: (delivery: ReceivedDelivery) => boolean, withinMs: number): Promise<ReceivedDelivery>
  /** Answers differently from now on. */
  answerWith(answer: NonNullable<ReceiverOptions['answer']>): void
  useSecret(secret: string | undefined): void
  stop(): Promise<void>
}

const ok: ReceiverAnswer = { kind: 'answer', status: 200, body: '{"ok":true}' }

/** Listens until stop(). */
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
