/**
 * Provokes every error code. The list of codes generates the tests, so a new code without a case fails, and so does a code that nothing
 * produces any more. Codes of callers are provoked over HTTP; the others where they arise.
 */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { ERROR_CODES, type ErrorCode, Problem } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { AppError, unavailable } from '@backstop/kit/errors'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { classifySendError } from '../../packages/kit/src/bus/kafka-errors.ts'
import { readAdminConfig } from '../../services/admin-api/src/config.ts'
import { type Answer, createApiClient } from '../../services/admin-api/test/api-client.ts'
import { storeIncident } from '../../services/admin-api/test/contract/incidents.contract.ts'
import { createTestKey, createTestProject } from '../../services/admin-api/test/contract/test-project.ts'
import { createMemoryStores } from '../../services/admin-api/test/memory-stores.ts'
import { BOOTSTRAP_KEY, createTestApp, startMemoryApi, type TestApi } from '../../services/admin-api/test/test-api.ts'
import { parseAnswer, post, rawExchange } from '../../services/ingress/test/http-client.ts'
import { credentialOf, type MemoryIngress, startMemoryIngress } from '../../services/ingress/test/memory-ingress.ts'

let admin: TestApi
let ingress: MemoryIngress
beforeAll(async () => {
  admin = await startMemoryApi()
  ingress = await startMemoryIngress({ settings: { bodyTimeoutMs: 100 } })
})
afterAll(async () => {
  await admin?.stop()
  await ingress?.stop()
})

/** An answer over HTTP. Ingress answers every caller with the same bytes, so its problems have no request id. */
interface Answered {
  readonly from: 'admin-api' | 'ingress'
  readonly status: number
  readonly contentType: string | null | undefined
  readonly requestId: string | null | undefined
  readonly body: unknown
  /** The refused field, if the problem is about fields. */
  readonly field?: string
}
type Provoked = Answered | { readonly from: 'process'; readonly error: unknown }

function ofAdmin({ status, headers, body }: Answer, field?: string): Answered {
  const found = { contentType: headers.get('content-type'), requestId: headers.get('x-request-id') }
  return { from: 'admin-api', status, ...found, body, ...(field === undefined ? {} : { field }) }
}

function ofRaw(from: Answered['from'], raw: string): Answered {
  const { status, head, body } = parseAnswer(raw)
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]
  return {
    from,
    status,
    contentType: header('content-type'),
    requestId: header('x-request-id'),
    body: JSON.parse(body),
  }
}

async function postEvent(body: string, headers: Record<string, string>): Promise<Answered> {
  const answer = await post(`${ingress.base}/v1/webhooks/processor/con_processor`, body, headers)
  const contentType = String(answer.headers['content-type'])
  return { from: 'ingress', status: answer.status, contentType, requestId: undefined, body: JSON.parse(answer.body) }
}

const json = { 'content-type': 'application/json' }
const postRaw = async (raw: string | Uint8Array, headers: Record<string, string> = json) =>
  ofAdmin(await admin.api.call('POST', '/v1/projects', { raw, headers }))

/** Lists projects at an API whose store fails. */
async function listWithFailingStore(error: Error): Promise<Answered> {
  const stores = createMemoryStores()
  const page = () => Promise.reject(error)
  const app = createTestApp({ stores: { ...stores, projects: { ...stores.projects, page } } })
  await app.start()
  try {
    await until('the API to be ready', () => app.unready() === undefined)
    return ofAdmin(await createApiClient(`http://127.0.0.1:${app.port()}`, BOOTSTRAP_KEY).get('/v1/projects'))
  } finally {
    await app.stop()
  }
}

/** Reports a completed refund with its provider_ref, and then a transition. */
async function transition(body: object): Promise<Answered> {
  const { processorId: connection_id } = await createTestProject(admin.api)
  const report = { connection_id, kind: 'refund', subject: 'pi_1', state: 'completed', provider_ref: 're_1' }
  const { operation_id } = (await admin.api.post('/v1/operations', report)).body
  return ofAdmin(await admin.api.post(`/v1/operations/${operation_id}/transitions`, body))
}

async function thrownBy(act: () => unknown): Promise<Provoked> {
  try {
    await act()
  } catch (error) {
    return { from: 'process', error }
  }
  throw new Error('Nothing was thrown')
}

const CASES: Record<ErrorCode, () => Promise<Provoked>> = {
  invalid_request: async () => ofAdmin(await admin.api.post('/v1/projects', { name: '' }), 'body.name'),
  malformed_json: () => postRaw('{"name":'),
  malformed_event: () => postEvent('[]', credentialOf('processor', '[]')),
  signature_rejected: () => postEvent('{}', {}),
  unauthenticated: async () => ofAdmin(await admin.api.withKey('bsk_unknown').get('/v1/projects')),
  async forbidden() {
    const key = await createTestKey(admin.api, ['read'])
    return ofAdmin(await admin.api.withKey(key).post('/v1/projects', { name: 'Shop' }))
  },
  not_found: async () => ofAdmin(await admin.api.get('/v1/projects/prj_none')),
  method_not_allowed: async () => ofAdmin(await admin.api.call('PUT', '/v1/projects')),
  async request_timeout() {
    const head = 'POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n'
    return ofRaw('ingress', await rawExchange(ingress.app.port(), [head, '{"id"']))
  },
  conflict: () => transition({ to: 'completed', provider_ref: 're_2' }),
  illegal_transition: () => transition({ to: 'executing' }),
  async incident_state() {
    const { projectId, processorId } = await createTestProject(admin.api)
    const { incident } = await storeIncident(admin, projectId, processorId)
    return ofAdmin(await admin.api.post(`/v1/incidents/${incident}/reopen`))
  },
  last_admin_key: async () => ofAdmin(await admin.api.delete('/v1/api-keys/key_bootstrap')),
  async budget_exceeded() {
    const { projectId, processorId } = await createTestProject(admin.api)
    const budget = { project_id: projectId, name: 'Refunds', currency: 'eur', cap: 100, interval: 'day' }
    await admin.api.post('/v1/budgets', budget)
    const operation = { connection_id: processorId, kind: 'refund', subject: 'pi_1', amount: 101, currency: 'eur' }
    return ofAdmin(await admin.api.post('/v1/operations', operation))
  },
  async idempotency_conflict() {
    const headers = { 'idempotency-key': 'every-error-code' }
    await admin.api.post('/v1/projects', { name: 'A' }, headers)
    return ofAdmin(await admin.api.post('/v1/projects', { name: 'B' }, headers))
  },
  async precondition_failed() {
    const { projectId } = await createTestProject(admin.api)
    return ofAdmin(await admin.api.patch(`/v1/projects/${projectId}`, { name: 'B' }, { 'if-match': '"99"' }))
  },
  payload_too_large: () => postRaw(`{"name":"${'x'.repeat(1_048_576)}"}`),
  unsupported_media_type: () => postRaw('name=x', { 'content-type': 'application/x-www-form-urlencoded' }),
  unsupported_encoding: () => postRaw(gzipSync('{}'), { ...json, 'content-encoding': 'gzip' }),
  async rate_limited() {
    const limited = await startMemoryApi({ rateLimits: { perKey: 1, perAddress: 1_000 } })
    try {
      await limited.api.get('/v1/projects')
      return ofAdmin(await limited.api.get('/v1/projects'))
    } finally {
      await limited.stop()
    }
  },
  async headers_too_large() {
    const text = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`
    return ofRaw('admin-api', await rawExchange(Number(new URL(admin.api.url).port), [text]))
  },
  internal: () => listWithFailingStore(new Error('a bug')),
  unavailable: () => listWithFailingStore(unavailable('MongoDB', undefined)),
  async overloaded() {
    const load = { judge: () => ({ kind: 'overloaded', reason: 'event_loop_lag' }) as const }
    const busy = await startMemoryIngress({ ports: { load } })
    try {
      const { status, headers, body } = await busy.postEvent('processor', 'evt_1')
      const contentType = String(headers['content-type'])
      return { from: 'ingress', status, contentType, requestId: undefined, body: JSON.parse(body) }
    } finally {
      await busy.stop()
    }
  },
  async egress_blocked() {
    const { projectId } = await createTestProject(admin.api)
    const config = { kind: 'webhook', url: 'https://blocked.test/' }
    const channel = { project_id: projectId, name: 'x', events: ['run.failed'], config }
    return ofAdmin(await admin.api.post('/v1/alert-channels', channel), 'body.config.url')
  },
  config_invalid: () => thrownBy(() => readAdminConfig({})),
  message_invalid: async () => ({
    from: 'process',
    error: classifySendError(Object.assign(new Error('The broker refuses it'), { type: 'MESSAGE_TOO_LARGE' }), {
      principal: 'user backstop',
      topics: ['alerts'],
      operation: 'write',
    }),
  }),
  secret_unreadable: () =>
    thrownBy(() => {
      const boxOf = (id: string) =>
        createSecretBox(parseKeyRing(new Secret(`${id}:${Buffer.alloc(32, 7).toString('base64')}`)))
      const context = { collection: 'connections', id: 'con_1', field: 'inbound_secret', projectId: 'prj_1' } as const
      return boxOf('k2').open(boxOf('k1').seal(new Secret('whsec_1'), context), context)
    }),
}

const document = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const inLogsOnly = document.split('## Codes in logs and dead letters only')[1] ?? ''
const codes = Object.keys(ERROR_CODES) as ErrorCode[]

test.each(codes)('%s is provoked, with its status and title', async code => {
  const provoke = CASES[code]
  expect(provoke, 'a new code needs a case in CASES').toBeTypeOf('function')
  const provoked = await provoke()
  const isForLogs = inLogsOnly.includes(`| \`${code}\` |`)
  expect(provoked.from === 'process', 'docs/errors.md says where the code appears').toBe(isForLogs)
  if (provoked.from === 'process') {
    expect(provoked.error).toBeInstanceOf(AppError)
    expect(provoked.error).toMatchObject({ code })
    return
  }
  const { status, title } = ERROR_CODES[code]
  const problem = Problem.parse(provoked.body)
  expect(problem).toMatchObject({ type: `urn:backstop:error:${code}`, code, title, status })
  expect(provoked).toMatchObject({ status, contentType: expect.stringMatching(/^application\/problem\+json/) })
  expect(problem.detail).toMatch(provoked.field === undefined ? /^[A-Z].{5,}/s : `${provoked.field}: `)
  expect(problem.request_id).toEqual(provoked.from === 'ingress' ? undefined : expect.stringMatching(/^req_/))
  expect(problem.request_id).toBe(provoked.requestId ?? undefined)
  expect(problem.errors?.map(({ path }) => path)).toEqual(provoked.field === undefined ? undefined : [provoked.field])
})

test('only codes of the list have a case', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(codes.toSorted())
})
