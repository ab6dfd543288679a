import type { WorldClock } from '../world/agenda.ts'
import { wait } from '../world/agenda.ts'
import type { Cluster } from '../world/cluster.ts'
import type { Random } from '../world/random.ts'

const ANSWER_WITHIN_MS = 10_000
const REPEAT_AFTER_MS = 1_500

export interface ApiUserParts {
  readonly clock: WorldClock
  readonly random: Random
  readonly cluster: Pick<Cluster, 'request'>
  /** An API key with every scope. */
  readonly key: string
}

export type Json = Record<string, unknown>

export interface Answer {
  readonly status: number
  readonly body: Json
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** The API refused a call for good. */
export class Refused extends Error {
  readonly status: number

  constructor(call: string, { status, body }: Answer) {
    super(`${call} is answered ${status}: ${JSON.stringify(body)}`)
    this.status = status
  }
}

/** The management API as people and a customer's software use it: a call is repeated with the same key until it is answered. */
export class ApiUser {
  readonly #parts: ApiUserParts

  constructor(parts: ApiUserParts) {
    this.#parts = parts
  }

  newKey(): string {
    const { random } = this.#parts
    return `key-${random.between(0, 2 ** 31)}-${random.between(0, 2 ** 31)}`
  }

  /** @throws Refused if the API refuses the call for good */
  async post(path: string, body: object, key = this.newKey()): Promise<Json> {
    return bodyOf(`POST ${path}`, await this.call('POST', path, body, key))
  }

  /** @throws Refused if the API refuses the call for good */
  async patch(path: string, body: object): Promise<Json> {
    return bodyOf(`PATCH ${path}`, await this.call('PATCH', path, body))
  }

  /** @throws Refused if the API refuses the call for good */
  async get(path: string): Promise<Json> {
    return bodyOf(`GET ${path}`, await this.call('GET', path))
  }

  /** @throws Refused if the API refuses the call for good. An earlier call, whose answer was lost, may have deleted it: 404 */
  async delete(path: string): Promise<void> {
    const answer = await this.call('DELETE', path)
    if (answer.status !== 404) bodyOf(`DELETE ${path}`, answer)
  }

  /** The answer as it is. */
  async text(path: string): Promise<string> {
    const { cluster, key } = this.#parts
    const headers = { host: 'backstop.example.com', authorization: `Bearer ${key}` }
    const answer = await cluster.request('admin-api', { method: 'GET', path, headers }, ANSWER_WITHIN_MS)
    if (answer?.status !== 200) throw new Error(`${path} is answered ${answer?.status}`)
    return answer.body.toString()
  }

  /** Calls until there is an answer that is no failure of the service. */
  async call(method: Method, path: string, given?: object, key?: string): Promise<Answer> {
    const { clock, cluster, key: apiKey } = this.#parts
    const body = given === undefined ? undefined : JSON.stringify(given)
    const headers: Record<string, string> = { host: 'backstop.example.com', authorization: `Bearer ${apiKey}` }
    if (key !== undefined) headers['idempotency-key'] = key
    if (body !== undefined) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = String(Buffer.byteLength(body))
    }
    for (;;) {
      const answer = await cluster.request('admin-api', { method, path, headers, body }, ANSWER_WITHIN_MS)
      if (answer !== undefined && answer.status < 500 && answer.headers['retry-after'] === undefined) {
        const text = answer.body.toString()
        return { status: answer.status, body: JSON.parse(text === '' ? '{}' : text) }
      }
      await wait(clock, REPEAT_AFTER_MS)
    }
  }
}

function bodyOf(call: string, answer: Answer): Json {
  if (answer.status >= 300) throw new Refused(call, answer)
  return answer.body
}
