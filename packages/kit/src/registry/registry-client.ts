import { AppError, unavailable } from '../errors.ts'

/** The few calls of a Confluent-compatible schema registry that we make. */
export interface RegistryClient {
  /** The id of exactly this schema under the subject; undefined when it is not registered there. */
  lookUp(subject: string, schema: string): Promise<number | undefined>
  /**
   * Registers a schema and answers its id; the id it has already where it is known.
   * @throws AppError `conflict` when the registry finds it incompatible with an earlier version
   */
  register(subject: string, schema: string): Promise<number>
  /** The subjects that hold the schema with this id; undefined when there is none. */
  subjectsOf(schemaId: number): Promise<readonly string[] | undefined>
  /** The subject's own compatibility level; undefined when it has none. */
  compatibility(subject: string): Promise<string | undefined>
  setCompatibility(subject: string, level: 'BACKWARD_TRANSITIVE'): Promise<void>
}

const REQUEST_TIMEOUT_MS = 5_000
const MEDIA_TYPE = 'application/vnd.schemaregistry.v1+json'

/**
 * The registry over its HTTP API (https://docs.confluent.io/platform/current/schema-registry/develop/api.html). Written
 * out because the usual client sets a subject's compatibility only after its first version and cannot tell which
 * subjects an id belongs to.
 * @param baseUrl the API's base, e.g. Apicurio's ends in /apis/ccompat/v7; may hold user and password
 */
export function createRegistryClient(baseUrl: string): RegistryClient {
  const url = new URL(baseUrl)
  const headers: Record<string, string> = { accept: MEDIA_TYPE, 'content-type': MEDIA_TYPE }
  if (url.username !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  const base = url.href.replace(/\/$/, '')

  async function call(method: string, path: string, body?: unknown): Promise<Answer> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    const init: RequestInit = { method, headers, signal }
    if (body !== undefined) init.body = JSON.stringify(body)
    let status: number
    let text: string
    try {
      const response = await fetch(base + path, init)
      status = response.status
      text = await response.text()
    } catch (error) {
      throw unavailable('The schema registry', error)
    }
    // A registry behind a proxy, or one that starts, answers 502 to 504 with a page of HTML.
    if (status >= 500 || status === 429) throw unavailable('The schema registry', new Error(`It answered ${status}`))
    return { status, json: parseJson(text) }
  }

  const refused = (what: string, { status, json }: Answer) =>
    new AppError(
      status === 409 ? 'conflict' : 'internal',
      `The schema registry refused ${what} with ${status}: ${String(json.message ?? 'it gave no reason')}`,
    )

  return {
    async lookUp(subject, schema) {
      const answer = await call('POST', `/subjects/${encodeURIComponent(subject)}`, { schemaType: 'JSON', schema })
      if (answer.status === 404) return undefined
      if (answer.status !== 200) throw refused(`to look up ${subject}`, answer)
      return Number(answer.json.id)
    },
    async register(subject, schema) {
      const path = `/subjects/${encodeURIComponent(subject)}/versions`
      const answer = await call('POST', path, { schemaType: 'JSON', schema })
      if (answer.status !== 200) throw refused(`the new version of ${subject}`, answer)
      return Number(answer.json.id)
    },
    async subjectsOf(schemaId) {
      const answer = await call('GET', `/schemas/ids/${schemaId}/versions`)
      if (answer.status === 404) return undefined
      if (answer.status !== 200 || !Array.isArray(answer.json))
        throw refused(`to name the subjects of ${schemaId}`, answer)
      return answer.json.map(({ subject }: { subject: string }) => subject)
    },
    async compatibility(subject) {
      const answer = await call('GET', `/config/${encodeURIComponent(subject)}`)
      if (answer.status === 404) return undefined
      if (answer.status !== 200) throw refused(`to tell the compatibility of ${subject}`, answer)
      return String(answer.json.compatibilityLevel)
    },
    async setCompatibility(subject, level) {
      const answer = await call('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility: level })
      if (answer.status !== 200) throw refused(`to set the compatibility of ${subject}`, answer)
    },
  }
}

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the call; each reads the one field it needs
  readonly json: any
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
