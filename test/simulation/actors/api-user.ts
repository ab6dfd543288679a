import type { WorldClock } from '../world/agenda.ts'
import type { Cluster } from '../world/cluster.ts'
import type { Random } from '../world/random.ts'

const ANSWER_WITHIN_MS = 10_000
const REPEAT_AFTER_MS = 1_500

export interface ApiUserParts {
  readonly scheduler: WorldClock
  readonly random: Random
  readonly cluster: Pick<Cluster, 'request'>
  /** An API key with every scope. */
  readonly key: string
}

export type Json = Record<string, unknown>

/** The management API as people and a customer's software use it: a call is repeated with the same key until it is answered. */
export class ApiUser {
  readonly #parts: ApiUserParts

  constructor(parts: ApiUserParts) {
    this.#parts = parts
  }

  post(path: string, body: object): Promise<Json> {
    return this.#call('POST', path, body)
  }

  patch(path: string, body: object): Promise<Json> {
    return this.#call('PATCH', path, body)
  }

  get(path: string): Promise<Json> {
    return this.#call('GET', path)
  }

  /** The answer as it is. */
  async text(path: string): Promise<string> {
    const { cluster, key } = this.#parts
    const headers = { host: 'backstop.example.com', authorization: `Bearer ${key}` }
    const answer = await cluster.request('admin-api', { method: 'GET', path, headers }, ANSWER_WITHIN_MS)
    if (answer?.status !== 200) throw new Error(`${path} is answered ${answer?.status}`)
    return answer.body.toString()
  }

  /** @throws Error if the API refuses the call for good */
  async #call(method: string, path: string, given?: object): Promise<Json> {
    const { scheduler, random, cluster, key } = this.#parts
    const body = given === undefined ? undefined : JSON.stringify(given)
    const headers: Record<string, string> = { host: 'backstop.example.com', authorization: `Bearer ${key}` }
    if (method === 'POST')
      headers['idempotency-key'] = `key-${random.between(0, 2 ** 31)}-${random.between(0, 2 ** 31)}`
    if (body !== undefined) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = String(Buffer.byteLength(body))
    }
    for (;;) {
      const answer = await cluster.request('admin-api', { method, path, headers, body }, ANSWER_WITHIN_MS)
      const text = answer?.body.toString() ?? ''
      if (answer !== undefined && answer.status < 300) return JSON.parse(text === '' ? '{}' : text)
      const mayRepeat = answer === undefined || answer.status >= 500 || answer.headers['retry-after'] !== undefined
      if (!mayRepeat) throw new Error(`${method} ${path} is answered ${answer.status}: ${text}`)
      await new Promise<void>(resolve => void scheduler.schedule(REPEAT_AFTER_MS, resolve))
    }
  }
}
